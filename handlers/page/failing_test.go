package page_test

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/engine/portable"
	"dogear/engine/schedule"
	"dogear/handlers/page"
)

// breakJob gives the job of the site a draft whose text no run can take.
func (s *site) breakJob(t *testing.T) {
	t.Helper()
	made, err := s.store.JobDraft(t.Context(), s.job)
	must(t, err)
	sql := *made.Body.SQL
	sql.Steps = []engine.Step{{Name: "out", SQL: "SELECT *\n" + mistake + " sales"}}
	made.Body.SQL = &sql
	_, err = s.store.SaveJobDraft(t.Context(), s.job, made.Body, made.Seq, "owner", noon)
	must(t, err)
}

// A job that would fail in its next run can be published, but not without a word:
// the dialog says what and where, and the editor and the job do too.
func TestAPublishSaysWhatTheNextRunWouldFailOf(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	job, crawler := s.cards()
	says := "The step out at line 1: " + mistake + "."
	_, good := s.get(t, s.at("/publish?then=run"))
	s.breakJob(t)

	_, asked := s.get(t, s.at("/publish?then=run"))
	_, head := s.get(t, s.at("/head"))
	_, panel := s.get(t, s.at("/cards/"+job))
	_, whole := s.get(t, "/jobs/"+string(s.job))
	status, _ := s.change(t, s.at("/publish"), url.Values{"seq": {"5"}, "with": {job}})
	_, after := s.get(t, s.at("/head"))

	if strings.Contains(good, "would fail") || !strings.Contains(good, "Publish and run") || strings.Contains(good, "anyway") {
		t.Errorf("the dialog of a good job warns:\n%s", good)
	}
	contains(t, "the dialog", asked, "The next run would fail of this:", says, "Publish and run anyway")
	contains(t, "the head", head, "1 warning", says, "node="+job)
	contains(t, "the panel", panel, `id="step.0.sql.failing"`, says)
	contains(t, "the page of the job", whole, `id="step.0.sql.failing"`, says)
	if strings.Contains(head, "problem<") || status != http.StatusOK {
		t.Errorf("the publish = %d, want 200: it is a warning", status)
	}
	contains(t, "the head afterwards", after, "1 warning", says)
	if strings.Contains(head, crawler+`">`+says) {
		t.Error("the warning stands at the crawler")
	}
}

// unread is a job whose columns nobody has read, which are known from then on.
type unread struct {
	data
	known bool
}

func (u *unread) Columns(context.Context, engine.JobBody) (map[string][]engine.Column, error) {
	u.known = true
	return nil, nil
}

func (u *unread) Known(context.Context, *engine.JobBody) bool { return u.known }

func (u *unread) Faults(_ context.Context, jobs []*engine.JobBody) [][]engine.Fault {
	found := make([][]engine.Fault, len(jobs))
	for i := range jobs {
		if u.known {
			found[i] = []engine.Fault{{Field: "step.0.sql", Message: "The step out at line 1, column 8: there is no column nmae. Did you mean name?"}}
		}
	}
	return found
}

// A misspelt column is seen only where the columns of the sources are known: the
// dialog of a publish and the panel of the job read them where nobody has before.
func TestWhoPublishesLearnsOfAMisspeltColumnThatNobodyHasReadYet(t *testing.T) {
	t.Parallel()
	const says = "line 1, column 8: there is no column nmae. Did you mean name?"
	for name, test := range map[string]func(s *site, job string) string{
		"the dialog": func(s *site, _ string) string {
			_, dialog := s.get(t, s.at("/publish"))
			return dialog
		},
		"the panel": func(s *site, job string) string {
			_, panel := s.get(t, s.at("/cards/"+job))
			contains(t, "the panel", panel, s.at("/cards/"+job+"/fails"), `hx-trigger="load"`)
			_, answer := s.change(t, s.at("/cards/"+job+"/fails"), url.Values{"read": {"yes"}, "step.0.name": {"out"}, "step.0.sql": {"SELECT nmae FROM sale"}})
			return answer
		},
	} {
		s := edit(t)
		names, now := &unread{}, func() time.Time { return noon }
		s.open(t, page.Config{
			Store: world{s.store, s}, Bookmarks: moves{s: s}, Logs: s, SQL: names, Syntax: names, Places: places{}, Schedules: schedule.Rules{}, Next: next,
			Drafts: draft.NewService(s.store, s.store, func(engine.ID, []draft.Entry) {}, now),
		})
		s.pipeline(t)
		s.breakJob(t)
		job, _ := s.cards()

		contains(t, name, test(s, job), says)
	}
}

