package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"dogear/db"
	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/runner/shim"
	"dogear/engine/table/tabletest"
	"dogear/handlers/control"
)

// story is work for a server, and how to tell that it was done once.
type story struct {
	name string
	// first is a mark at which a server is ended before the one that is tried
	// begins, which then takes up what that has left.
	first string
	begin func(t *testing.T, data, binary string) telling
}

// telling is one telling of a story.
type telling struct {
	args []string // of the server
	// act does what people and other systems do while there is a server, and
	// reports whether the story is over. It is asked again and again.
	act func(ctx context.Context, p *product) bool
	// check is asked when no server runs any more.
	check func(t *testing.T)
}

// stories are those in which every mark of the source comes at least once. A
// mark is tried in the first of them that leads there, so the short ones come
// first.
func stories() []story {
	return []story{
		{name: "schedule", begin: scheduleStory},
		{name: "calls", begin: callStory},
		{name: "arrivals", begin: arrivalStory},
		{name: "stop", begin: stopStory},
		{name: "lost", begin: lostStory},
		{name: "scripts", begin: scriptStory},
		{name: "scripts taken up", first: "shim.release.after 1", begin: scriptStory},
		{name: "rows", begin: rowStory},
		{name: "files", begin: fileStory},
		{name: "files taken up", first: "sink.sync.after 1", begin: fileStory},
		{name: "queue", begin: queueStory},
		{name: "bucket", begin: bucketStory},
		{name: "bucket taken up", first: "sink.part.after 1", begin: bucketStory},
		{name: "buried server", begin: buriedStory},
		{name: "takeover", begin: takeoverStory},
	}
}

// ended is how a story goes that is over when n runs have ended.
func ended(n int) func(context.Context, *product) bool {
	return func(ctx context.Context, p *product) bool { return p.allEnded(ctx, n) }
}

// orders is how a story goes in which somebody starts a job n times, one time
// after the other. An answer may be lost with the server that gave it, and not
// the run.
func orders(job string, n int) func(context.Context, *product) bool {
	return func(ctx context.Context, p *product) bool {
		runs, err := p.runs(ctx)
		if err != nil || !p.allEnded(ctx, len(runs)) {
			return false
		}
		if len(runs) < n {
			var run control.Run
			_ = p.ask(ctx, http.MethodPost, "/job", control.StartJob{Job: job}, &run)
		}
		return len(runs) == n
	}
}

// allSucceeded checks that there are n runs and each has succeeded.
func allSucceeded(t *testing.T, data string, n int) []engine.Run {
	t.Helper()
	store := openForTest(t, data)
	defer store.Close()
	runs, err := store.Runs(t.Context(), engine.RunFilter{Limit: 100})
	must(t, err)
	if len(runs) != n {
		t.Errorf("there are %d runs, want %d", len(runs), n)
	}
	for _, r := range runs {
		if r.Outcome != engine.RunSucceeded {
			t.Errorf("run %s %q, want it succeeded", r.ID, r.Outcome)
		}
	}
	return runs
}

// crawlOn makes a workflow that crawls a folder whenever trigger fires.
func crawlOn(t *testing.T, store *db.Store, data string, trigger engine.Trigger, next time.Time) engine.Trigger {
	t.Helper()
	raw := filepath.Join(data, "files", "raw")
	must(t, os.MkdirAll(raw, 0o700))
	must(t, os.WriteFile(filepath.Join(raw, "a.csv"), []byte("id\n1\n"), 0o600))
	now := time.Now().UTC()
	crawler, err := store.CreateCrawler(t.Context(), "crawl", engine.CrawlerBody{Database: "lake", Targets: []engine.CrawlerTarget{{Path: "raw"}}}, "test", now)
	must(t, err)
	_, err = store.PublishCrawler(t.Context(), crawler, "test", now)
	must(t, err)
	trigger.ID, trigger.Name = engine.NewID(now), "begins"
	trigger.Actions = []engine.Action{{Ref: engine.Ref{Kind: engine.KindCrawler, ID: crawler}}}
	id, err := store.CreateWorkflow(t.Context(), "w", engine.WorkflowBody{Triggers: []engine.Trigger{trigger}}, "test", now)
	must(t, err)
	_, err = store.PublishWorkflow(t.Context(), id, 0, nil, "test", now, func(engine.Trigger) time.Time { return next })
	must(t, err)
	return trigger
}

// scheduleStory is a due time that has just come.
func scheduleStory(t *testing.T, data, _ string) telling {
	store := openForTest(t, data)
	defer store.Close()
	crawlOn(t, store, data, engine.Trigger{Type: engine.Scheduled, Schedule: "cron(0 0 1 1 ? *)"}, time.Now())
	return telling{act: ended(1), check: func(t *testing.T) { t.Helper(); allSucceeded(t, data, 1) }}
}

