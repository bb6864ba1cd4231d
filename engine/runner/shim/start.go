package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"dogear/engine"
	"dogear/engine/failpoint"
)

// The files in the folder of an attempt. What a process leaves there outlives
// the server.
const (
	exitFile = "exit" // begun and its exit code, each with a line feed, over what noExit holds the room with
	OutFile  = "out"  // what it wrote to its output
	ErrFile  = "err"  // and to its errors
	workDir  = "work" // in which it begins

	// Files of the shims of earlier servers.
	startFile = "start" // what such a shim ran once it was released
	beganFile = "began" // is there once its script may have begun
)

// noExit is what the file of the exit code holds until there is one: on a disk
// that is full by then, writing over it needs no room. Nor does it take as long
// as to make a file.
const noExit = "          \n"

// begun stands in front of the exit code once the script may have begun.
const begun = "began"

// held is the shim: two shells of some hundred kB, in a session of their own.
// The second waits for the text of what it does and then becomes the program; the
// first waits for its end. It keeps the exit code even where the whole group is
// told to end, and says nothing of its own. Beside its input, its output and its
// errors, of which nobody wants to know, it has open: 3, whence the text comes; 4,
// the errors of the program; 5, its file of the exit code; and 6, to which it
// writes when the code is there.
const held = `trap : TERM INT HUP
( exec 2>&4 4>&- 6>&-; . /dev/fd/3 )
code=$?
read -r mark <exit
[ "$mark" != began ] || echo $code >&5
echo >&6`

// Command is a program for a shim to run.
type Command struct {
	Dir    string   // the attempt's own folder; it must not exist yet
	Args   []string // the program, by its absolute path, and its arguments
	Env    []string // the whole of its environment
	Marker string   // the value of MarkerEnv in it
	DataMB int      // how much memory it may map for writing; 0 is no bound
}

// MarkerEnv is the variable by which all processes of an attempt are found.
const MarkerEnv = "DOGEAR_NODE"

// script is what the shim does once it is released: one command in braces, of
// which a shell does nothing before it has read all of it.
func (c *Command) script() string {
	var text strings.Builder
	text.WriteString("{ exec 3<&-\necho " + begun + " >&5\nexport")
	for _, entry := range append(slices.Clone(c.Env), MarkerEnv+"="+c.Marker) {
		name, value, _ := strings.Cut(entry, "=")
		text.WriteString(" " + name + "=" + quote(value))
	}
	// -P: the folder has got another name since the shell has begun.
	text.WriteString("\ncd -P " + workDir + " || exit 126\nunset OLDPWD\n")
	if c.DataMB > 0 {
		text.WriteString("ulimit -d " + strconv.Itoa(c.DataMB<<10) + "\n")
	}
	text.WriteString("exec")
	for _, arg := range c.Args {
		text.WriteString(" " + quote(arg))
	}
	return text.String() + " 5>&-\n}\n"
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Shims starts programs. It keeps one shim ahead of need: by the time the next
// step of a run asks for one, it waits.
type Shims struct {
	// Dir holds the folders of shims that wait, on the same file system as the
	// folders of attempts.
	Dir string

	broom broom

	mu    sync.Mutex
	n     int
	spare []*shim
	shut  bool
	work  sync.WaitGroup // that makes spare ones
}

// spares is how many shims wait.
const spares = 2

// shim is one that waits.
type shim struct {
	dir     string
	cmd     *exec.Cmd
	release *os.File // takes the text of what the shim does; its end lets it end
	over    *os.File // has something to read once the exit code is there
	process engine.Process
}

// Start lets a shim run c. recorded must durably note the process before it
// returns, and only then the program begins. Where it fails nothing has begun.
func (s *Shims) Start(ctx context.Context, c Command, recorded func(ctx context.Context, p engine.Process) error) (*Child, error) {
	waits, err := s.take()
	if err != nil {
		return nil, err
	}
	failpoint.Hit("shim.folder.before")
	if err := os.Rename(waits.dir, c.Dir); err != nil {
		waits.drop()
		return nil, fmt.Errorf("give a shim its folder: %w", err)
	}
	failpoint.Hit("shim.folder.after")
	waits.dir = c.Dir
	failpoint.Hit("shim.record.before")
	err = recorded(ctx, waits.process)
	failpoint.Hit("shim.record.after")
	var child *Child
	if err == nil { // before the release: after it nothing may fail
		child, err = open(waits.process, c.Dir, c.Marker, waits)
	}
	if err == nil {
		failpoint.Hit("shim.release.before")
		_, err = waits.release.WriteString(c.script())
		failpoint.Hit("shim.release.after")
	}
	if err != nil {
		if child != nil {
			child.forget()
		}
		waits.drop()
		return nil, err
	}
	waits.release.Close()
	child.shims = s
	s.more() // while the script works nobody waits for the processor here
	return child, nil
}

// take takes a shim that waits, or makes one.
func (s *Shims) take() (*shim, error) {
	s.mu.Lock()
	if n := len(s.spare); n > 0 {
		waits := s.spare[n-1]
		s.spare = s.spare[:n-1]
		s.mu.Unlock()
		if (Processes{}).Alive(waits.process) {
			return waits, nil
		}
		waits.drop()
	} else {
		s.mu.Unlock()
	}
	return s.begin()
}

// more makes the shims that will be taken next, in its own time.
func (s *Shims) more() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.shut {
		s.work.Go(s.refill)
	}
}

