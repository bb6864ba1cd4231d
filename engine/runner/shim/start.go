package shim

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"dogear/engine"
	"dogear/engine/failpoint"
)

// Command is a program for a shim to run.
type Command struct {
	Dir    string   // the attempt's own folder; that of a shim never released makes way
	Text   []byte   // what its TextFile holds
	Args   []string // the program, by its absolute path, and its arguments
	Env    []string // the whole of its environment
	Marker string   // the value of MarkerEnv in it
	DataMB int      // how much memory it may map for writing; 0 is no bound
}

// MarkerEnv is the variable by which all processes of an attempt are found.
const MarkerEnv = "DOGEAR_NODE"

// script is what the second shell of a shim does: one command in braces, of which
// a shell does nothing before it has read all of it. Whatever takes time comes
// before the release, and what might fail then is said after it.
func (c *Command) script() string {
	var text strings.Builder
	text.WriteString("{ exec 7<&-\nexport")
	for _, entry := range append(slices.Clone(c.Env), MarkerEnv+"="+c.Marker) {
		name, value, _ := strings.Cut(entry, "=")
		text.WriteString(" " + name + "=" + quote(value))
	}
	// -P: the folder has got another name since the shell has begun.
	text.WriteString("\nfail=\ncd -P " + WorkDir + " || fail=126\nunset OLDPWD\n")
	if c.DataMB > 0 {
		text.WriteString("ulimit -d " + strconv.Itoa(c.DataMB<<10) + "\n")
	}
	text.WriteString("IFS= read -r go <&3 || exit\necho " + begun + " >&5\n")
	text.WriteString("[ ! \"$fail\" ] || exit $fail\nexec")
	for _, arg := range c.Args {
		text.WriteString(" " + quote(arg))
	}
	return text.String() + " 3<&- 5>&-\n}\n"
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Shims starts programs. It keeps shims ahead of need: by the time the next step
// of a run asks for one, it waits.
type Shims struct {
	// Dir holds the folders of shims that wait, on the same file system as the
	// folders of attempts.
	Dir string

	broom broom

	mu    sync.Mutex
	n     int
	spare []*shim
	kept  map[string]*shim // that are reserved, by the marker of the attempt
	busy  bool             // spare ones are being made
	shut  bool
	work  sync.WaitGroup // that makes spare ones
}

// spares is how many shims wait.
const spares = 2

// Start lets a shim run c. recorded must durably note the process before it
// returns; only then the program begins. Where Start fails, or ctx has ended by
// then, nothing has begun.
func (s *Shims) Start(ctx context.Context, c Command, recorded func(ctx context.Context, p engine.Process) error) (*Child, error) {
	waits, err := s.take()
	if err != nil {
		return nil, err
	}
	if err := waits.move(c.Dir); err != nil {
		waits.drop()
		return nil, err
	}
	if err = waits.tell(c.Text, c.script()); err == nil {
		failpoint.Hit("shim.record.before")
		err = recorded(ctx, waits.process)
		failpoint.Hit("shim.record.after")
	}
	var child *Child
	if err == nil {
		child, err = waits.start(ctx, c.Marker)
	}
	if err != nil {
		waits.leave()
		return nil, err
	}
	child.shims = s
	s.more()
	return child, nil
}

// tell tells a shim what it will do.
func (s *shim) tell(text []byte, script string) error {
	failpoint.Hit("shim.tell.before")
	defer failpoint.Hit("shim.tell.after")
	_, err := s.text.Write(text)
	if err == nil {
		_, err = s.told.WriteString(script)
	}
	closeAll(s.text, s.told)
	if err != nil {
		return fmt.Errorf("tell a shim what to do: %w", err)
	}
	return nil
}

// start releases a shim that was noted and told what to do.
func (s *shim) start(ctx context.Context, marker string) (*Child, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	failpoint.Hit("shim.release.before")
	_, err := s.release.WriteString("\n")
	failpoint.Hit("shim.release.after")
	if err != nil {
		return nil, fmt.Errorf("release a shim: %w", err)
	}
	s.release.Close() // after the release nothing may fail
	return &Child{Process: s.process, dir: s.dir, marker: marker, cmd: s.cmd, pid: s.pid, over: s.over, end: s.end}, nil
}

// take takes a shim that waits, or makes one.
func (s *Shims) take() (*shim, error) {
	s.mu.Lock()
	waits := s.spareLocked()
	s.mu.Unlock()
	if waits != nil {
		return waits, nil
	}
	return s.begin()
}

// spareLocked takes a shim that waits; nil where none does.
func (s *Shims) spareLocked() *shim {
	n := len(s.spare)
	if n == 0 {
		return nil
	}
	waits := s.spare[n-1]
	s.spare = s.spare[:n-1]
	if !waits.alive() {
		waits.drop()
		return nil
	}
	return waits
}

// more makes the shims that will be taken next, in its own time.
func (s *Shims) more() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.shut && !s.busy {
		s.busy = true
		s.work.Go(s.refill)
	}
}

func (s *Shims) refill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.busy = false }()
	for !s.shut && len(s.spare) < spares {
		s.mu.Unlock()
		waits, err := s.begin()
		s.mu.Lock()
		if err != nil {
			return // whoever needs one makes it, and says what is wrong
		}
		s.spare = append(s.spare, waits)
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