// What is said of a text follows what is typed, and saves nothing.
func TestWhatIsWrongIsSaidOfWhatIsTyped(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	s.breakJob(t)
	card, _ := s.cards()
	before, err := s.store.JobDraft(t.Context(), s.job)
	must(t, err)
	for _, at := range []string{s.at("/cards/" + card + "/fails"), "/jobs/" + string(s.job) + "/fails"} {
		typed := url.Values{"name": {"x"}, "step.0.name": {"out"}, "step.0.sql": {"SELECT 1"}, "step.1.name": {"on"}, "step.1.sql": {mistake}}

		status, answer := s.change(t, at, typed)

		contains(t, at, answer, `data-fails="step.0.sql" hx-swap-oob=`, "The step on at line 1: "+mistake, `data-wrong-line="1"`)
		if status != http.StatusOK || strings.Contains(answer, "The step out") {
			t.Errorf("POST %s = %d and says\n%s\nwant nothing of the step that was corrected", at, status, answer)
		}
	}
	if after, err := s.store.JobDraft(t.Context(), s.job); err != nil || after.Seq != before.Seq || after.Name != before.Name {
		t.Errorf("the draft is at %d with the name %s (%v), want it as it was", after.Seq, after.Name, err)
	}
}

// Save and publish of a job asks once; what was typed is neither saved nor lost
// until then. Saving the draft asks nothing.
func TestAJobIsPublishedAnywayOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	s := serve(t)
	_, form := s.get(t, "/jobs/"+string(s.job))
	values := url.Values{
		"name": {"renamed"}, "bookmark": {"enabled"}, "base": {value(t, form, "base")},
		"source.0.rest": {value(t, form, "source.0.rest")}, "source.0.name": {"sales"}, "source.0.path": {"/data/sales/*.csv"}, "source.0.format": {"csv"},
		"step.0.name": {"out"}, "step.0.sql": {"SELECT * " + mistake + " sales"}, "sink.0.from": {"out"}, "sink.0.path": {"/out"}, "sink.0.mode": {"append"},
		"then": {"publish"},
	}

	refused, answer := s.change(t, "/jobs/"+string(s.job), values)
	before, err := s.store.JobDraft(t.Context(), s.job)
	must(t, err)
	values.Set("then", "publish-anyway")
	status, _ := s.change(t, "/jobs/"+string(s.job), values)
	saved, err := s.store.Job(t.Context(), s.job)
	must(t, err)
	seen, err := s.store.JobDraft(t.Context(), s.job)
	must(t, err)
	values.Set("base", strconv.FormatInt(seen.Seq, 10))
	values.Set("then", "draft")
	kept, _ := s.change(t, "/jobs/"+string(s.job), values)

	contains(t, "the answer", answer, "Nothing was saved or published yet", `value="publish-anyway"`, `value="renamed"`, "The step out at line 1: "+mistake)
	if refused != http.StatusUnprocessableEntity || before.Name == "renamed" || before.Open {
		t.Errorf("publish = %d with the draft %+v, want 422 and nothing saved", refused, before.Head)
	}
	if status != http.StatusOK || saved.Version != 2 || !strings.Contains(saved.SQL.Steps[0].SQL, mistake) {
		t.Errorf("publish anyway = %d, v%d; want 200 and v2", status, saved.Version)
	}
	if kept != http.StatusOK {
		t.Errorf("saving the draft = %d, want 200", kept)
	}
}

// What an import would change stands in its preview: of the workflow, and of each
// job line by line, with what a run would fail of.
func TestAnImportIsShownWithWhatItChanges(t *testing.T) {
	t.Parallel()
	s := serve(t)
	now := func() time.Time { return noon }
	s.open(t, page.Config{
		Store: world{s.store, s}, Bookmarks: moves{s: s}, Logs: s, SQL: data{}, Places: places{},
		Drafts: draft.NewService(s.store, s.store, func(engine.ID, []draft.Entry) {}, now),
		Portable: &portable.Service{
			Store: s.store, Now: now, Fails: texts{}.Faults, Next: func(engine.Trigger, time.Time) time.Time { return time.Time{} },
		},
	})
	text := `dogear: 1
workflow:
  name: shown
  properties: {Day: "1"}
  triggers:
    - {name: by hand, type: on_demand, start: [{job: load}]}
jobs:
  - name: load
    kind: sql
    bookmark: enabled
    sources: [{name: "in", path: /data/*.csv}]
    steps:
      - name: out
        sql: "SELECT a,\n  b\nFROM \"in\""
    sinks: [{from: out, path: /out}]
`
	if made, body := s.upload(t, text); made.StatusCode != http.StatusOK {
		t.Fatalf("import = %d %s", made.StatusCode, body)
	}
	changed := strings.NewReplacer(`Day: "1"`, `Day: "2"`, `  b\n`, `  <c>\n`, "FROM", mistake).Replace(text)

	_, preview := s.sendFile(t, "/workflows/import/preview", changed, "")

	contains(t, "the preview", preview, "Would be changed: 2",
		"<b>Changed</b> Property Day", "<del>1</del> →  <ins>2</ins>",
		"Step out SQL:", "<del><b>−</b>  b</del>", "<ins><b>+</b>  &lt;c&gt;</ins>", "<span><b> </b>SELECT a,</span>",
		"Its next run would fail. The step out at line 1: "+mistake+".", "Import and publish anyway")
	if strings.Contains(preview, "<c>") {
		t.Error("the preview holds SQL as markup")
	}
}
