package shim

import (
	"context"
	"os"
	"path/filepath"

	"dogear/engine"
)

// longScript is from how many bytes on a shim is not told ahead what to do: a
// pipe holds as much, and more would have to wait until the shim has read it.
const longScript = 32 << 10

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
	script := c.script()
	if len(script) > longScript {
		return engine.Process{}, false
	}
	waits := s.spareLocked()
	if waits == nil {
		return engine.Process{}, false
	}
	if waits.moveBelow(c.Dir) != nil || waits.tell(c.Text, script) != nil {
		waits.drop()
		return engine.Process{}, false
	}
	if s.kept == nil {
		s.kept = map[string]*shim{}
	}
	s.kept[c.Marker] = waits
	return waits.process, true
}

// moveBelow is move where the folder of the run may not be there yet.
func (s *shim) moveBelow(dir string) error {
	err := s.move(dir)
	if err == nil || os.MkdirAll(filepath.Dir(dir), 0o700) != nil {
		return err
	}
	return s.move(dir)
}

// Release lets the shim that is reserved for an attempt begin, whose process is
// durably noted by now. Where it fails, or ctx has ended, nothing has begun.
func (s *Shims) Release(ctx context.Context, marker string) (*Child, error) {
	waits := s.reservation(marker)
	if waits == nil {
		return nil, engine.Errorf(engine.Internal, "No shim is reserved for %s.", marker)
	}
	child, err := waits.start(ctx, marker)
	if err != nil {
		waits.leave()
		return nil, err
	}
	child.shims = s
	s.more() // while the script works nobody waits for the processor here
	return child, nil
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
