package exec

import (
	"context"
	"slices"
	"sync"

	"dogear/engine"
)

// targets lets one attempt at a time write a target, from its plan to its
// publish: what it read of the target then still holds when it is published.
// A server that starts anew takes them again with the attempts it takes up.
type targets struct {
	mu     sync.Mutex
	held   map[string]engine.NodeKey
	change chan struct{} // closed and made anew at each release
}

// targetsOf names what a job writes, by where it really lies.
func (e *Exec) targetsOf(ctx context.Context, job *engine.JobBody) []string {
	if job.SQL == nil {
		return nil
	}
	var names []string
	for _, s := range job.SQL.Sinks {
		names = append(names, e.Target(ctx, s))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// spelled is the target of a sink where nobody knows where it really lies.
func spelled(_ context.Context, s engine.Sink) string { return string(s.Connection) + " " + s.Place() }

// take waits until nobody else writes any of names. waiting is told once who
// is in the way.
func (t *targets) take(ctx context.Context, names []string, key engine.NodeKey, waiting func(holder engine.NodeKey)) error {
	told := false
	for {
		holder, change := t.try(names, key)
		if change == nil {
			return nil
		}
		if !told {
			waiting(holder)
			told = true
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-change:
		}
	}
}

// try takes all of names or none.
func (t *targets) try(names []string, key engine.NodeKey) (holder engine.NodeKey, change <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == nil {
		t.held, t.change = map[string]engine.NodeKey{}, make(chan struct{})
	}
	for _, name := range names {
		for held, holder := range t.held {
			// A target in another is written by both.
			if holder != key && (engine.Area{Root: name}).Meets(engine.Area{Root: held}) != "" {
				return holder, t.change
			}
		}
	}
	for _, name := range names {
		t.held[name] = key
	}
	return engine.NodeKey{}, nil
}

func (t *targets) release(key engine.NodeKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, holder := range t.held {
		if holder == key {
			delete(t.held, name)
		}
	}
	if t.change != nil {
		close(t.change)
		t.change = make(chan struct{})
	}
}
