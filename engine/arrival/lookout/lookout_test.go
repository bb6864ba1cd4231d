package lookout_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/arrival/lookout"
	"dogear/engine/bookmark"
	"dogear/engine/bucket"
	"dogear/engine/place"
	"dogear/engine/source"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// quiet are places that hint only at what a test says: what the kernel tells
// does not come in fake time.
type quiet struct {
	*source.Source
	hints chan struct{}
}

// Hints asks for the folder of src, as the kernel does, and so fails without one.
func (q quiet) Hints(_ context.Context, src engine.Source) (<-chan struct{}, error) {
	if q.hints != nil {
		if _, err := os.Stat(filepath.Dir(src.Path)); err != nil {
			return nil, err
		}
	}
	return q.hints, nil
}

// List finds buckets empty; folders are real.
func (q quiet) List(ctx context.Context, src engine.Source) iter.Seq2[bookmark.Listed, error] {
	if place.IsS3(src.Path) {
		return func(func(bookmark.Listed, error) bool) {}
	}
	return q.Source.List(ctx, src)
}

// site is a published workflow with one trigger for files.
type site struct {
	store   *db.Store
	dir     string
	trigger engine.ID
	queue   *queue
	hints   chan struct{} // nil: nothing tells
}

// bubble tells a story in fake time over a real database and a real folder.
func bubble(t *testing.T, rule engine.EventRule, story func(t *testing.T, s *site)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	synctest.Test(t, func(t *testing.T) {
		s := &site{store: dbtest.SQLite(t), dir: dir, trigger: engine.NewID(time.Now()), queue: &queue{}}
		rule.Source, rule.Size = engine.EventFiles, 1
		if rule.Path == "" {
			rule.Path = dir + "/in/*.csv"
		}
		must(t, os.MkdirAll(filepath.Join(dir, "in"), 0o755))
		now := time.Now().UTC()
		id, err := s.store.CreateWorkflow(t.Context(), "w", engine.WorkflowBody{Triggers: []engine.Trigger{{ID: s.trigger, Name: "arrivals", Type: engine.OnEvent, Event: rule}}}, "owner", now)
		must(t, err)
		time.Sleep(time.Minute) // so that there is a time before the publish
		_, err = s.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", time.Now().UTC(), func(engine.Trigger) time.Time { return time.Time{} })
		must(t, err)
		story(t, s)
	})
}

// run looks for a while, as a server does.
func (s *site) run(t *testing.T, long time.Duration, within func()) {
	t.Helper()
	s.runOn(t, s.dir, long, within)
}

// runOn is run by a server whose own folder is dir.
func (s *site) runOn(t *testing.T, dir string, long time.Duration, within func()) {
	t.Helper()
	// A look that is due at the very instant of the end would be done or not.
	ctx, cancel := context.WithTimeout(t.Context(), long+time.Second/2)
	defer cancel()
	places := quiet{source.New(place.Roots{Base: dir, Allowed: []string{dir}}, bucket.New(nil)), s.hints}
	look := lookout.New(s.store, places, s.queue, slog.New(slog.DiscardHandler), time.Now, func(engine.ID) {})
	ended := make(chan error)
	go func() { ended <- look.Run(ctx) }()
	if within != nil {
		within()
	}
	must(t, <-ended)
}

// drop puts a file in its place that was last changed at a time. It comes whole
// and with that time: a look that is due at this very instant would take it for
// one of the day on which the test runs, and then for another.
func (s *site) drop(t *testing.T, name, text string, at time.Time) {
	t.Helper()
	path := filepath.Join(s.dir, "whole")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	must(t, os.Chtimes(path, at, at))
	must(t, os.Rename(path, filepath.Join(s.dir, "in", name)))
}

// came lists the names of the files whose events were kept, in order.
func (s *site) came(t *testing.T) []string {
	t.Helper()
	events, err := s.store.RecentEvents(t.Context(), s.trigger, 10_000)
	must(t, err)
	var names []string
	for _, e := range slices.Backward(events) {
		_, rest, _ := strings.Cut(e.Detail, `"path":"`)
		path, _, _ := strings.Cut(rest, `"`)
		names = append(names, filepath.Base(path))
	}
	slices.Sort(names)
	return names
}

func (s *site) want(t *testing.T, want ...string) {
	t.Helper()
	if got := s.came(t); !slices.Equal(got, want) {
		t.Errorf("events came for %q, want %q", got, want)
	}
}

