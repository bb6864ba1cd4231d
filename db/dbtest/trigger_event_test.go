package dbtest_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

// arrivals is a store with a workflow that begins with an event trigger.
type arrivals struct {
	shop
	trigger engine.ID
	event   engine.Trigger
}

func openArrivals(t *testing.T, store *db.Store) *arrivals {
	t.Helper()
	a := &arrivals{shop: openShop(t, store), trigger: engine.NewID(dbtest.Noon)}
	a.event = engine.Trigger{
		ID: a.trigger, Name: "arrivals", Type: engine.OnEvent, Event: engine.EventRule{Source: engine.EventFiles, Size: 2, Path: "in/*.csv"},
		Actions: []engine.Action{{Ref: engine.Ref{Kind: engine.KindJob, ID: a.job}}},
	}
	a.redraw(t, a.event)
	return a
}

// redraw publishes the workflow with other triggers.
func (a *arrivals) redraw(t *testing.T, triggers ...engine.Trigger) {
	t.Helper()
	a.draw(t, engine.WorkflowBody{Triggers: triggers})
	a.publish(t)
}

func (a *arrivals) send(t *testing.T, id string) (bool, error) {
	t.Helper()
	return a.AddEvent(t.Context(), engine.TriggerEvent{Trigger: a.trigger, ID: id, At: dbtest.Noon, Detail: `{"n": 1}`})
}

// fire starts a run for events as exec does.
func (a *arrivals) fire(t *testing.T, ids ...string) (engine.ID, error) {
	t.Helper()
	run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunWorkflow, Object: a.workflow, Trigger: a.trigger, Started: dbtest.Noon}
	written := a.Commit(t.Context(), []flow.Step{{New: &run, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
		return flow.Writes{Run: run, Fire: &flow.Fire{Trigger: a.trigger, Events: ids}}, nil
	}}})
	return run.ID, written[0].Err
}

func TestAnEventIsKeptOnceAndStartsOneRun(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		a := openArrivals(t, store)
		for n, id := range []string{"a", "b", "a"} {
			if fresh, err := a.send(t, id); err != nil || fresh != (n < 2) {
				t.Errorf("event %s = %t, %v, want it taken once", id, fresh, err)
			}
		}

		run, err := a.fire(t, "a", "b")
		must(t, err)
		again, err := a.fire(t, "b")

		if engine.CodeOf(err) != engine.Conflict {
			t.Errorf("the second run = %v, want %s", err, engine.Conflict)
		}
		if _, err := a.Run(t.Context(), again); engine.CodeOf(err) != engine.NotFound {
			t.Errorf("the second run is there (%v)", err)
		}
		events, err := a.EventsOf(t.Context(), run)
		must(t, err)
		if len(events) != 2 || events[0].ID != "a" || events[0].Detail != `{"n": 1}` || !events[0].At.Equal(dbtest.Noon) {
			t.Errorf("events of the run = %+v, want a and b as they were sent", events)
		}
		long := engine.TriggerEvent{Trigger: a.trigger, ID: "long", At: dbtest.Noon.Add(time.Second), Detail: `"` + strings.Repeat("é", 50_000) + `"`}
		_, err = a.AddEvent(t.Context(), long)
		must(t, err)
		if recent, err := a.RecentEvents(t.Context(), a.trigger, 1); err != nil || len([]rune(recent[0].Detail)) != 2001 {
			t.Errorf("a long detail is listed with %d characters (%v), want its beginning", len(recent[0].Detail), err)
		}
		if fresh, err := a.send(t, "a"); err != nil || fresh {
			t.Errorf("a used event that comes again = %t, %v, want it known", fresh, err)
		}
	})
}

// TestWhoeverTriesOneRunStartsForABatch: two servers on one PostgreSQL find the
// same batch complete.
func TestWhoeverTriesOneRunStartsForABatch(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		a := openArrivals(t, dbtest.Open(t, address))
		other := &arrivals{shop: a.shop, trigger: a.trigger}
		if strings.HasPrefix(address, "postgres") {
			other.Store = dbtest.Open(t, address)
		}
		for round := range 10 {
			ids := []string{fmt.Sprint("x", round), fmt.Sprint("y", round)}
			for _, id := range ids {
				if _, err := a.send(t, id); err != nil {
					t.Fatal(err)
				}
			}

			var errs [4]error
			var all sync.WaitGroup
			for n := range errs {
				all.Go(func() { _, errs[n] = []*arrivals{a, other}[n%2].fire(t, ids...) })
			}
			all.Wait()

			won := 0
			for _, err := range errs {
				if err == nil {
					won++
				} else if engine.CodeOf(err) != engine.Conflict {
					t.Errorf("who comes second is told %v, want %s", err, engine.Conflict)
				}
			}
			if won != 1 {
				t.Errorf("round %d: %d runs, want one", round, won)
			}
		}
	})
}

