package lookout

import (
	"context"
	"time"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/failpoint"
)

// pause is how long a queue is left alone that could not be read.
const pause = 15 * time.Second

// listen hears of the files of t by its queue. A message is deleted once its
// events are kept; one that cannot be read is left to the queue, which has its
// rules for that.
func (l *Lookout) listen(ctx context.Context, t engine.EventTrigger) {
	trouble := false
	for ctx.Err() == nil {
		began := l.Now().UTC()
		err := l.hear(ctx, &t)
		if ctx.Err() != nil {
			return
		}
		switch {
		case err != nil:
			l.fail(ctx, &t, began, err)
			t.Trouble, trouble = engine.MessageOf(err), true
		case trouble: // it is over
			if err := l.Store.FailLook(ctx, t.Trigger, "", began); err != nil {
				l.Log.Error("the end of a trouble could not be noted", "trigger", t.Trigger, "err", err)
			}
			t.Trouble, trouble = "", false
			l.Came(t.Trigger)
		}
		rest := time.Duration(0)
		if err != nil {
			rest = pause
		} else if l.Now().Sub(began) < shortest {
			rest = 10 * time.Millisecond // of a queue that does not wait for messages itself
		}
		select {
		case <-ctx.Done():
		case <-time.After(rest):
		}
	}
}

// hear takes the next messages of the queue.
func (l *Lookout) hear(ctx context.Context, t *engine.EventTrigger) error {
	messages, err := l.Queue.Receive(ctx, t.Rule.Connection, t.Rule.Queue)
	if err != nil {
		return err
	}
	var wrong error
	var done []arrival.Message
	for _, m := range messages {
		found, err := l.told(t, m.Body)
		if err == nil && len(found) > 0 {
			var n int
			failpoint.Hit("lookout.told.before")
			n, err = l.Store.Arrive(ctx, *t, l.Places.Root(arrival.Place(t.Rule)), found, l.Now().UTC())
			if n > 0 {
				l.Came(t.Trigger)
			}
		}
		if err != nil {
			wrong = err
			continue
		}
		done = append(done, m)
	}
	if len(done) > 0 {
		failpoint.Hit("lookout.delete.before")
		if err := l.Queue.Delete(ctx, t.Rule.Connection, t.Rule.Queue, done); err != nil {
			return err
		}
		failpoint.Hit("lookout.delete.after")
	}
	return wrong
}

// told reads a message: the objects that belong to the place of t.
func (l *Lookout) told(t *engine.EventTrigger, body []byte) ([]engine.Sighting, error) {
	objects, err := arrival.Objects(body)
	if err != nil {
		return nil, err
	}
	var found []engine.Sighting
	for _, o := range objects {
		src := arrival.Place(t.Rule)
		key, ok, err := l.Places.Key(src, o.Bucket, engine.Object{Key: o.Key, Size: o.Size, ETag: o.ETag})
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, arrival.Told(t, o, key, address(l.Places.Root(src), key), l.Now().UTC()))
		}
	}
	return found, nil
}
