package shim

import (
	"context"
	"sync"

	"dogear/engine"
	"dogear/engine/failpoint"
)

// Shims starts programs. It keeps shims ahead of need: by the time the next step
// of a run asks for one, it waits.
type Shims struct {
	// Dir holds the folders of shims, in which their scripts work. It is this
	// server's alone.
	Dir string

	maker maker

	mu    sync.Mutex
	name  string // with which the names of its folders begin
	n     int
	spare []*shim
	held  []*shim          // of which the script has ended, until the end of its attempt is noted
	used  []string         // names of folders that wait for another shim
	kept  map[string]*shim // that are reserved, by the marker of the attempt
	busy  bool             // spare ones are being made
	shut  bool
	work  sync.WaitGroup // that makes spare ones
}

const (
	spares     = 2  // shims wait that have had no script
	mostSpares = 8  // shims wait at most
	mostHeld   = 32 // shims wait at most for the end of their attempts to be noted
)

// Start lets a shim run c. recorded must durably note the process before it
// returns; only then the script begins. Where Start fails, or ctx has ended by
// then, nothing has begun.
func (s *Shims) Start(ctx context.Context, c Command, recorded func(ctx context.Context, p engine.Process) error) (*Child, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	waits, err := s.take()
	if err != nil {
		return nil, err
	}
	waits.tell(&c)
	failpoint.Hit("shim.record.before")
	err = recorded(ctx, waits.process)
	failpoint.Hit("shim.record.after")
	if err != nil {
		waits.leave()
		return nil, err
	}
	return s.release(ctx, waits, c.Marker)
}

// release lets a shim begin that was noted and told what to do.
func (s *Shims) release(ctx context.Context, waits *shim, marker string) (*Child, error) {
	child, err := waits.start(ctx, marker)
	if err != nil {
		waits.leave()
		return nil, err
	}
	child.shims = s
	s.more() // while the script works nobody waits for the processor here
	return child, nil
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
	if !waits.alive() || !waits.here() {
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
	for _, waits := range s.held {
		waits.leave()
	}
	s.spare, s.held = nil, nil
	s.maker.close()
}