func TestWhatWaitsForATriggerThatIsGoneIsLetGoWithAReason(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		gone := func(name string, remove func(a *arrivals), why string) {
			a := openArrivals(t, store)
			must(t, a.NewTriggerSecret(t.Context(), a.trigger, "whsec_x", dbtest.Noon))
			_, err := a.send(t, "a")
			must(t, err)

			remove(a)

			events, err := a.RecentEvents(t.Context(), a.trigger, 10)
			must(t, err)
			if len(events) != 1 || events[0].Note != why || events[0].Waits() {
				t.Errorf("%s: events = %+v, want the one let go because %s", name, events, why)
			}
			if _, err := a.send(t, "b"); engine.CodeOf(err) != engine.NotFound {
				t.Errorf("%s: another event = %v, want %s", name, err, engine.NotFound)
			}
			if _, err := a.fire(t, "a"); engine.CodeOf(err) != engine.Conflict {
				t.Errorf("%s: a run for it = %v, want %s", name, err, engine.Conflict)
			}
			if has, err := a.HasSecret(t.Context(), a.trigger); err != nil || has {
				t.Errorf("%s: the secret is kept (%v)", name, err)
			}
			must(t, a.Delete(t.Context(), engine.KindWorkflow, a.workflow, dbtest.Noon)) // frees the names
			must(t, a.Delete(t.Context(), engine.KindJob, a.job, dbtest.Noon))
			must(t, a.Delete(t.Context(), engine.KindCrawler, a.crawler, dbtest.Noon))
			must(t, a.Delete(t.Context(), engine.KindConnection, a.connection, dbtest.Noon))
		}

		gone("a trigger that was deleted", func(a *arrivals) { a.redraw(t) }, "the trigger was deleted")
		a := openArrivals(t, store)
		_, err := a.send(t, "a")
		must(t, err)
		must(t, a.Delete(t.Context(), engine.KindWorkflow, a.workflow, dbtest.Noon))
		events, err := a.RecentEvents(t.Context(), a.trigger, 10)
		must(t, err)
		if len(events) != 1 || events[0].Note != "the workflow was deleted" {
			t.Errorf("a workflow that was deleted: events = %+v, want the one let go", events)
		}
	})
}

func TestSightingsAreRememberedInBytewiseOrderAndMakeOneEventEach(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		a := openArrivals(t, store)
		trigger, err := a.EventTrigger(t.Context(), a.trigger)
		must(t, err)
		keys := []string{"B.csv", "a-b.csv", "a.csv", "a/b.csv", "é.csv"}
		found := func(mark string) (all []engine.Sighting) {
			for _, key := range keys {
				all = append(all, engine.Sighting{Key: key, Mark: mark, Event: &engine.TriggerEvent{Trigger: a.trigger, ID: string(engine.NewID(dbtest.Noon)), At: dbtest.Noon}})
			}
			return all
		}

		for _, step := range []struct {
			mark string
			want int
		}{{"1", 5}, {"1", 0}, {"2", 5}} {
			n, err := a.Arrive(t.Context(), trigger, "in", found(step.mark), dbtest.Noon)
			must(t, err)
			if n != step.want {
				t.Errorf("mark %s: %d events, want %d", step.mark, n, step.want)
			}
		}

		seen, err := a.Seen(t.Context(), a.trigger, "in", "B.csv", 10)
		must(t, err)
		var got []string
		for _, one := range seen {
			got = append(got, one.Key)
		}
		if !slices.Equal(got, keys[1:]) {
			t.Errorf("Seen after B.csv = %q, want %q", got, keys[1:])
		}
		must(t, a.Forget(t.Context(), a.trigger, "in", keys, dbtest.Noon)) // seen since the look began
		must(t, a.Forget(t.Context(), a.trigger, "in", keys[:2], dbtest.Noon.Add(time.Second)))
		if seen, err = a.Seen(t.Context(), a.trigger, "in", "", 10); err != nil || len(seen) != 3 {
			t.Errorf("%d keys are left, %v, want 3", len(seen), err)
		}
		moved := a.event
		moved.Event.Path = "elsewhere/*.csv"
		a.redraw(t, moved)
		if _, err := a.Arrive(t.Context(), engine.EventTrigger{Trigger: a.trigger, Since: dbtest.Noon.Add(-time.Hour)}, "in", found("3"), dbtest.Noon); engine.CodeOf(err) != engine.Conflict {
			t.Errorf("a look at the place of before = %v, want %s", err, engine.Conflict)
		}
		if seen, err = a.Seen(t.Context(), a.trigger, "in", "", 10); err != nil || len(seen) != 0 {
			t.Errorf("%d keys of the place before are known, %v, want none", len(seen), err)
		}
	})
}

