package shim

import (
	"context"

	"dogear/engine"
)

// Reserve takes a shim that waits, for c: its process is noted with the claim of
// a node, while it makes itself ready, and Release lets it begin. It is false
// where none waits; then Start makes one. Reserve makes no process, for a
// transaction is waiting for it.
func (s *Shims) Reserve(c *Command) (engine.Process, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waits := s.kept[c.Marker]; waits != nil {
		return waits.process, true // the claim is being written a second time
	}
	if c.check() != nil { // whoever starts it says so
		return engine.Process{}, false
	}
	waits := s.spareLocked()
	if waits == nil {
		return engine.Process{}, false
	}
	waits.tell(c)
	if s.kept == nil {
		s.kept = map[string]*shim{}
	}
	s.kept[c.Marker] = waits
	return waits.process, true
}

// Release lets the shim that is reserved for an attempt begin, whose process is
// durably noted by now. Where it fails, or ctx has ended, nothing has begun.
func (s *Shims) Release(ctx context.Context, marker string) (*Child, error) {
	waits := s.reservation(marker)
	if waits == nil {
		return nil, engine.Errorf(engine.Internal, "No shim is reserved for %s.", marker)
	}
	return s.release(ctx, waits, marker)
}

// Return ends the shim that is reserved for an attempt, where the claim was not
// written.
func (s *Shims) Return(marker string) {
	if waits := s.reservation(marker); waits != nil {
		waits.drop()
	}
}

// Leave ends the shim that is reserved for an attempt which does not come to
// release it. That nothing has begun can still be seen.
func (s *Shims) Leave(marker string) {
	if waits := s.reservation(marker); waits != nil {
		waits.leave()
	}
}

// reservation hands out the shim that is reserved for an attempt; nil is none.
func (s *Shims) reservation(marker string) *shim {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := s.kept[marker]
	delete(s.kept, marker)
	return waits
}
