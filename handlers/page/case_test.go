package page_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/exec"
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
	s.open(t, page.Config{Store: w, Exec: changes{s: s}, Logs: s, SQL: data{}, Bookmarks: moves{s: s}, Health: looked{At: noon, Late: []engine.LateStart{
		{Workflow: runID, Name: "nightly " + odd, Due: noon.Add(-time.Hour), Late: 42 * time.Minute, Run: runID},
		{Workflow: runID, Name: "hourly", Due: noon.Add(-3 * time.Minute), Late: 3 * time.Minute, Waits: true},
	}}})
	return s
}

func TestA20ARunThatAsksForTheSameIsMarked(t *testing.T) {
	t.Parallel()
	s := telling(t, told{twin: &engine.Twin{Run: batchID, Before: 40 * time.Second}}, nil)

	_, list := s.get(t, "/runs")
	_, run := s.get(t, "/runs/"+string(runID))

	contains(t, "the list", list, "Same as", "40 s before", "/runs/"+string(batchID))
	contains(t, "the page of the run", run, "Same properties as run", "40 s before", "/runs/"+string(batchID), "stop this one") // the other may have ended
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
// that is turned off says so.
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
		"off":  {"Off"},
	} {
		status, list := s.get(t, "/workflows?name="+name)
		if status != http.StatusOK || strings.Contains(list, "28 Nov 09:00:00") {
			t.Errorf("%s: status %d, and a start in the past is shown as the next", name, status)
		}
		contains(t, "the list of "+name, list, want...)
		_, canvas := s.get(t, "/workflows/"+string(ids[name]))
		contains(t, "the canvas of "+name, canvas, map[string]string{"soon": "next start in 7 min", "lost": "overdue by 3 h", "off": ">Off<"}[name])
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
	contains(t, "the page", page, "Properties changed after this job started", "properties changed", "by anna")
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
		"nothing was committed":       {sql(engine.BookmarkOn, engine.ReadNew), engine.Failed, "Bookmark on, nothing committed yet"},
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

// TestA05ATriggerOnDemandHasNoSwitch: it says that publishing starts nothing, and
// its Run asks first.
func TestA05ATriggerOnDemandHasNoSwitch(t *testing.T) {
	t.Parallel()
	s := edit(t)
	id := s.drawn(t, engine.Trigger{Name: "by hand", Type: engine.OnDemand})
	trigger := s.trigger(t, id)

	_, panel := s.get(t, "/workflows/"+string(id)+"/cards/"+string(trigger.ID))
	saved, _ := s.change(t, "/workflows/"+string(id)+"/cards/"+string(trigger.ID), url.Values{"name": {"by a person"}, "seen.name": {"by hand"}})
	_, dialog := s.get(t, "/workflows/"+string(id)+"/run")
	drawn, err := s.store.Draft(t.Context(), id)
	must(t, err)

	contains(t, "the panel", panel, "Publishing it starts nothing", "Run…", "/workflows/"+string(id)+"/run")
	if strings.Contains(panel, `name="enabled"`) {
		t.Error("the panel of a trigger on demand has a switch")
	}
	if saved != http.StatusOK || drawn.Body.Trigger(trigger.ID).Disabled {
		t.Errorf("saving its name = %d and turned it off", saved)
	}
	contains(t, "the dialog", dialog, "Run w v1 now?", "It begins with raw-to-curated", `name="sure"`, "{{due.date}}", "property.Day")
}

// TestA05RunAsksWhileARunIsUnderWay, and does what it is told then, with the
// properties that were changed in the dialog alone.
func TestA05RunAsksWhileARunIsUnderWay(t *testing.T) {
	t.Parallel()
	s := edit(t)
	id := s.drawn(t, engine.Trigger{Name: "by hand", Type: engine.OnDemand})
	e := &orders{}
	open := true
	s.open(t, page.Config{Store: underWay{world{s.store, s}, &open}, Exec: e})
	path := "/workflows/" + string(id) + "/run"

	asked, dialog := s.change(t, path, url.Values{})
	if asked != http.StatusOK || len(e.got) != 0 {
		t.Errorf("POST = %d and started %d runs, want a question first", asked, len(e.got))
	}
	contains(t, "the answer", dialog, "is under way", "another one beside it", "by owner")
	s.change(t, path, url.Values{"sure": {"yes"}, "property.Day": {"{{due.date}}"}, "seen.Day": {"{{due.date}}"}, "property.Region": {"eu"}, "seen.Region": {""}})
	open = false
	s.change(t, path, url.Values{})

	if len(e.got) != 2 || len(e.got[0].Properties) != 1 || e.got[0].Properties["Region"] != "eu" || len(e.got[1].Properties) != 0 || e.got[0].By != "owner" {
		t.Errorf("started %+v, want one with Region=eu and one as it is declared", e.got)
	}
}

// TestA20ABrowserPassesItsTokenOn.
func TestA20ABrowserPassesItsTokenOn(t *testing.T) {
	t.Parallel()
	s := edit(t)
	id := s.drawn(t, engine.Trigger{Name: "by hand", Type: engine.OnDemand})
	e, open := &orders{}, false
	s.open(t, page.Config{Store: underWay{world{s.store, s}, &open}, Exec: e})
	_, list := s.get(t, "/workflows")
	for _, path := range []string{"/workflows/" + string(id), "/jobs/" + string(s.job), "/crawlers/" + string(s.crawler)} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+path+"/run", nil)
		must(t, err)
		request.Header.Set("X-CSRF-Token", value(t, list, "_csrf"))
		request.Header.Set("Idempotency-Key", path)
		response, err := s.client.Do(request)
		must(t, err)
		must(t, response.Body.Close())
		if n := len(e.got); n == 0 || e.got[n-1].Token != path {
			t.Errorf("POST %s/run = %d and asked for %+v, want its token", path, response.StatusCode, e.got)
		}
	}
}

