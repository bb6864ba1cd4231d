package shim

import (
	"context"
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
	startFile = "start" // what the shim runs once it is released
	beganFile = "began" // is there once the script may have begun
	exitFile  = "exit"  // its exit code and a line feed, over what noExit holds the room with
	OutFile   = "out"   // what it wrote to its output
	ErrFile   = "err"   // and to its errors
	workDir   = "work"  // in which it begins
)

// noExit is what the file of the exit code holds until there is one: on a disk
// that is full by then, writing over it needs no room.
const noExit = "       \n"

// held is the shim: two shells of some hundred kB, in a session of their own.
// The second waits for its release and then becomes the program; the first
// waits for its end. It keeps the exit code even where the whole group is told
// to end.
const held = `trap : TERM INT HUP
( IFS= read -r go <&3 || exit 3; exec 3<&-; . ./start ) </dev/null >>out 2>>err
code=$?
[ ! -e began ] || echo $code 1<>exit`

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

// script is the command as the shim's shell reads it.
func (c *Command) script() string {
	var text strings.Builder
	text.WriteString(": >" + beganFile + "\n")
	for _, entry := range append(slices.Clone(c.Env), MarkerEnv+"="+c.Marker) {
		name, value, _ := strings.Cut(entry, "=")
		text.WriteString("export " + name + "=" + quote(value) + "\n")
	}
	// -P: the folder has got another name since the shell has begun.
	text.WriteString("cd -P " + workDir + " || exit 126\nunset OLDPWD\n")
	if c.DataMB > 0 {
		text.WriteString("ulimit -d " + strconv.Itoa(c.DataMB<<10) + "\n")
	}
	text.WriteString("exec")
	for _, arg := range c.Args {
		text.WriteString(" " + quote(arg))
	}
	return text.String() + "\n"
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
	release *os.File
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
	err = os.WriteFile(filepath.Join(c.Dir, startFile), []byte(c.script()), 0o600)
	if err == nil {
		failpoint.Hit("shim.record.before")
		err = recorded(ctx, waits.process)
		failpoint.Hit("shim.record.after")
	}
	var child *Child
	if err == nil { // before the release: after it nothing may fail
		child, err = open(waits.process, c.Dir, c.Marker, waits.cmd)
	}
	if err == nil {
		failpoint.Hit("shim.release.before")
		_, err = waits.release.WriteString("\n")
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
	if err := os.MkdirAll(filepath.Join(dir, workDir), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of a shim: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, exitFile), []byte(noExit), 0o600); err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("keep room for an exit code: %w", err)
	}
	read, release, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the pipe of a shim: %w", err)
	}
	// It outlives every context: a script goes on without its server.
	cmd := exec.Command("/bin/sh", "-c", held) //nolint:noctx // see above
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	cmd.ExtraFiles = []*os.File{read}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	failpoint.Hit("shim.start.before")
	err = cmd.Start()
	failpoint.Hit("shim.start.after")
	read.Close()
	if err != nil {
		release.Close()
		return nil, fmt.Errorf("start a shim: %w", err)
	}
	waits := &shim{dir: dir, cmd: cmd, release: release}
	if waits.process, err = Identify(cmd.Process.Pid); err != nil {
		waits.drop()
		return nil, err
	}
	waits.process.Apart = true
	return waits, nil
}

// drop lets a shim end that was never released.
func (s *shim) drop() {
	s.release.Close()
	_ = os.RemoveAll(s.dir)
	go func() { _ = s.cmd.Wait() }()
}
