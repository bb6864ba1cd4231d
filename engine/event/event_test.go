package event_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dogear/engine/event"
)

func TestReaderSeesWhatItWatchesInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hub := event.New()
		reader := hub.Reader()
		defer reader.Close()
		reader.Watch("run:a")
		hub.Publish("run:b", 1, "not mine")
		hub.Publish("run:a", 1, "one")
		hub.Publish("run:a", 2, "two")

		batch, err := reader.Next(t.Context())

		must(t, err)
		want := []event.Message{{Topic: "run:a", Seq: 1, Body: "one"}, {Topic: "run:a", Seq: 2, Body: "two"}}
		if !slices.EqualFunc(batch.Messages, want, same) || batch.Gaps != nil {
			t.Errorf("Next = %+v, want %+v without gaps", batch, want)
		}
	})
}

func same(a, b event.Message) bool { return a.Topic == b.Topic && a.Seq == b.Seq && a.Body == b.Body }

func TestWhatTheFirstReaderMadeOfAMessageServesTheOthers(t *testing.T) {
	t.Parallel()
	hub := event.New()
	first, second := hub.Reader(), hub.Reader()
	defer first.Close()
	defer second.Close()
	first.Watch("run:a")
	second.Watch("run:a")
	hub.Publish("run:a", 1, "one")
	hub.Publish("run:a", 2, "two")
	made := 0
	words := func(m event.Message) any {
		return m.Once(func() any { made++; return fmt.Sprint(made, m.Body) })
	}

	var got []any
	for _, reader := range []*event.Reader{first, second} {
		for _, m := range reader.Take().Messages {
			got = append(got, words(m))
		}
	}

	if want := []any{"1one", "2two", "1one", "2two"}; !slices.Equal(got, want) {
		t.Errorf("made %v, want %v", got, want)
	}
}

func TestNextWakesAWaitingReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hub := event.New()
		reader := hub.Reader()
		defer reader.Close()
		reader.Watch("changed:runs")
		got := make(chan event.Batch)
		go func() {
			batch, _ := reader.Next(t.Context())
			got <- batch
		}()
		synctest.Wait() // the reader waits now

		hub.Publish("changed:runs", 0, nil)

		if batch := <-got; len(batch.Messages) != 1 || batch.Messages[0].Topic != "changed:runs" {
			t.Errorf("Next = %+v, want one message of changed:runs", batch)
		}
	})
}

func TestNextEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reader := event.New().Reader()
		defer reader.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()

		_, err := reader.Next(ctx)

		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Next = %v, want %v", err, context.DeadlineExceeded)
		}
	})
}

func TestClosedReaderGetsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hub := event.New()
		reader := hub.Reader()
		reader.Watch("run:a")

		reader.Close()
		hub.Publish("run:a", 1, "late")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if batch, err := reader.Next(ctx); err == nil {
			t.Errorf("a closed reader got %+v", batch)
		}
	})
}

// One of 200 readers never reads. The others get all 1,000 messages, and the
// slow one learns that it has to look again and then goes on.
func TestE12SlowReaderHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const clients, events = 199, 1000
		hub := event.New()
		slow := hub.Reader()
		defer slow.Close()
		slow.Watch("run:a")
		counts := make([]int, clients)
		var readers sync.WaitGroup
		for i := range clients {
			reader := hub.Reader()
			reader.Watch("run:a")
			readers.Go(func() {
				defer reader.Close()
				for counts[i] < events {
					batch, err := reader.Next(t.Context())
					if err != nil || batch.Gaps != nil {
						t.Errorf("reader %d: gaps %v, err %v", i, batch.Gaps, err)
						return
					}
					counts[i] += len(batch.Messages)
				}
			})
		}

		for seq := range int64(events) {
			hub.Publish("run:a", seq+1, fmt.Sprintf("%0800d", seq))
			synctest.Wait()
		}
		readers.Wait()
		batch, err := slow.Next(t.Context())
		must(t, err)
		hub.Publish("run:a", events+1, "after")
		after, err := slow.Next(t.Context())
		must(t, err)

		for i, n := range counts {
			if n != events {
				t.Errorf("reader %d got %d messages, want %d", i, n, events)
			}
		}
		if !slices.Equal(batch.Gaps, []string{"run:a"}) || len(batch.Messages) != 0 {
			t.Errorf("slow reader got %d messages and gaps %v, want none and run:a", len(batch.Messages), batch.Gaps)
		}
		if len(after.Messages) != 1 || after.Messages[0].Seq != events+1 {
			t.Errorf("after the gap got %+v, want seq %d", after, events+1)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