// callStory is two events that are sent, the one over HTTP and the other by the
// command line, each until its sender hears that it was taken.
func callStory(t *testing.T, data, _ string) telling {
	store := openForTest(t, data)
	defer store.Close()
	trigger := crawlOn(t, store, data, engine.Trigger{Type: engine.OnEvent, Event: engine.EventRule{Size: 1}}, time.Time{})
	secret := arrival.NewSecret()
	must(t, store.NewTriggerSecret(t.Context(), trigger.ID, secret, time.Now()))
	var called, sent bool
	return telling{act: func(ctx context.Context, p *product) bool {
		if !called {
			called = call(ctx, p, trigger.ID, secret, "e1") == nil
		}
		if called && !sent {
			var answer control.Event
			sent = p.ask(ctx, http.MethodPost, "/event", control.Event{Workflow: "w", ID: "e2"}, &answer) == nil
		}
		return sent && p.allEnded(ctx, 2)
	}, check: func(t *testing.T) {
		t.Helper()
		startedBy(t, data, allSucceeded(t, data, 2), "e1", "e2")
	}}
}

// call sends a signed event.
func call(ctx context.Context, p *product, trigger engine.ID, secret, id string) error {
	_, address, err := p.signIn(ctx)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/hooks/"+string(trigger), strings.NewReader("{}"))
	if err != nil {
		return err
	}
	now := time.Now()
	signature, err := arrival.Sign(secret, id, now, []byte("{}"))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(arrival.HeaderID, id)
	request.Header.Set(arrival.HeaderTime, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(arrival.HeaderSignature, signature)
	return p.read(http.DefaultClient, request, func(io.Reader) error { return nil })
}

// startedBy checks that each of the events has started a run of its own.
func startedBy(t *testing.T, data string, runs []engine.Run, ids ...string) {
	t.Helper()
	store := openForTest(t, data)
	defer store.Close()
	started := map[string]int{}
	for _, r := range runs {
		events, err := store.EventsOf(t.Context(), r.ID)
		must(t, err)
		for _, e := range events {
			started[e.ID]++
		}
	}
	for _, id := range ids {
		if started[id] != 1 {
			t.Errorf("the event %s has started %d runs, want one", id, started[id])
		}
	}
	if len(started) != len(ids) {
		t.Errorf("the runs were started by %v, want %v", started, ids)
	}
}

// arrivalStory is a file that arrives in a folder.
func arrivalStory(t *testing.T, data, _ string) telling {
	store := openForTest(t, data)
	defer store.Close()
	inbox := filepath.Join(data, "files", "inbox")
	must(t, os.MkdirAll(inbox, 0o700))
	rule := engine.EventRule{Source: engine.EventFiles, Path: inbox + "/*.csv", Size: 1, Every: 1, Settle: 1}
	trigger := crawlOn(t, store, data, engine.Trigger{Type: engine.OnEvent, Event: rule}, time.Time{})
	state, err := store.EventTrigger(t.Context(), trigger.ID)
	must(t, err)
	must(t, store.EndLook(t.Context(), state, inbox, time.Now().UTC())) // nothing lay there
	put(t, filepath.Join(inbox, "b.csv"), 1, 1)
	return telling{act: ended(1), check: func(t *testing.T) {
		t.Helper()
		runs := allSucceeded(t, data, 1)
		if len(runs) == 1 && runs[0].Properties["aws:eventIds"] == "" {
			t.Errorf("the run knows %v, want its event", runs[0].Properties)
		}
	}}
}

// scriptStory is three scripts: one that leaves something behind when it fails,
// and one whose text lies at an address.
func scriptStory(t *testing.T, data, _ string) telling {
	effects := scriptsForTest(t, data, 50*time.Millisecond, func(name string, script *engine.ScriptJob) {
		switch name {
		case "b":
			script.Body = "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\n" + script.Body
		case "c":
			must(t, os.WriteFile(filepath.Join(data, "files", "c.py"), []byte(script.Body), 0o600))
			script.Body, script.Address = "", "c.py"
		}
	})
	return telling{act: ended(1), check: func(t *testing.T) { t.Helper(); assertRanOnce(t, data, effects, "in the end") }}
}

// lostStory is a script that kills its shim, with which it ends itself, and the maker
// before it, which would end what the script has started.
func lostStory(t *testing.T, data, _ string) telling {
	began := filepath.Join(data, "began")
	scriptJob(t, data, "alone", &engine.ScriptJob{Body: fmt.Sprintf(`
import os, signal, subprocess, time
open(%q, "a").write("x")
subprocess.Popen(["sleep", "600"])
shim = os.getppid()
maker = int(open(f"/proc/{shim}/stat").read().rpartition(")")[2].split()[1])
if "dogear" in open(f"/proc/{maker}/comm").read():  # not whoever takes orphans
    os.kill(maker, signal.SIGKILL)
os.kill(shim, signal.SIGKILL)
time.sleep(600)
`, began)})
	return telling{act: orders("alone", 1), check: func(t *testing.T) {
		t.Helper()
		assertBeganOnce(t, data, began, engine.RunFailed)
	}}
}

// scriptJob makes and publishes a job that is a script.
func scriptJob(t *testing.T, data, name string, script *engine.ScriptJob) {
	t.Helper()
	store := openForTest(t, data)
	defer store.Close()
	now := time.Now().UTC()
	id, err := store.CreateJob(t.Context(), name, engine.JobBody{Kind: engine.JobPython, Bookmark: engine.BookmarkOff, Script: script}, "test", now)
	must(t, err)
	_, err = store.PublishJob(t.Context(), id, "test", now)
	must(t, err)
}

// stopStory is a script that does not obey, and that somebody stops.
func stopStory(t *testing.T, data, _ string) telling {
	began := filepath.Join(data, "began")
	scriptJob(t, data, "endless", &engine.ScriptJob{Grace: 1, Body: fmt.Sprintf(`
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(%q, "a").write("x")
time.sleep(600)
`, began)})
	asked := false
	return telling{act: func(ctx context.Context, p *product) bool {
		over := orders("endless", 1)(ctx, p)
		if text, _ := os.ReadFile(began); len(text) > 0 && !asked {
			runs, err := p.runs(ctx)
			var stopped control.Run
			asked = err == nil && p.ask(ctx, http.MethodPost, "/stop", control.RunID{ID: runs[0].ID}, &stopped) == nil
		}
		return over
	}, check: func(t *testing.T) {
		t.Helper()
		assertBeganOnce(t, data, began, engine.RunStopped)
	}}
}

// assertBeganOnce checks that the one run has ended so, that its script has begun
// once, and that nothing of it is left.
func assertBeganOnce(t *testing.T, data, began string, outcome engine.Outcome) {
	t.Helper()
	store := openForTest(t, data)
	defer store.Close()
	runs, err := store.Runs(t.Context(), engine.RunFilter{Limit: 9})
	must(t, err)
	if len(runs) != 1 || runs[0].Outcome != outcome {
		t.Fatalf("the runs are %+v, want one that is %s", runs, outcome)
	}
	if text, err := os.ReadFile(began); err != nil || string(text) != "x" {
		t.Errorf("the script began %d times (%v), want once", len(text), err)
	}
	for _, marked := range (shim.Processes{}).Marked() {
		if strings.HasPrefix(marked.Marker, string(runs[0].ID)) {
			t.Errorf("process %d (%s) is left", marked.PID, marked.Name)
		}
	}
}

// rowStory is a table that is copied into another, row by row.
func rowStory(t *testing.T, data, _ string) telling {
	b := tabletest.SQLiteAt(t, filepath.Join(data, "files", "shop.db"))
	b.Do(t, "CREATE TABLE orders (id INTEGER PRIMARY KEY)", "CREATE TABLE copied (id INTEGER)")
	for id := range 20 {
		b.Do(t, fmt.Sprintf("INSERT INTO orders VALUES (%d)", 1+id))
	}
	copyForTest(t, data, b.Config, engine.ReadNew)
	return telling{act: ended(1), check: func(t *testing.T) {
		t.Helper()
		allSucceeded(t, data, 1)
		if got := b.Rows(t, "SELECT count(*), count(DISTINCT id) FROM copied"); got != "20|20" {
			t.Errorf("copied holds %s rows and different ones, want 20|20", got)
		}
		if got := b.Rows(t, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'dogear_stage%'"); got != "0" {
			t.Errorf("%s stages are left", got)
		}
	}}
}

// fileStory is the pipeline of two jobs and a crawler, run a second time over
// more files: what it merges then replaces what it wrote the first time.
func fileStory(t *testing.T, data, _ string) telling {
	pipelineForTest(t, data)
	serveOn(t, data, "")
	more := [][2]int{{30, 1}, {31, 4}} // rows of days that are there, in two files
	for i, m := range more {
		var text bytes.Buffer
		text.WriteString("id,day,amount\n")
		for row := range m[1] {
			fmt.Fprintf(&text, "%d,d%d,%d\n", m[0]+row, row%3, row)
		}
		path := filepath.Join(data, "files", "raw", fmt.Sprintf("more%d.csv", i))
		must(t, os.WriteFile(path, text.Bytes(), 0o600))
		old := time.Now().Add(-time.Hour)
		must(t, os.Chtimes(path, old, old))
	}
	store := openForTest(t, data)
	made, err := store.WorkflowNamed(t.Context(), "w")
	must(t, err)
	startForTest(t, store, made.ID)
	must(t, store.Close())
	return telling{act: ended(2), check: func(t *testing.T) {
		t.Helper()
		allSucceeded(t, data, 2)
		store := openForTest(t, data)
		defer store.Close()
		for _, target := range []string{"loaded", "merged"} {
			if got := idsOf(t, data, target); len(got) != 35 {
				t.Errorf("%s holds %d different rows, want 35", target, len(got))
			}
			left, err := filepath.Glob(filepath.Join(data, "files", target, ".dogear", "*"))
			must(t, err)
			if len(left) > 0 {
				t.Errorf("%v is left over in %s", left, target)
			}
		}
		table, err := store.TableNamed(t.Context(), "lake.merged")
		must(t, err)
		if table.Partitions != 3 {
			t.Errorf("the catalog shows %d partitions, want 3", table.Partitions)
		}
	}}
}
