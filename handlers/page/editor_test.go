package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/engine/flow"
	"dogear/engine/schedule"
	"dogear/handlers/page"
)

func next(t engine.Trigger, after time.Time) time.Time {
	cron, err := schedule.Parse(t.Schedule)
	if err != nil || t.Type != engine.Scheduled {
		return time.Time{}
	}
	zone, err := schedule.Zone(t.Zone)
	if err != nil {
		return time.Time{}
	}
	return cron.Next(after, zone)
}

// Publish implements page.Publisher over the store.
func (w world) Publish(ctx context.Context, id engine.ID, seq int64, with []engine.Ref, by string) (engine.Workflow, error) {
	return w.PublishWorkflow(ctx, id, seq, with, by, noon, func(t engine.Trigger) time.Time { return next(t, noon) })
}

// Switch implements page.Publisher over the store.
func (w world) Switch(ctx context.Context, id engine.ID, turn draft.Turn, by string) (engine.Workflow, error) {
	made, _, err := w.SwitchTrigger(ctx, id, turn, by, noon, func(t engine.Trigger) time.Time { return next(t, noon) })
	return made, err
}

// edit is the screens with everything that the editor needs.
func edit(t *testing.T) *site {
	t.Helper()
	s := serve(t)
	now := func() time.Time { return noon }
	s.open(t, page.Config{
		Store: world{s.store, s}, Bookmarks: moves{s: s}, Logs: s, SQL: data{}, Places: places{},
		Drafts:    draft.NewService(s.store, s.store, func(engine.ID, []draft.Entry) {}, now),
		Publisher: world{s.store, s}, Remover: s.store, Schedules: schedule.Rules{}, Next: next,
	})
	return s
}

func (s *site) at(tail string) string { return "/workflows/" + string(s.workflow) + tail }

func (s *site) cards() (job, crawler string) {
	return "job-" + string(s.job), "crawler-" + string(s.crawler)
}

// patch sends operations as the canvas does and returns the answer.
func (s *site) patch(t *testing.T, base int64, ops ...draft.Op) (int, map[string]any) {
	t.Helper()
	_, body := s.get(t, "/workflows")
	for i := range ops {
		if ops[i].ID == "" {
			ops[i].ID = fmt.Sprint(base, "-", i)
		}
	}
	text, err := json.Marshal(draft.Patch{Base: base, Client: "tab", Ops: ops})
	must(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, s.server.URL+"/api/ui"+s.at("/draft"), strings.NewReader(string(text)))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-CSRF-Token", value(t, body, "_csrf"))
	response, err := s.client.Do(request)
	must(t, err)
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	must(t, err)
	answer := map[string]any{}
	if err := json.Unmarshal(read, &answer); err != nil {
		t.Fatalf("PATCH answered %d %s", response.StatusCode, read)
	}
	return response.StatusCode, answer
}

const (
	daily = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P5A")
	after = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P5B")
)

// pipeline draws schedule -> job -> on success -> crawler.
func (s *site) pipeline(t *testing.T) {
	t.Helper()
	job, crawler := s.cards()
	status, answer := s.patch(t, 0,
		draft.Op{Kind: draft.AddTrigger, At: &engine.Point{X: 40, Y: 40}, New: &engine.Trigger{ID: daily, Name: "Daily", Type: engine.Scheduled, Schedule: "cron(0 2 * * ? *)"}},
		draft.Op{Kind: draft.AddNode, Card: job, At: &engine.Point{X: 300, Y: 30}},
		draft.Op{Kind: draft.AddNode, Card: crawler, At: &engine.Point{X: 620, Y: 30}},
		draft.Op{Kind: draft.Connect, Card: string(daily), To: job},
		draft.Op{Kind: draft.Connect, Card: job, To: crawler, Trigger: after},
	)
	if status != http.StatusOK || answer["seq"] != 5.0 {
		t.Fatalf("PATCH = %d %v, want 200 at seq 5", status, answer)
	}
}