// orders writes down which runs it is asked for.
type orders struct {
	page.Exec
	got []exec.Order
}

func (e *orders) Start(_ context.Context, o exec.Order) (engine.Run, error) {
	e.got = append(e.got, o)
	return engine.Run{ID: runID}, nil
}

// underWay is a world in which a run is under way, or none.
type underWay struct {
	world
	open *bool
}

func (w underWay) Runs(ctx context.Context, f engine.RunFilter) ([]engine.Run, error) {
	if f.Open && !*w.open {
		return nil, nil
	}
	return w.world.Runs(ctx, f)
}

// drawn publishes a workflow of triggers that start the job.
func (s *site) drawn(t *testing.T, triggers ...engine.Trigger) engine.ID {
	t.Helper()
	for i := range triggers {
		triggers[i].ID, triggers[i].Actions = engine.NewID(noon), []engine.Action{{Ref: engine.Ref{Kind: engine.KindJob, ID: s.job}}}
	}
	body := engine.WorkflowBody{Triggers: triggers, Properties: map[string]string{"Day": "{{due.date}}", "Region": ""}}
	id, err := s.store.CreateWorkflow(t.Context(), "w", body, "owner", noon)
	must(t, err)
	_, err = s.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", noon, func(engine.Trigger) time.Time { return time.Time{} })
	must(t, err)
	return id
}

func (s *site) trigger(t *testing.T, workflow engine.ID) engine.Trigger {
	t.Helper()
	w, err := s.store.Workflow(t.Context(), workflow)
	must(t, err)
	return w.Triggers[0]
}

