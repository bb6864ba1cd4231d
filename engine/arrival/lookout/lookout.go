// Package lookout looks for the files of event triggers: it lists their places
// again and again, or hears of them by a queue. What it has seen stands in the
// database, and a file is remembered by the transaction that keeps its event;
// so a restart loses nothing and doubles nothing, and two servers may look.
package lookout

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"time"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/bookmark"
)

// Store is what the lookout needs of the database.
type Store interface {
	// EventTriggers lists the event triggers that are enabled.
	EventTriggers(ctx context.Context) ([]engine.EventTrigger, error)
	EventTrigger(ctx context.Context, trigger engine.ID) (engine.EventTrigger, error)
	// BeginLook reports whether nobody has looked since.
	BeginLook(ctx context.Context, trigger engine.ID, since, now time.Time) (bool, error)
	// EndLook notes that a place was looked through, FailLook why it could not be,
	// unless another look has succeeded since.
	EndLook(ctx context.Context, t engine.EventTrigger, place string, began time.Time) error
	FailLook(ctx context.Context, trigger engine.ID, trouble string, since time.Time) error
	LookedThrough(ctx context.Context, trigger engine.ID, place string) (bool, error)
	// Seen pages through what was seen at a place, in bytewise order of key.
	Seen(ctx context.Context, trigger engine.ID, place, after string, limit int) ([]engine.Sighting, error)
	// Arrive remembers sightings and keeps their events.
	Arrive(ctx context.Context, t engine.EventTrigger, place string, found []engine.Sighting, now time.Time) (int, error)
	Forget(ctx context.Context, trigger engine.ID, place string, keys []string, before time.Time) error
}

// Places lists folders and buckets.
type Places interface {
	// List yields what is there in bytewise order of key.
	List(ctx context.Context, src engine.Source) iter.Seq2[bookmark.Listed, error]
	// Root is the address that keys are relative to.
	Root(src engine.Source) string
	// Key is the key under which List names an object of a bucket; not ok where
	// it leaves the object out.
	Key(src engine.Source, bucket string, o engine.Object) (key string, ok bool, err error)
	// Hints tells when something may have changed at a place of this machine; nil
	// where nothing tells.
	Hints(ctx context.Context, src engine.Source) (<-chan struct{}, error)
}

// Queue receives the notifications of a bucket.
type Queue interface {
	// Receive waits for messages, and returns none after a while without any. They
	// come again until they are deleted.
	Receive(ctx context.Context, connection engine.ID, address string) ([]arrival.Message, error)
	Delete(ctx context.Context, connection engine.ID, address string, messages []arrival.Message) error
}

// Lookout looks for files.
type Lookout struct {
	Store  Store
	Places Places
	Queue  Queue
	Log    *slog.Logger
	Now    func() time.Time
	// Came is told that events came for a trigger, or that its trouble changed.
	Came func(trigger engine.ID)

	wake chan struct{}
}

// New makes a Lookout.
func New(store Store, places Places, queue Queue, log *slog.Logger, now func() time.Time, came func(engine.ID)) *Lookout {
	return &Lookout{Store: store, Places: places, Queue: queue, Log: log, Now: now, Came: came, wake: make(chan struct{}, 1)}
}

// Wake tells the lookout that a workflow was published or deleted.
func (l *Lookout) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// maxSleep is how long the lookout sleeps at most: another server may have
// published a workflow, and a machine may have slept.
const maxSleep = 30 * time.Second

// post is one trigger that is looked out for.
type post struct {
	rule  engine.EventRule
	since time.Time
	stop  context.CancelFunc
}