// The palette is searched by a part of a name or a whole id, in capitals or not, and
// with space around it.
func TestThePaletteFindsByNameAndID(t *testing.T) {
	t.Parallel()
	s := edit(t)
	job, crawler := s.cards()
	for _, q := range []string{"CURATED-c", "  curated-c ", string(s.crawler), strings.ToLower(string(s.crawler))} {
		if _, found := s.get(t, s.at("/palette?q="+url.QueryEscape(q))); !strings.Contains(found, crawler) || strings.Contains(found, job) {
			t.Errorf("%q finds %s\nwant the crawler alone", q, found)
		}
	}
	if _, found := s.get(t, s.at("/palette?q=minio")); !strings.Contains(found, "No job or crawler has that name.") {
		t.Errorf("the name of a connection finds %s", found)
	}
}

func TestTheEditorDrawsTheDraftAndEscapesNames(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	job, crawler := s.cards()

	status, body := s.get(t, s.at("?node="+string(daily)))

	for _, want := range []string{
		`id="node-` + job + `"`, `id="node-` + crawler + `"`, `data-trigger="` + string(after) + `"`, "on success",
		"raw-to-curated &lt;script&gt;", "Never published", "5 changes not published", "Valid", "Next starts", "cron(0 2 * * ? *)",
		`data-block="scheduled"`, `data-card="` + crawler + `"`, ">daily 02:00 UTC<",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the editor (%d) lacks %q", status, want)
		}
	}
	if strings.Contains(body, "<script>alert") {
		t.Error("the editor holds a name as markup")
	}
}

// Case E04: the server refuses a loop whatever the canvas thought, and names it.
func TestE04TheServerRefusesALoopByName(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	job, crawler := s.cards()

	status, answer := s.patch(t, 5, draft.Op{Kind: draft.Connect, Card: crawler, To: job, Trigger: "01KBA5ZC9J6Q0V5W3D8M7N2P5C"})

	message := fmt.Sprint(answer["message"])
	if status != http.StatusUnprocessableEntity || answer["code"] != "cycle" || !strings.Contains(message, "already runs before curated-crawler") {
		t.Errorf("PATCH = %d %v, want 422 cycle that names the way", status, answer)
	}
	if path, ok := answer["path"].([]any); !ok || len(path) != 3 {
		t.Errorf("path = %v, want the job, the trigger and the crawler", answer["path"])
	}
}

// Case E01: a tab that is behind keeps its edit and learns of the other's.
func TestE01ATabThatIsBehindCatchesUp(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	job, _ := s.cards()

	status, answer := s.patch(t, 3, draft.Op{ID: "late", Kind: draft.Move, Move: map[string]engine.Point{job: {X: 310, Y: 90}}})
	again, same := s.patch(t, 3, draft.Op{ID: "late", Kind: draft.Move, Move: map[string]engine.Point{job: {X: 310, Y: 90}}})

	if entries, _ := answer["entries"].([]any); status != http.StatusOK || len(entries) != 3 || answer["seq"] != 6.0 {
		t.Errorf("PATCH = %d %v, want 200 with the three entries since 3", status, answer)
	}
	if again != http.StatusOK || same["seq"] != 6.0 {
		t.Errorf("the repeat = %d at %v, want 200 at 6: nothing done twice", again, same["seq"])
	}
}