func TestAPublishThatKeepsThePlaceKeepsWhatWasSeen(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		a := openArrivals(t, store)
		before, err := a.EventTrigger(t.Context(), a.trigger)
		must(t, err)
		_, err = a.Arrive(t.Context(), before, "in", []engine.Sighting{{Key: "a.csv", Mark: "1"}}, dbtest.Noon)
		must(t, err)
		must(t, a.EndLook(t.Context(), before, "in", dbtest.Noon.Add(time.Second)))
		more := a.event
		more.Event.Size = 7

		a.redraw(t, more)

		after, err := a.EventTrigger(t.Context(), a.trigger)
		must(t, err)
		seen, err := a.Seen(t.Context(), a.trigger, "in", "", 10)
		must(t, err)
		if after.Rule.Size != 7 || !after.Since.Equal(before.Since) || after.Based.IsZero() || len(seen) != 1 {
			t.Errorf("after = %+v, %d seen, want the new size and what was seen", after, len(seen))
		}
		more.Disabled = true
		a.redraw(t, more)
		if all, err := a.EventTriggers(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("a disabled trigger is still listed: %+v, %v", all, err)
		}
	})
}

func TestOnlySoManyEventsWait(t *testing.T) {
	t.Parallel()
	store := dbtest.SQLite(t)
	a := openArrivals(t, store)
	trigger, err := a.EventTrigger(t.Context(), a.trigger)
	must(t, err)
	var found []engine.Sighting
	for n := range engine.MostWaiting {
		id := fmt.Sprint(n)
		found = append(found, engine.Sighting{Key: id, Mark: "1", Event: &engine.TriggerEvent{Trigger: a.trigger, ID: id, At: dbtest.Noon}})
	}
	_, err = a.Arrive(t.Context(), trigger, "in", found, dbtest.Noon)
	must(t, err)

	_, err = a.send(t, "one more")
	known, knownErr := a.send(t, "17")

	if engine.CodeOf(err) != engine.LimitHit {
		t.Errorf("one more = %v, want %s", err, engine.LimitHit)
	}
	if known || knownErr != nil {
		t.Errorf("one that is known = %t, %v, want it known: its sender did not hear the answer", known, knownErr)
	}
	n, err := a.DiscardEvents(t.Context(), a.trigger, "discarded by owner")
	must(t, err)
	if n != engine.MostWaiting {
		t.Errorf("discarded %d, want %d", n, engine.MostWaiting)
	}
	if fresh, err := a.send(t, "one more"); err != nil || !fresh {
		t.Errorf("one more afterwards = %t, %v, want it taken", fresh, err)
	}
}

// TestOldEventsGoAndThoseThatWaitStay, however long they wait.
func TestOldEventsGoAndThoseThatWaitStay(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		a := openArrivals(t, store)
		for _, id := range []string{"a", "b", "waits"} {
			_, err := a.send(t, id)
			must(t, err)
		}
		_, err := a.fire(t, "a", "b")
		must(t, err)

		early, err := store.PruneEvents(t.Context(), dbtest.Noon)
		must(t, err)
		late, err := store.PruneEvents(t.Context(), dbtest.Noon.Add(time.Hour))
		must(t, err)

		left, err := a.RecentEvents(t.Context(), a.trigger, 10)
		must(t, err)
		if early != 0 || late != 2 || len(left) != 1 || left[0].ID != "waits" {
			t.Errorf("%d and %d events went and %+v is left, want 0, 2 and the one that waits", early, late, left)
		}
	})
}
