package page_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/handlers/page"
)

// The cases of the field that are about what people see of starts (cases.jsonl).

// told is the world with what the store knows of its one run beside itself.
type told struct {
	world
	twin  *engine.Twin
	sets  []engine.PropertySet
	first map[string]string // that every attempt was told
}

func (w told) Twins(_ context.Context, runs []engine.Run) (map[engine.ID]engine.Twin, error) {
	if w.twin == nil {
		return nil, nil
	}
	return map[engine.ID]engine.Twin{runs[0].ID: *w.twin}, nil
}

func (w told) PropertySets(context.Context, engine.ID) ([]engine.PropertySet, error) {
	return w.sets, nil
}

func (w told) PropertiesOf(context.Context, engine.NodeKey) (map[string]string, error) {
	return w.first, nil
}

// telling is the screens over a told world.
func telling(t *testing.T, w told, shape func(*engine.Run)) *site {
	t.Helper()
	s := serve(t)
	s.shape, w.world = shape, world{s.store, s}
	s.open(t, page.Config{Store: w, Exec: changes{s: s}, Logs: s, SQL: data{}, Bookmarks: moves{s: s}, Health: well{}})
	return s
}

type well struct{}

func (well) Health(context.Context) (engine.Health, error) {
	return engine.Health{At: noon, Late: []engine.LateStart{
		{Workflow: runID, Name: "nightly " + odd, Due: noon.Add(-time.Hour), Late: 42 * time.Minute, Run: runID},
		{Workflow: runID, Name: "hourly", Due: noon.Add(-3 * time.Minute), Late: 3 * time.Minute, Waits: true},
	}}, nil
}

func TestA20ARunThatAsksForTheSameIsMarked(t *testing.T) {
	t.Parallel()
	s := telling(t, told{twin: &engine.Twin{Run: batchID, Before: 40 * time.Second}}, nil)

	_, list := s.get(t, "/runs")
	_, run := s.get(t, "/runs/"+string(runID))

	contains(t, "the list", list, "Same as", "40 s before", "/runs/"+string(batchID))
	contains(t, "the page of the run", run, "Same properties as run", "40 s before", "/runs/"+string(batchID))
	plain := telling(t, told{}, nil)
	if _, list := plain.get(t, "/runs"); strings.Contains(list, "Same as") {
		t.Error("a run is marked that is like no other")
	}
}

func TestA05ARunSaysWhoStartedIt(t *testing.T) {
	t.Parallel()
	s := telling(t, told{}, nil)

	_, run := s.get(t, "/runs/"+string(runID)+"/timeline")

	contains(t, "the timeline", run, "Started ", "by owner")
}

func TestD17ALateRunSaysSo(t *testing.T) {
	t.Parallel()
	late := func(by time.Duration) func(*engine.Run) {
		return func(r *engine.Run) {
			r.By, r.Trigger, r.Due = "schedule", r.Body.Triggers[0].ID, noon.Add(-40*time.Second-by) // its first node began 40 s before noon
		}
	}
	s := telling(t, told{}, late(42*time.Minute))
	inTime := telling(t, told{}, late(time.Second))

	_, run := s.get(t, "/runs/"+string(runID)+"/timeline")
	_, other := inTime.get(t, "/runs/"+string(runID)+"/timeline")

	contains(t, "the late run", run, "by the schedule Daily", "began to work 42 min 00 s after it was due", `class="note warn"`)
	if strings.Contains(other, "after it was due") || !strings.Contains(other, "due ") {
		t.Errorf("a run in time says\n%s\nwant its due time and no warning", other)
	}
	_, health := s.get(t, "/health")
	contains(t, "the health page", health, "2 starts late", "42 min 00 s", "3 min 00 s, still waits", "none yet")
}

// TestD17TheNextStartIsThatOfTheDatabase, never one in the past, and a schedule
// that is turned off is paused.
func TestD17TheNextStartIsThatOfTheDatabase(t *testing.T) {
	t.Parallel()
	s := edit(t)
	publish := func(name string, disabled bool, next time.Time) engine.ID {
		id, err := s.store.CreateWorkflow(t.Context(), name, engine.WorkflowBody{Triggers: []engine.Trigger{{
			ID: engine.NewID(noon), Name: "hourly", Type: engine.Scheduled, Schedule: "cron(0 * * * ? *)", Disabled: disabled,
			Actions: []engine.Action{{Ref: engine.Ref{Kind: engine.KindJob, ID: s.job}}},
		}}}, "owner", noon)
		must(t, err)
		_, err = s.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", noon, func(engine.Trigger) time.Time { return next })
		must(t, err)
		return id
	}
	ids := map[string]engine.ID{
		"soon": publish("soon", false, noon.Add(7*time.Minute)), "lost": publish("lost", false, noon.Add(-3*time.Hour)), "off": publish("off", true, noon.Add(time.Hour)),
	}
	for name, want := range map[string][]string{
		"soon": {"28 Nov 12:07:00"},
		"lost": {"28 Nov 13:00:00", "Overdue by 3 h 00 min"},
		"off":  {"Paused"},
	} {
		status, list := s.get(t, "/workflows?name="+name)
		if status != http.StatusOK || strings.Contains(list, "28 Nov 09:00:00") {
			t.Errorf("%s: status %d, and a start in the past is shown as the next", name, status)
		}
		contains(t, "the list of "+name, list, want...)
		_, canvas := s.get(t, "/workflows/"+string(ids[name]))
		contains(t, "the canvas of "+name, canvas, map[string]string{"soon": "next start in 7 min", "lost": "overdue by 3 h", "off": "Paused"}[name])
	}
}