func TestATriggerIsChangedFieldByField(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	card := s.at("/cards/" + string(daily))
	seen := url.Values{"seen.name": {"Daily"}, "seen.schedule": {"cron(0 2 * * ? *)"}, "seen.zone": {""}, "enabled": {"yes"}}
	with := func(field, typed string) url.Values {
		form := url.Values{"name": {"Daily"}, "schedule": {"cron(0 2 * * ? *)"}, "zone": {""}}
		maps.Copy(form, seen)
		form.Set(field, typed)
		return form
	}

	wrong, broken := s.change(t, card, with("schedule", "cron(0 2 * *)"))
	nowhere, unknown := s.change(t, card, with("zone", "Mars/Olympus"))
	named, _ := s.change(t, card, with("name", "Nightly"))
	zoned, panel := s.change(t, card, with("zone", "Europe/Berlin")) // from a page that has not seen the name
	late, conflict := s.change(t, card, with("name", "Hourly"))

	if wrong != 422 || !strings.Contains(broken, `id="schedule.error"`) || !strings.Contains(broken, "cron(0 2 * *)") {
		t.Errorf("a broken schedule = %d, want 422 that keeps what was typed", wrong)
	}
	if nowhere != 422 || !strings.Contains(unknown, "Mars/Olympus") {
		t.Errorf("an unknown zone = %d, want 422 that names it", nowhere)
	}
	if named != 200 || zoned != 200 || !strings.Contains(panel, `value="Nightly"`) || !strings.Contains(panel, `value="Europe/Berlin"`) {
		t.Errorf("name, zone = %d, %d, want both kept", named, zoned)
	}
	if late != 409 || !strings.Contains(conflict, "was changed meanwhile") {
		t.Errorf("a name over a name = %d, want 409", late)
	}
}

// TestADroppedScheduleSaysWhenItFires: the canvas learns the words with the
// answer to its drop.
func TestADroppedScheduleSaysWhenItFires(t *testing.T) {
	t.Parallel()
	s := edit(t)

	_, answer := s.patch(t, 0, draft.Op{Kind: draft.AddTrigger, New: &engine.Trigger{ID: daily, Name: "Daily", Type: engine.Scheduled, Schedule: "cron(0/15 * * * ? *)", Zone: "Europe/Paris"}})

	infos, _ := answer["infos"].(map[string]any)
	info, _ := infos[string(daily)].(map[string]any)
	if want := "every 15 min Europe/Paris"; info["sub"] != want {
		t.Errorf("the answer says %v of the schedule, want %q", info, want)
	}
}

// TestARefusedFormKnowsWhatThePersonSaw: a schedule that was refused, corrected
// and sent again is saved; one that somebody else changed meanwhile is not
// overwritten unseen, and is after the person was told.
func TestARefusedFormKnowsWhatThePersonSaw(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	card := s.at("/cards/" + string(daily))
	again := func(panel, typed string) url.Values {
		form := url.Values{"schedule": {typed}, "enabled": {"yes"}}
		for _, field := range []string{"name", "seen.name", "seen.schedule", "seen.zone", "seen.missed", "seen.overlap"} {
			form.Set(field, value(t, panel, field))
		}
		return form
	}
	saved := func() string {
		d, err := s.store.Draft(t.Context(), s.workflow)
		must(t, err)
		return d.Body.Trigger(daily).Schedule
	}
	_, panel := s.get(t, card)

	refused, panel := s.change(t, card, again(panel, "*/5 * * * *"))
	corrected, fresh := s.change(t, card, again(panel, "cron(0 3 * * ? *)"))
	first := saved()
	late, panel := s.change(t, card, again(panel, "cron(0 4 * * ? *)")) // a tab that has not seen the save
	told, _ := s.change(t, card, again(panel, "cron(0 4 * * ? *)"))

	if refused != 422 || corrected != 200 || first != "cron(0 3 * * ? *)" || !strings.Contains(fresh, first) {
		t.Errorf("refused %d, corrected %d, saved %s; want 422, 200 and the corrected schedule", refused, corrected, first)
	}
	if late != 409 || told != 200 || saved() != "cron(0 4 * * ? *)" {
		t.Errorf("a late change = %d, and once told = %d with %s; want 409, then 200 and saved", late, told, saved())
	}
}