// TestA09AnEventTriggerSaysWhatDrivesIt and what its switch does, which settles: read
// twice it is the same, a save turns it only where the person did, also from a form that
// is older, and nobody turns it back.
func TestA09AnEventTriggerSaysWhatDrivesIt(t *testing.T) {
	t.Parallel()
	for _, disabled := range []bool{false, true} {
		s := edit(t)
		id := s.drawn(t, engine.Trigger{Name: "calls", Type: engine.OnEvent, Disabled: disabled, Event: engine.EventRule{Source: engine.EventCalls, Size: 2, Window: 60}})
		card := "/workflows/" + string(id) + "/cards/" + string(s.trigger(t, id).ID)
		was, turned := "yes", ""
		if disabled {
			was, turned = turned, was
		}
		form := url.Values{
			"name": {"calls"}, "seen.name": {"calls"}, "event.source": {"calls"}, "seen.event.source": {"calls"},
			"event.size": {"3"}, "seen.event.size": {"2"}, "event.window": {"60"}, "seen.event.window": {"60"},
			"enabled": {was}, "seen.enabled": {was},
		}
		draft := func() engine.Trigger {
			d, err := s.store.Draft(t.Context(), id)
			must(t, err)
			return d.Body.Triggers[0]
		}

		_, panel := s.get(t, card)
		_, again := s.get(t, card)
		status, _ := s.change(t, card, form)

		contains(t, "the panel", panel, "Events drive it", "While it is off, every call is refused", `name="enabled"`)
		plain := func(body string) string { return strings.ReplaceAll(body, value(t, body, "_csrf"), "") }
		if plain(panel) != plain(again) || strings.Contains(panel, `name="enabled" value="yes" checked`) == disabled {
			t.Errorf("disabled %t: read twice the panel differs, or its switch says otherwise", disabled)
		}
		if now := draft(); status != http.StatusOK || now.Disabled != disabled || now.Event.Size != 3 {
			t.Errorf("disabled %t: saved = %d, and the draft has %+v", disabled, status, now)
		}
		_, drawn := s.get(t, "/workflows/"+string(id))
		if strings.Contains(drawn, `title="Off"`) != disabled {
			t.Errorf("disabled %t: the card says Off: %t", disabled, !disabled)
		}
		form.Set("seen.event.size", "3")
		older := url.Values{"name": {"renamed"}, "seen.name": {"calls"}, "enabled": {was}, "seen.enabled": {was}}
		form.Set("enabled", turned)
		if status, _ := s.change(t, card, form); status != http.StatusOK || draft().Disabled == disabled {
			t.Errorf("turning it = %d, and it is disabled %t", status, draft().Disabled)
		}
		for _, form := range []url.Values{older, {"name": {"renamed"}, "seen.name": {"renamed"}}} { // the other shows no switch
			status, _ := s.change(t, card, form)
			if draft := draft(); status != http.StatusOK || draft.Disabled == disabled || draft.Name != "renamed" {
				t.Errorf("a save from an older form = %d, and the draft has %+v", status, draft)
			}
		}
	}
}

// TestA12ThePublishPageSaysWhatATriggerWaitsFor, so that a lost half is seen; a
// condition is changed by the state that was shown, and no two become one.
func TestA12ThePublishPageSaysWhatATriggerWaitsFor(t *testing.T) {
	t.Parallel()
	s := edit(t)
	job, crawler := engine.Ref{Kind: engine.KindJob, ID: s.job}, engine.Ref{Kind: engine.KindCrawler, ID: s.crawler}
	next, err := s.store.CreateJob(t.Context(), "publish", engine.JobBody{Kind: engine.JobPython, Bookmark: engine.BookmarkOff, Script: &engine.ScriptJob{Body: "x"}}, "owner", noon)
	must(t, err)
	id, err := s.store.CreateWorkflow(t.Context(), "nightly", engine.WorkflowBody{Triggers: []engine.Trigger{{
		ID: engine.NewID(noon), Name: "t", Type: engine.Conditional, Actions: []engine.Action{{Ref: engine.Ref{Kind: engine.KindJob, ID: next}}},
		Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: crawler, State: engine.Succeeded}, {Ref: job, State: engine.Succeeded}, {Ref: job, State: engine.Failed}}},
	}}}, "owner", noon)
	must(t, err)
	draft := func() engine.Trigger {
		d, err := s.store.Draft(t.Context(), id)
		must(t, err)
		return d.Body.Triggers[0]
	}
	card := "/workflows/" + string(id) + "/cards/" + string(draft().ID)
	field := "state." + job.String()

	_, publish := s.get(t, "/workflows/"+string(id)+"/publish")
	refused, body := s.change(t, card, url.Values{"name": {"t"}, "seen.name": {"t"}, "enabled": {"yes"}, field + ".succeeded": {"succeeded"}, field + ".failed": {"succeeded"}})
	kept := draft().Predicate.Conditions
	saved, _ := s.change(t, card, url.Values{"name": {"t"}, "seen.name": {"t"}, "enabled": {"yes"}, field + ".succeeded": {"succeeded"}, field + ".failed": {"stopped"}})

	contains(t, "the list of changes", publish, "Waits for", "curated-crawler succeeds and raw-to-curated", "&#34;1&#34;", "succeeds and raw-to-curated", "fails")
	if refused != http.StatusUnprocessableEntity || !strings.Contains(body, "t waits twice for the same") || len(kept) != 3 || kept[2].State != engine.Failed {
		t.Errorf("two that become the same = %d, and the draft has %+v", refused, kept)
	}
	if now := draft().Predicate.Conditions; saved != http.StatusOK || len(now) != 3 || now[1].State != engine.Succeeded || now[2].State != engine.Stopped {
		t.Errorf("a change of the last = %d, and the draft has %+v", saved, now)
	}
}