// TestA14ChangedPropertiesAreSaidOfWhatStartedBefore, with what it was told, and
// they are changed on the page of the run.
func TestA14ChangedPropertiesAreSaidOfWhatStartedBefore(t *testing.T) {
	t.Parallel()
	now := func(r *engine.Run) { r.Properties = map[string]string{"messages": "[1, 2]", "day": "1"} }
	s := telling(t, told{
		sets: []engine.PropertySet{
			{At: noon.Add(-time.Minute), By: "owner", Values: map[string]string{"messages": "none"}},
			{Seq: 5, At: noon, By: "anna", Values: map[string]string{"messages": "[1, 2]"}},
		},
		first: map[string]string{"messages": "none", "day": "1"},
	}, now)

	_, panel := s.get(t, s.node()+"?tab=arguments")
	_, dialog := s.get(t, "/runs/"+string(runID)+"/properties")
	_, page := s.get(t, s.run("log"))
	status, _ := s.change(t, "/runs/"+string(runID)+"/properties", url.Values{
		"property.messages": {"a\r\nb"}, "seen.messages": {"[1, 2]"}, "property.day": {"1"}, "seen.day": {"1"},
	})

	contains(t, "the panel", panel, "Properties changed after this job started", "as this attempt was told them", "none", "Properties of the run now", "[1, 2]", "Change…")
	contains(t, "the page", page, "Properties changed after this job started", "Properties changed at", "by anna")
	contains(t, "the dialog", dialog, "property.messages", "keeps what it was told")
	if want := "messages=a\nb"; status != http.StatusOK || s.moved != want {
		t.Errorf("POST = %d and asked for %q, want %q alone", status, s.moved, want)
	}
	same := telling(t, told{}, now)
	if _, panel := same.get(t, same.node()+"?tab=arguments"); strings.Contains(panel, "changed after") || strings.Contains(panel, "told them") {
		t.Error("a run whose properties nobody changed says that they were")
	}
}

// changes writes down which properties of a run it is asked to change.
type changes struct {
	page.Exec
	s *site
}

func (e changes) SetProperties(_ context.Context, id engine.ID, change map[string]string, _ string) (engine.Run, error) {
	for name, value := range change {
		e.s.moved += name + "=" + value
	}
	return engine.Run{ID: id}, nil
}

// TestA25TheRunSaysWhatBecameOfTheBookmark, by what the job is and how its
// attempt ended.
func TestA25TheRunSaysWhatBecameOfTheBookmark(t *testing.T) {
	t.Parallel()
	sql := func(bookmark engine.BookmarkMode, read engine.ReadMode) engine.JobBody {
		return engine.JobBody{Kind: engine.JobSQL, Bookmark: bookmark, SQL: &engine.SQLJob{Sources: []engine.Source{{Name: "in", Path: "/in", Read: read}}}}
	}
	tests := map[string]struct {
		job   engine.JobBody
		state engine.State
		want  string
	}{
		"a script":                    {engine.JobBody{Kind: engine.JobPython, Bookmark: engine.BookmarkOff, Script: &engine.ScriptJob{Body: "x"}}, engine.Succeeded, "A script has no bookmark"},
		"a bookmark that is off":      {sql(engine.BookmarkOff, engine.ReadNew), engine.Succeeded, "was off"},
		"sources that are read whole": {sql(engine.BookmarkOn, engine.ReadAll), engine.Succeeded, "read whole each time"},
		"nothing was committed":       {sql(engine.BookmarkOn, engine.ReadNew), engine.Failed, "Bookmark enabled, nothing committed yet"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			id, err := s.store.CreateJob(t.Context(), "j", tt.job, "owner", noon)
			must(t, err)
			_, err = s.store.PublishJob(t.Context(), id, "owner", noon)
			must(t, err)
			s.nodes[0].Ref.ID, s.nodes[0].State, s.nodes[0].Ended, s.nodes[0].Batch = id, tt.state, noon, ""
			s.open(t, page.Config{Store: world{s.store, s}, Bookmarks: moves{s: s}, Logs: s, SQL: data{}})

			_, panel := s.get(t, "/runs/"+string(runID)+"/nodes/job-"+string(id)+"?tab=bookmark")

			contains(t, "the panel", panel, "No bookmark", tt.want)
		})
	}
}