// TestAScheduleSaysWhatBecomesOfTimesThatCannotRun: missed and overlapping
// ones, and of the last due times which run came of them or why none did.
func TestAScheduleSaysWhatBecomesOfTimesThatCannotRun(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	card := s.at("/cards/" + string(daily))
	form := url.Values{
		"name": {"Daily"}, "seen.name": {"Daily"}, "schedule": {"cron(0 2 * * ? *)"}, "seen.schedule": {"cron(0 2 * * ? *)"}, "enabled": {"yes"},
		"missed": {"latest"}, "seen.missed": {""}, "overlap": {"queue"}, "seen.overlap": {""},
	}

	saved, panel := s.change(t, card, form)
	form.Set("missed", "sometimes")
	form.Set("seen.missed", "latest")
	form.Set("seen.overlap", "queue")
	wrong, refused := s.change(t, card, form)
	_, err := s.store.PublishWorkflow(t.Context(), s.workflow, 6, nil, "owner", noon, func(engine.Trigger) time.Time { return noon.Add(-time.Hour) })
	must(t, err)
	must(t, s.store.SkipFire(t.Context(), flow.Fire{Trigger: daily, Due: noon.Add(-time.Hour), Next: noon.Add(time.Hour), Note: "as many runs as it may " + odd}))
	_, ticks := s.get(t, card)

	contains(t, "the panel", panel, `<option value="latest" selected>`, `<option value="queue" selected>`)
	contains(t, "a refusal", refused, "there is no &#34;sometimes&#34;")
	contains(t, "the panel with ticks", ticks, "Last due times", "no run", "as many runs as it may &lt;script&gt;")
	if saved != http.StatusOK || wrong/100 != 4 {
		t.Errorf("saved %d, wrong %d, want 200 and a refusal", saved, wrong)
	}
	w, err := s.store.Workflow(t.Context(), s.workflow)
	must(t, err)
	if made := w.Trigger(daily); made.Missed != engine.MissedLatest || made.Overlap != engine.OverlapQueue {
		t.Errorf("published %+v, want the last missed time run and overlaps queued", made)
	}
}

// TestNextStartsCountOncePublished: that they do not yet is said only while the
// schedule is another one than is published. They stand in its own zone.
func TestNextStartsCountOncePublished(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	card := s.at("/cards/" + string(daily))
	const planned = "They count once the workflow is published."

	_, first := s.get(t, card)
	_, err := s.store.PublishWorkflow(t.Context(), s.workflow, 5, nil, "owner", noon, func(engine.Trigger) time.Time { return noon })
	must(t, err)
	_, published := s.get(t, card)
	form := url.Values{
		"name": {"Nightly"}, "seen.name": {"Daily"}, "schedule": {"cron(0 2 * * ? *)"}, "seen.schedule": {"cron(0 2 * * ? *)"}, "enabled": {"yes"},
		"zone": {""}, "seen.zone": {""}, "missed": {""}, "seen.missed": {""}, "overlap": {""}, "seen.overlap": {""},
	}
	_, renamed := s.change(t, card, form)
	form.Set("seen.name", "Nightly")
	form.Set("zone", "Europe/Berlin")
	_, moved := s.change(t, card, form)

	contains(t, "a schedule that was never published", first, planned, "02:00 UTC", "In the schedule&#39;s zone, UTC.")
	contains(t, "a schedule in another zone", moved, planned, "02:00 CET", "In the schedule&#39;s zone, Europe/Berlin.")
	for about, panel := range map[string]string{"a published schedule": published, "a new name alone": renamed} {
		contains(t, about, panel, "Next starts")
		if strings.Contains(panel, planned) {
			t.Errorf("of %s it says that it does not count yet", about)
		}
	}
}