func TestAFileArrivesOnceThroughRestarts(t *testing.T) {
	bubble(t, engine.EventRule{}, func(t *testing.T, s *site) {
		s.drop(t, "before.csv", "x", time.Now().Add(-30*time.Second))
		s.drop(t, "note.txt", "x", time.Now())

		s.run(t, 5*time.Minute, func() {
			time.Sleep(90 * time.Second)
			s.drop(t, "a.csv", "x", time.Now())
		})
		s.want(t, "a.csv")
		s.drop(t, "b.csv", "x", time.Now()) // while no server runs
		time.Sleep(time.Hour)
		s.run(t, 5*time.Minute, nil)
		s.want(t, "a.csv", "b.csv")
		s.run(t, 5*time.Minute, func() { s.drop(t, "a.csv", "written anew", time.Now()) })
		s.want(t, "a.csv", "a.csv", "b.csv")

		must(t, os.Remove(filepath.Join(s.dir, "in", "b.csv")))
		s.run(t, 10*time.Minute, nil)
		at := time.Now()
		s.drop(t, "b.csv", "x", at)
		s.run(t, 5*time.Minute, nil)
		s.want(t, "a.csv", "a.csv", "b.csv", "b.csv")
	})
}

func TestAFileThatIsStillWrittenWaits(t *testing.T) {
	bubble(t, engine.EventRule{Settle: 30, Every: 600}, func(t *testing.T, s *site) {
		var settled time.Time
		s.run(t, 3*time.Minute, func() {
			time.Sleep(time.Minute)
			s.drop(t, "a.csv", "x", time.Now())
			settled = time.Now().Add(30 * time.Second)
		})
		s.want(t) // the next look is ten minutes after the first
		s.run(t, 10*time.Minute, nil)

		s.want(t, "a.csv")
		s.drop(t, "b.csv", "x", time.Now().Add(15*time.Minute)) // will be 5 s old at a look
		time.Sleep(15*time.Minute + 5*time.Second)
		start := time.Now()
		s.run(t, time.Minute, nil)
		s.want(t, "a.csv", "b.csv")
		events, err := s.store.RecentEvents(t.Context(), s.trigger, 1)
		must(t, err)
		if got := events[0].At.Sub(start); got != 25*time.Second {
			t.Errorf("b.csv came %s after the look, want when it had settled (a.csv at %s)", got, settled)
		}
	})
}

func TestAPlaceThatIsAwayIsSaidAndLosesNothing(t *testing.T) {
	bubble(t, engine.EventRule{}, func(t *testing.T, s *site) {
		s.run(t, 2*time.Minute, nil)
		s.drop(t, "a.csv", "x", time.Now())
		must(t, os.Rename(filepath.Join(s.dir, "in"), filepath.Join(s.dir, "away")))

		s.run(t, 4*time.Minute, nil) // the trouble is said once no look of two minutes succeeded
		state, err := s.store.EventTrigger(t.Context(), s.trigger)
		must(t, err)
		if !strings.Contains(state.Trouble, "does not exist") {
			t.Errorf("trouble = %q, want that the folder is away", state.Trouble)
		}
		must(t, os.Rename(filepath.Join(s.dir, "away"), filepath.Join(s.dir, "in")))
		s.run(t, 2*time.Minute, nil)

		s.want(t, "a.csv")
		if state, err = s.store.EventTrigger(t.Context(), s.trigger); err != nil || state.Trouble != "" {
			t.Errorf("afterwards trouble = %q, %v, want none", state.Trouble, err)
		}
	})
}

// TestAFolderThatIsMadeLaterHintsOnceItIsThere, though it was not when the
// workflow was published.
func TestAFolderThatIsMadeLaterHintsOnceItIsThere(t *testing.T) {
	bubble(t, engine.EventRule{Every: 600}, func(t *testing.T, s *site) {
		s.hints = make(chan struct{})
		must(t, os.Remove(filepath.Join(s.dir, "in")))

		s.run(t, 15*time.Minute, func() {
			time.Sleep(time.Minute)
			must(t, os.Mkdir(filepath.Join(s.dir, "in"), 0o755))
			time.Sleep(10 * time.Minute) // there was a look meanwhile
			s.drop(t, "a.csv", "x", time.Now())
			select {
			case s.hints <- struct{}{}:
			case <-time.After(time.Minute):
				t.Error("nobody listens for hints at the folder")
			}
			time.Sleep(10 * time.Second)
			s.want(t, "a.csv") // the next look without a hint is nine minutes away
		})
	})
}

