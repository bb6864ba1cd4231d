package app

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/handlers/control"
)

// beside starts a server of a database in this process and returns what it says
// of the workflows.
func beside(t *testing.T, database string) func() []control.Workflow {
	t.Helper()
	data := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{
			Data: data, Out: io.Discard, Ready: func(string, string) { close(ready) },
			Options: Options{Addr: "127.0.0.1:0", Slots: 1, Drain: time.Second, Key: keyForTest, Database: database},
		})
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("the server did not start: %v", err)
	}
	t.Cleanup(func() { cancel(); must(t, <-ended) })
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return control.Dial(ctx, data) }, DisableKeepAlives: true,
	}}
	return func() (list []control.Workflow) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://dogear/workflows", nil)
		must(t, err)
		response, err := client.Do(request)
		must(t, err)
		defer response.Body.Close()
		must(t, json.NewDecoder(response.Body).Decode(&list))
		return list
	}
}

// TestD17TwoServersSayTheSameNextStart, that of the row that both read: also where
// a server that is gone has left a time in the past, and where a schedule is
// paused.
func TestD17TwoServersSayTheSameNextStart(t *testing.T) {
	t.Parallel()
	database := dbtest.PostgresAddress(t)
	store := dbtest.Open(t, database)
	one, other := beside(t, database), beside(t, database)
	job, err := store.CreateJob(t.Context(), "j", engine.JobBody{Kind: engine.JobPython, Bookmark: engine.BookmarkOff, Script: &engine.ScriptJob{Body: "print()"}}, "owner", time.Now())
	must(t, err)
	_, err = store.PublishJob(t.Context(), job, "owner", time.Now())
	must(t, err)
	now := time.Now()
	soon := now.UTC().Add(7 * time.Hour).Truncate(time.Second)
	for name, trigger := range map[string]struct {
		disabled bool
		next     time.Time
	}{"soon": {next: soon}, "left": {next: now.Add(-3 * time.Hour)}, "off": {disabled: true, next: soon}} {
		body := engine.WorkflowBody{Triggers: []engine.Trigger{{
			ID: engine.NewID(now), Name: "yearly", Type: engine.Scheduled, Schedule: "cron(0 0 1 1 ? *)", Disabled: trigger.disabled,
			Actions: []engine.Action{{Ref: engine.Ref{Kind: engine.KindJob, ID: job}}},
		}}}
		id, err := store.CreateWorkflow(t.Context(), name, body, "owner", now)
		must(t, err)
		_, err = store.PublishWorkflow(t.Context(), id, 0, nil, "owner", now, func(engine.Trigger) time.Time { return trigger.next })
		must(t, err)
	}

	first, second := one(), other()

	if len(first) != 3 || len(second) != 3 {
		t.Fatalf("they list %d and %d workflows, want three", len(first), len(second))
	}
	for i, w := range first {
		if !w.NextStart.Equal(second[i].NextStart) || w.Name != second[i].Name {
			t.Errorf("%s starts next at %s, and by the other server at %s", w.Name, w.NextStart, second[i].NextStart)
		}
		switch w.Name {
		case "soon":
			if !w.NextStart.Equal(soon) {
				t.Errorf("soon starts next at %s, want what the row says, %s", w.NextStart, soon)
			}
		case "left":
			if !w.NextStart.After(now) {
				t.Errorf("left starts next at %s, which has passed", w.NextStart)
			}
		case "off":
			if !w.NextStart.IsZero() || !w.Triggers[0].Disabled {
				t.Errorf("off starts next at %s, want never: it is paused", w.NextStart)
			}
		}
	}
}
