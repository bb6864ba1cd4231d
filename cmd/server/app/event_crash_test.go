package app

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dogear/engine"
)

// eventForTest makes a workflow that crawls a folder for each event, and keeps
// one event for it as a sender's call does.
func eventForTest(t *testing.T, data string) {
	t.Helper()
	raw := filepath.Join(data, "files", "raw")
	must(t, os.MkdirAll(raw, 0o700))
	must(t, os.WriteFile(filepath.Join(raw, "a.csv"), []byte("id\n1\n"), 0o600))
	store, now := openForTest(t, data), time.Now().UTC()
	crawler, err := store.CreateCrawler(t.Context(), "crawl", engine.CrawlerBody{Database: "lake", Targets: []engine.CrawlerTarget{{Path: "raw"}}}, "test", now)
	must(t, err)
	_, err = store.PublishCrawler(t.Context(), crawler, "test", now)
	must(t, err)
	trigger := engine.Trigger{
		ID: engine.NewID(now), Name: "calls", Type: engine.OnEvent, Event: engine.EventRule{Size: 1},
		Actions: []engine.Action{{Ref: engine.Ref{Kind: engine.KindCrawler, ID: crawler}}},
	}
	id, err := store.CreateWorkflow(t.Context(), "w", engine.WorkflowBody{Triggers: []engine.Trigger{trigger}}, "test", now)
	must(t, err)
	_, err = store.PublishWorkflow(t.Context(), id, 0, nil, "test", now, func(engine.Trigger) time.Time { return time.Time{} })
	must(t, err)
	_, err = store.AddEvent(t.Context(), engine.TriggerEvent{Trigger: trigger.ID, ID: "e1", At: now})
	must(t, err)
	must(t, store.Close())
}

// TestServerKilledBetweenAnEventAndItsRun kills the server before and after each
// of its commits, the first of which starts the run, and wants one run.
func TestServerKilledBetweenAnEventAndItsRun(t *testing.T) {
	t.Parallel()
	kills := 0
	for _, when := range []string{"before", "after"} {
		for n := 1; ; n++ {
			data := filepath.Join(t.TempDir(), "data")
			must(t, os.MkdirAll(data, 0o700))
			eventForTest(t, data)

			killed := serveOn(t, data, fmt.Sprintf("%s %d", when, n))
			if killed {
				kills++
				if !over(t, data) {
					serveOn(t, data, "")
				}
			}

			assertOneRun(t, data, fmt.Sprintf("killed %s commit %d", when, n))
			if !killed {
				break // the run has no such commit
			}
		}
	}
	if kills < 4 {
		t.Errorf("the server was killed %d times, want it killed around the start and the end of the run at least", kills)
	}
}

// over reports whether the run had its end already when the server was killed.
func over(t *testing.T, data string) bool {
	t.Helper()
	store := openForTest(t, data)
	defer store.Close()
	runs, err := store.Runs(t.Context(), engine.RunFilter{})
	must(t, err)
	return len(runs) > 0 && !runs[0].Open()
}

func assertOneRun(t *testing.T, data, what string) {
	t.Helper()
	store := openForTest(t, data)
	defer store.Close()
	runs, err := store.Runs(t.Context(), engine.RunFilter{})
	must(t, err)
	if len(runs) != 1 || runs[0].Outcome != engine.RunSucceeded || runs[0].Properties["aws:eventIds"] != "[e1]" {
		t.Fatalf("%s: runs = %+v, want one that succeeded and knows its event", what, runs)
	}
	events, err := store.EventsOf(t.Context(), runs[0].ID)
	must(t, err)
	if len(events) != 1 || events[0].ID != "e1" {
		t.Errorf("%s: the run was started by %+v, want e1", what, events)
	}
}