// TestTwoServersSeeEachFileOnce though both list the folder, and over more files
// than are compared or written at once.
func TestTwoServersSeeEachFileOnce(t *testing.T) {
	bubble(t, engine.EventRule{Every: 5}, func(t *testing.T, s *site) {
		const files = 1200
		var want []string
		s.run(t, 10*time.Second, nil)
		for n := range files {
			name := fmt.Sprintf("%04d.csv", n)
			want = append(want, name)
			s.drop(t, name, "x", time.Now())
		}

		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { s.run(t, time.Minute, nil) })
		}
		both.Wait()

		if got := s.came(t); !slices.Equal(got, want) {
			t.Errorf("%d events came for %d files", len(got), files)
		}
	})
}

// TestServersWithFoldersOfTheirOwnDoNotForgetForEachOther: a relative path means
// another folder on each of them.
func TestServersWithFoldersOfTheirOwnDoNotForgetForEachOther(t *testing.T) {
	bubble(t, engine.EventRule{Path: "in/*.csv", Every: 10}, func(t *testing.T, s *site) {
		other := filepath.Join(s.dir, "other")
		must(t, os.MkdirAll(filepath.Join(other, "in"), 0o755))
		old := time.Now().Add(-30 * time.Second)
		s.drop(t, "before.csv", "x", old)
		s.drop(t, "../other/in/before.csv", "x", old)

		var both sync.WaitGroup
		both.Go(func() { s.run(t, 3*time.Minute, nil) })
		both.Go(func() {
			time.Sleep(time.Minute) // the first has looked by then
			s.runOn(t, other, 2*time.Minute, nil)
		})
		time.Sleep(90 * time.Second)
		s.drop(t, "a.csv", "x", time.Now())
		s.drop(t, "../other/in/b.csv", "x", time.Now())
		both.Wait()

		s.want(t, "a.csv", "b.csv")
	})
}

// queue is a queue in which a message stays until it is deleted.
type queue struct {
	mu       sync.Mutex
	messages []arrival.Message
	keep     int // deletions that do not reach it
	deleted  int
}

func (q *queue) Receive(ctx context.Context, _ engine.ID, _ string) ([]arrival.Message, error) {
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Second):
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.messages), ctx.Err()
}

func (q *queue) Delete(_ context.Context, _ engine.ID, _ string, done []arrival.Message) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.keep > 0 {
		q.keep--
		return fmt.Errorf("the network is away")
	}
	before := len(q.messages)
	q.messages = slices.DeleteFunc(q.messages, func(m arrival.Message) bool {
		return slices.ContainsFunc(done, func(d arrival.Message) bool { return d.Handle == m.Handle })
	})
	q.deleted += before - len(q.messages)
	return nil
}

func told(key string, at time.Time) arrival.Message {
	return arrival.Message{Handle: key, Body: []byte(fmt.Sprintf(
		`{"Records":[{"eventName":"ObjectCreated:Put","eventTime":%q,"s3":{"bucket":{"name":"shop"},"object":{"key":%q,"size":3,"eTag":"e1"}}}]}`,
		at.UTC().Format(time.RFC3339), key))}
}

func TestAMessageIsDeletedOnceItsEventIsKept(t *testing.T) {
	bubble(t, engine.EventRule{Path: "s3://shop/in/*.csv", Queue: "https://sqs.example/1/arrivals"}, func(t *testing.T, s *site) {
		s.queue.keep = 2 // it comes again twice
		s.queue.messages = []arrival.Message{
			told("in/a.csv", time.Now()), told("in/note.txt", time.Now()), told("elsewhere/a.csv", time.Now()),
			told("in/old.csv", time.Now().Add(-time.Hour)),
			{Handle: "odd", Body: []byte("hello")},
		}

		s.run(t, 5*time.Minute, nil)

		s.want(t, "a.csv")
		if s.queue.deleted != 4 || len(s.queue.messages) != 1 {
			t.Errorf("%d messages deleted, %d left, want all but the one that nobody can read", s.queue.deleted, len(s.queue.messages))
		}
		state, err := s.store.EventTrigger(t.Context(), s.trigger)
		must(t, err)
		if state.Trouble == "" {
			t.Error("the panel does not say that a message cannot be read")
		}
	})
}
