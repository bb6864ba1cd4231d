package lookout

import (
	"context"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/bookmark"
	"dogear/engine/failpoint"
)

// group is how many sightings are written in one transaction.
const group = 500

// grace is how long what a queue told of is kept though a look did not find it:
// the look may have begun before it came.
const grace = time.Minute

// scan compares what lies at a place of t with what was seen there, both in order
// of key, so that its memory is that of two pages. It returns after what
// time the youngest file that was left for later has settled.
func (l *Lookout) scan(ctx context.Context, t engine.EventTrigger, place string, began time.Time) (again time.Duration, err error) {
	s := &scanner{
		Lookout: l, t: &t, place: place, began: began, again: arrival.Every(t.Rule),
		known: known{load: func(after string) ([]engine.Sighting, error) {
			return l.Store.Seen(ctx, t.Trigger, place, after, group)
		}},
	}
	known, err := l.Store.LookedThrough(ctx, t.Trigger, place)
	if err != nil {
		return s.again, err
	}
	if !known {
		t.Based = time.Time{} // another server has looked at a folder of its own
	}
	for o, err := range l.Places.List(ctx, arrival.Place(t.Rule)) {
		if err == nil {
			err = s.take(ctx, o)
		}
		if err != nil {
			return s.again, err
		}
	}
	if err := s.passed(ctx, ""); err != nil {
		return s.again, err
	}
	if err := s.arrive(ctx); err != nil {
		return s.again, err
	}
	return s.again, s.forget(ctx)
}

// scanner is one look under way.
type scanner struct {
	*Lookout
	t     *engine.EventTrigger
	place string
	began time.Time
	again time.Duration
	known known
	found []engine.Sighting
	gone  []string
}

// take takes the next object of the listing.
func (s *scanner) take(ctx context.Context, o bookmark.Listed) error {
	if !utf8.ValidString(o.Key) || strings.ContainsRune(o.Key, 0) {
		s.Log.Warn("a file whose name is no text starts nothing", "trigger", s.t.Trigger, "name", strings.ToValidUTF8(o.Key, "?"))
		return nil
	}
	if err := s.passed(ctx, o.Key); err != nil {
		return err
	}
	was, ok, err := s.known.at(o.Key)
	if err != nil || o.Filtered != "" || ok && was.Mark == arrival.Mark(o.Object) {
		return err
	}
	verdict, wait := arrival.Sight(s.t, o.Object, o.Whole, s.Now().UTC())
	if verdict == arrival.TooYoung {
		s.again = min(s.again, max(wait, shortest))
		return nil
	}
	s.found = append(s.found, arrival.Seen(s.t, o.Object, address(s.place, o.Key), verdict == arrival.Arrived, s.Now().UTC()))
	if len(s.found) < group {
		return nil
	}
	return s.arrive(ctx)
}

// address is where the object lies that List names key.
func address(root, key string) string {
	if strings.Contains(root, "://") {
		return strings.TrimSuffix(root, "/") + "/" + key
	}
	return path.Join(root, key)
}

// passed notes as gone what was seen before key and is not in the listing; all
// that is left where key is "".
func (s *scanner) passed(ctx context.Context, key string) error {
	for {
		was, ok, err := s.known.before(key)
		if err != nil || !ok {
			return err
		}
		if s.gone = append(s.gone, was.Key); len(s.gone) == group {
			if err := s.forget(ctx); err != nil {
				return err
			}
		}
	}
}

func (s *scanner) arrive(ctx context.Context) error {
	if len(s.found) == 0 {
		return nil
	}
	failpoint.Hit("lookout.arrive.before")
	n, err := s.Store.Arrive(ctx, *s.t, s.place, s.found, s.Now().UTC())
	failpoint.Hit("lookout.arrive.after")
	s.found = s.found[:0]
	if n > 0 {
		s.Came(s.t.Trigger)
	}
	return err
}

func (s *scanner) forget(ctx context.Context) error {
	err := s.Store.Forget(ctx, s.t.Trigger, s.place, s.gone, s.began.Add(-grace))
	s.gone = s.gone[:0]
	return err
}

// known reads what was seen, page by page and in order.
type known struct {
	load func(after string) ([]engine.Sighting, error)
	page []engine.Sighting
	last string
	done bool
}

// head is the next sighting, which stays the next one.
func (k *known) head() (engine.Sighting, bool, error) {
	if len(k.page) == 0 && !k.done {
		page, err := k.load(k.last)
		if err != nil {
			return engine.Sighting{}, false, err
		}
		k.page, k.done = page, len(page) < group
		if len(page) > 0 {
			k.last = page[len(page)-1].Key
		}
	}
	if len(k.page) == 0 {
		return engine.Sighting{}, false, nil
	}
	return k.page[0], true, nil
}

// before takes the next sighting where it comes before key; any where key is "".
func (k *known) before(key string) (engine.Sighting, bool, error) {
	was, ok, err := k.head()
	if err != nil || !ok || key != "" && was.Key >= key {
		return engine.Sighting{}, false, err
	}
	k.page = k.page[1:]
	return was, true, nil
}

// at takes the next sighting where it is that of key.
func (k *known) at(key string) (engine.Sighting, bool, error) {
	was, ok, err := k.head()
	if err != nil || !ok || was.Key != key {
		return engine.Sighting{}, false, err
	}
	k.page = k.page[1:]
	return was, true, nil
}