// TestThePublishDialogWarnsOfASecondClock, as an import does, and not of the first.
func TestThePublishDialogWarnsOfASecondClock(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)

	_, first := s.get(t, s.at("/publish"))
	id, err := s.store.CreateWorkflow(t.Context(), "nightly", engine.WorkflowBody{Triggers: []engine.Trigger{{
		ID: engine.NewID(noon), Name: "at night", Type: engine.Scheduled, Schedule: "cron(0 2 * * ? *)", Actions: []engine.Action{{Ref: engine.Ref{Kind: engine.KindJob, ID: s.job}}},
	}}}, "owner", noon)
	must(t, err)
	_, err = s.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", noon, func(engine.Trigger) time.Time { return noon })
	must(t, err)
	_, second := s.get(t, s.at("/publish"))

	if strings.Contains(first, "started twice") {
		t.Errorf("the only clock is warned of:\n%s", first)
	}
	contains(t, "the dialog", second, "With the trigger Daily, the job raw-to-curated", "is started twice: the workflow nightly starts it by itself already.")
}

func TestPublishSaysWhatItChangesAndDoesExactlyThat(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)

	_, dialog := s.get(t, s.at("/publish"))
	stale, _ := s.change(t, s.at("/publish"), url.Values{"seq": {"4"}})
	form := url.Values{"seq": {value(t, dialog, "seq")}, "with": {"crawler-" + string(s.crawler)}}
	status, _ := s.change(t, s.at("/publish"), form)

	for _, want := range []string{"Trigger Daily", "Crawler curated-crawler", "Job raw-to-curated", "First version"} {
		if !strings.Contains(dialog, want) {
			t.Errorf("the dialog lacks %q", want)
		}
	}
	made, err := s.store.Workflow(t.Context(), s.workflow)
	must(t, err)
	crawler, err := s.store.CrawlerDraft(t.Context(), s.crawler)
	must(t, err)
	if stale != http.StatusConflict || status != http.StatusOK || made.Version != 1 || len(made.Triggers) != 2 || crawler.Open {
		t.Errorf("stale %d, publish %d: v%d, %d triggers, crawler open %v; want 409, 200, v1, 2, false",
			stale, status, made.Version, len(made.Triggers), crawler.Open)
	}
	if _, head := s.get(t, s.at("/head")); strings.Contains(head, "not published") {
		t.Error("after the publish the head still counts changes")
	}
}

// TestAPublishOfOneChangedJobSaysSo: it is no new version of the workflow, and
// the dialog says what changes in the job.
func TestAPublishOfOneChangedJobSaysSo(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	job, crawler := s.cards()
	first, _ := s.change(t, s.at("/publish"), url.Values{"seq": {"5"}, "with": {job, crawler}})
	made, err := s.store.JobDraft(t.Context(), s.job)
	must(t, err)
	made.Body.Timeout = 7
	_, err = s.store.SaveJobDraft(t.Context(), s.job, made.Body, made.Seq, "owner", noon)
	must(t, err)

	_, dialog := s.get(t, s.at("/publish"))

	contains(t, "the dialog", dialog, ">Publish 1 changed job<", "Timeout, min:", "<ins>7</ins>")
	if first != http.StatusOK || strings.Contains(dialog, "Publish v2") {
		t.Errorf("publish %d; the dialog speaks of v2: %v, want 200 and no new version", first, strings.Contains(dialog, "Publish v2"))
	}
}

func TestADraftWithProblemsIsNotPublished(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.patch(t, 0, draft.Op{Kind: draft.AddTrigger, New: &engine.Trigger{ID: daily, Name: "Lonely", Type: engine.OnDemand}})

	_, head := s.get(t, s.at("/head"))
	status, body := s.change(t, s.at("/publish"), url.Values{"seq": {"1"}})

	if want := "Lonely starts nothing yet"; !strings.Contains(head, want) || status != 422 || !strings.Contains(body, want) {
		t.Errorf("publish = %d %s, want 422 and a head, both saying %q", status, body, want)
	}
}