func (s *Shims) refill() {
	for {
		s.mu.Lock()
		full := s.shut || len(s.spare) >= spares
		s.mu.Unlock()
		if full {
			return
		}
		waits, err := s.begin()
		if err != nil {
			return // whoever needs one makes it, and says what is wrong
		}
		s.mu.Lock()
		if s.shut || len(s.spare) >= spares {
			s.mu.Unlock()
			waits.drop()
			return
		}
		s.spare = append(s.spare, waits)
		s.mu.Unlock()
	}
}

// Close lets the shims that wait end.
func (s *Shims) Close() {
	s.mu.Lock()
	s.shut = true
	s.mu.Unlock()
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, waits := range s.spare {
		waits.drop()
	}
	s.spare = nil
}

// Clear removes what the shims of a server that was killed have left; they
// themselves have ended with it.
func (s *Shims) Clear() error { return os.RemoveAll(s.Dir) }

// begin starts a shim, which then waits.
func (s *Shims) begin() (*shim, error) {
	s.mu.Lock()
	s.n++
	dir := filepath.Join(s.Dir, strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(s.n))
	s.mu.Unlock()
	waits := &shim{dir: dir}
	files, err := waits.furnish()
	defer func() {
		for _, file := range files { // what the shim has open of them is its own
			_ = file.Close()
		}
	}()
	if err == nil {
		// It outlives every context: a script goes on without its server.
		waits.cmd = exec.Command("/bin/sh", "-c", held) //nolint:noctx // see above
		waits.cmd.Dir = dir
		waits.cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
		waits.cmd.Stdout, waits.cmd.ExtraFiles = files[0], files[1:]
		waits.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		failpoint.Hit("shim.start.before")
		err = waits.cmd.Start()
		failpoint.Hit("shim.start.after")
	}
	if err == nil {
		waits.process, err = Identify(waits.cmd.Process.Pid)
	}
	if err != nil {
		waits.drop()
		return nil, fmt.Errorf("start a shim: %w", err)
	}
	waits.process.Apart = true
	return waits, nil
}

// furnish makes the folder of a shim, its pipes, and the files that it has open:
// its output and those from 3 on. Some of them may be nil where it fails.
func (s *shim) furnish() (files []*os.File, err error) {
	if err := os.MkdirAll(filepath.Join(s.dir, workDir), 0o700); err != nil {
		return nil, err
	}
	file := func(name string, flags int) *os.File {
		file, failed := os.OpenFile(filepath.Join(s.dir, name), os.O_CREATE|os.O_WRONLY|flags, 0o600)
		err = errors.Join(err, failed)
		return file
	}
	pipe := func() (read, write *os.File) {
		read, write, failed := os.Pipe()
		err = errors.Join(err, failed)
		return read, write
	}
	// What is written to the outputs goes to their ends, which the server may cut off.
	out, errs, exit := file(OutFile, os.O_APPEND), file(ErrFile, os.O_APPEND), file(exitFile, 0)
	var text, over *os.File
	text, s.release = pipe()
	s.over, over = pipe()
	if err == nil {
		_, err = exit.WriteAt([]byte(noExit), 0)
	}
	return []*os.File{out, text, errs, exit, over}, err
}

// drop lets a shim end that was never released.
func (s *shim) drop() {
	_, _ = s.release.Close(), s.over.Close() // nil ones as well, should there be no shim
	_ = os.RemoveAll(s.dir)
	if s.cmd != nil {
		go func() { _ = s.cmd.Wait() }()
	}
}