// Run looks until ctx ends.
func (l *Lookout) Run(ctx context.Context) error {
	var working sync.WaitGroup
	defer working.Wait()
	posts := map[engine.ID]post{}
	tick := time.NewTicker(maxSleep)
	defer tick.Stop()
	for {
		if err := l.man(ctx, posts, &working); err != nil && ctx.Err() == nil {
			l.Log.Error("event triggers could not be looked at", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-l.wake:
		case <-tick.C:
		}
	}
}

// man sees to it that every trigger for files has its post, by its rule of now.
func (l *Lookout) man(ctx context.Context, posts map[engine.ID]post, working *sync.WaitGroup) error {
	triggers, err := l.Store.EventTriggers(ctx)
	if err != nil {
		return err
	}
	wanted := map[engine.ID]bool{}
	for _, t := range triggers {
		if t.Rule.Source != engine.EventFiles {
			continue
		}
		wanted[t.Trigger] = true
		if p, ok := posts[t.Trigger]; ok && p.rule == t.Rule && p.since.Equal(t.Since) {
			continue
		} else if ok {
			p.stop()
		}
		mine, stop := context.WithCancel(ctx)
		posts[t.Trigger] = post{t.Rule, t.Since, stop}
		working.Go(func() { l.watch(mine, t) })
		if t.Rule.Queue != "" {
			working.Go(func() { l.listen(mine, t) })
		}
	}
	for id, p := range posts {
		if !wanted[id] {
			p.stop()
			delete(posts, id)
		}
	}
	return nil
}

// shortest is the least time between two looks, however many hints come.
const shortest = time.Second

// watch looks at the place of t whenever it is time.
func (l *Lookout) watch(ctx context.Context, t engine.EventTrigger) {
	hints, err := l.Places.Hints(ctx, arrival.Place(t.Rule))
	if err != nil {
		l.Log.Info("nothing tells of new files yet; they are found by looking", "trigger", t.Trigger, "path", t.Rule.Path, "err", err)
	}
	every := arrival.Every(t.Rule)
	next, soon := t.Looked.Add(every), t.Based.IsZero()
	if soon {
		next = l.Now()
	}
	for {
		timer := time.NewTimer(min(max(next.Sub(l.Now()), 0), maxSleep))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		case <-hints:
			timer.Stop()
			if at := l.Now().Add(max(arrival.Settle(t.Rule), shortest)); at.Before(next) {
				next, soon = at, true
			}
		}
		if l.Now().Before(next) {
			continue
		}
		if err != nil { // such as for a folder that did not exist; asked before the look, so that nothing comes in between
			hints, err = l.Places.Hints(ctx, arrival.Place(t.Rule))
		}
		age := every - shortest // two servers look as often as one
		if soon {
			age = shortest
		}
		again := l.look(ctx, t.Trigger, every, age)
		next, soon = l.Now().Add(again), again < every
	}
}

// look looks at the place of a trigger once and returns after what time to look
// again. A bucket is the same for all servers, so one whose last look is younger
// than age was looked at by another; a folder each server has for itself.
func (l *Lookout) look(ctx context.Context, id engine.ID, every, age time.Duration) time.Duration {
	t, err := l.Store.EventTrigger(ctx, id)
	if err != nil {
		l.fail(ctx, &t, l.Now().UTC(), err)
		return every
	}
	began, since := l.Now().UTC(), l.Now().Add(-2*every)
	if arrival.IsBucket(t.Rule) {
		mine, err := l.Store.BeginLook(ctx, id, began.Add(-age), began)
		if err == nil && !mine {
			return every
		}
		since = began
	}
	place := l.Places.Root(arrival.Place(t.Rule))
	again, err := l.scan(ctx, t, place, began)
	if err == nil {
		err = l.Store.EndLook(ctx, t, place, began)
	}
	if err != nil {
		l.fail(ctx, &t, since, err)
	} else if t.Trouble != "" || t.Based.IsZero() {
		l.Came(t.Trigger)
	}
	return min(again, every)
}

// fail says why a look failed, where none has succeeded since. That a trigger was
// published anew is no failure: another post looks by then.
func (l *Lookout) fail(ctx context.Context, t *engine.EventTrigger, since time.Time, err error) {
	if code := engine.CodeOf(err); ctx.Err() != nil || code == engine.Conflict || t.Trigger == "" {
		return
	}
	l.Log.Warn("the place of an event trigger could not be looked at", "trigger", t.Trigger, "path", t.Rule.Path, "err", err)
	trouble := engine.MessageOf(err)
	if err := l.Store.FailLook(ctx, t.Trigger, trouble, since); err != nil && ctx.Err() == nil {
		l.Log.Error("the trouble of a look could not be noted", "trigger", t.Trigger, "err", err)
	}
	if trouble != t.Trouble {
		l.Came(t.Trigger)
	}
}