// TestAJobThatCannotRunIsNotPublished: what is wrong in a new job is a problem
// of its card, and nothing on the canvas is not a valid workflow.
func TestAJobThatCannotRunIsNotPublished(t *testing.T) {
	t.Parallel()
	s := edit(t)
	_, empty := s.get(t, s.at("/head"))
	body := engine.JobBody{Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, SQL: &engine.SQLJob{
		Sources: []engine.Source{{Name: "sales", Path: "/etc/passwd"}}, Sinks: []engine.Sink{{From: "sales"}},
	}}
	id, err := s.store.CreateJob(t.Context(), "half-done", body, "owner", noon)
	must(t, err)
	s.patch(t, 0, draft.Op{Kind: draft.AddTrigger, New: &engine.Trigger{ID: daily, Name: "By hand", Type: engine.OnDemand}},
		draft.Op{Kind: draft.AddNode, Card: "job-" + string(id)}, draft.Op{Kind: draft.Connect, Card: string(daily), To: "job-" + string(id)})

	_, head := s.get(t, s.at("/head"))
	status, answer := s.change(t, s.at("/publish"), url.Values{"seq": {"3"}, "with": {"job-" + string(id)}})

	if strings.Contains(empty, "Valid") || !strings.Contains(empty, "Empty") {
		t.Error("an empty workflow is not called Empty")
	}
	contains(t, "the head", head, "1 problem", `data-jump="job-`+string(id)+`"`, "half-done: Say where to write", "half-done: /etc/passwd may not be used")
	if status != 422 || !strings.Contains(answer, "half-done: Say where to write") {
		t.Errorf("publish = %d %s, want 422 that says what is missing", status, answer)
	}
	if w, err := s.store.Workflow(t.Context(), s.workflow); err != nil || w.Version != 0 {
		t.Errorf("published v%d (%v), want nothing", w.Version, err)
	}
}

func TestPropertiesAreSavedAndUndeclaredOnesAreAProblem(t *testing.T) {
	t.Parallel()
	s := edit(t)

	bad, page := s.change(t, s.at("/panel"), url.Values{"properties": {"no sign"}, "seen.max_runs": {"0"}})
	good, _ := s.change(t, s.at("/panel"), url.Values{"properties": {"Day={{due.date}}\nRegion=eu=west"}, "max_runs": {"2"}, "seen.max_runs": {"0"}})

	made, err := s.store.Draft(t.Context(), s.workflow)
	must(t, err)
	if bad != 422 || !strings.Contains(page, "Write each property as Name=value") || !strings.Contains(page, "no sign") {
		t.Errorf("a line without a sign = %d, want 422 that keeps it", bad)
	}
	if good != 200 || made.Body.Properties["Region"] != "eu=west" || made.Body.MaxRuns != 2 {
		t.Errorf("POST = %d, draft %+v, want both kept", good, made.Body)
	}
}

func TestTheShortFormOfAJobKeepsTheRestOfIt(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	card := s.at("/cards/job-" + string(s.job))
	_, panel := s.get(t, card)
	form := url.Values{
		"name": {"renamed"}, "base": {value(t, panel, "base")}, "bookmark": {"paused"}, "step.0.name": {"out"}, "step.0.sql": {"SELECT 1"},
		"source.0.rest": {value(t, panel, "source.0.rest")}, "source.0.name": {"sales"}, "source.0.path": {"/data/sales/*.csv"}, "source.0.format": {"csv"},
		"sink.0.rest": {value(t, panel, "sink.0.rest")}, "sink.0.from": {"out"}, "sink.0.path": {"/out"}, "sink.0.mode": {"merge"}, "sink.0.keys": {"order_id"},
	}

	status, answer := s.change(t, card, form)

	made, err := s.store.JobDraft(t.Context(), s.job)
	must(t, err)
	if status != 200 || !strings.Contains(answer, "Saved in the draft") || made.Name != "renamed" || made.Body.Bookmark != engine.BookmarkPaused {
		t.Errorf("POST = %d, job %q, bookmark %s; want 200, renamed, paused", status, made.Name, made.Body.Bookmark)
	}
	if source := made.Body.SQL.Sources[0]; source.Ctx != "sales_csv" || len(source.Schema) != 1 {
		t.Errorf("source = %+v, want its context and columns kept", source)
	}
}
