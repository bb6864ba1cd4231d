package sink

import (
	"context"
	"sync"
	"time"

	"dogear/engine/table"
)

// remembered is how long a table remembers a batch that has ended. Nobody asks
// for such a batch, unless the store was restored from a copy that is older.
const remembered = 30 * 24 * time.Hour

// pruneEvery is how often the batches of one target are looked through.
const pruneEvery = 24 * time.Hour

// pruned says when the batches of each target were looked through.
type pruned struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// due reports whether a target's turn has come, and notes that it had it.
func (p *pruned) due(target string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last, ok := p.last[target]; ok && now.Sub(last) < pruneEvery {
		return false
	}
	if p.last == nil {
		p.last = map[string]time.Time{}
	}
	p.last[target] = now
	return true
}

// prune makes a target forget batches that ended long ago. The batch that was
// just published is in the target whether or not this succeeds, so a failure
// is left for the next day.
func (s *Sink) prune(ctx context.Context, target table.Target) {
	now := s.now()
	if s.Batches == nil || !s.pruned.due(target.Config.String()+" "+target.Table, now) {
		return
	}
	_ = target.Prune(ctx, now.Add(-remembered), s.Batches.Finalized)
}
