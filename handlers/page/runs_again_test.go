package page_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/handlers/page"
)

// TestRunAgainOffersTheProperties, filled in, to be changed; what events told the run
// stays as it was.
func TestRunAgainOffersTheProperties(t *testing.T) {
	t.Parallel()
	s, e := edit(t), &orders{}
	id := s.drawn(t, engine.Trigger{Name: "by hand", Type: engine.OnDemand})
	s.shape = func(r *engine.Run) {
		ended(r)
		r.Object, r.Properties = id, map[string]string{"Day": "1 " + odd, "Region": "eu", arrival.EventsProperty: "[1]"}
	}
	s.open(t, page.Config{Store: world{s.store, s}, Exec: e})
	path := "/runs/" + string(runID) + "/again"

	_, head := s.get(t, "/runs/"+string(runID)+"/head")
	asked, dialog := s.change(t, path, url.Values{})
	before := len(e.got)
	started, _ := s.change(t, path, url.Values{"sure": {"yes"}, "property.Day": {"2"}, "seen.Day": {"1 " + odd}, "property.Region": {"eu"}, "seen.Region": {"eu"}})
	refused, again := s.change(t, path, url.Values{"sure": {"yes"}, "property.Day": {"{{due.date}}"}, "seen.Day": {"1"}})

	contains(t, "the head", head, "Run again")
	contains(t, "the dialog", dialog, "once more, also what has succeeded, as it is published now, v1", `name="property.Day" rows="1" spellcheck="false">1 &lt;script&gt;`, `name="property.Region"`, "Set by what started the run")
	if asked != http.StatusOK || before != 0 || strings.Contains(dialog, `name="property.`+arrival.EventsProperty) {
		t.Errorf("the first press = %d and started %d runs, want a dialog and none", asked, before)
	}
	want := map[string]string{"Day": "2", "Region": "eu", arrival.EventsProperty: "[1]"}
	if started != http.StatusOK || len(e.got) != 1 || !maps.Equal(e.got[0].Properties, want) || e.got[0].Again != runID {
		t.Errorf("the dialog = %d and started %+v, want one run with %v", started, e.got, want)
	}
	contains(t, "the refused dialog", again, "taken to the letter", ">{{due.date}}</textarea>")
	if refused != http.StatusUnprocessableEntity {
		t.Errorf("a placeholder = %d, want 422", refused)
	}
}

// TestRunAgainSaysFirstWhatItDoes, of each job as it is published now: also where there
// is no property to ask for.
func TestRunAgainSaysFirstWhatItDoes(t *testing.T) {
	t.Parallel()
	job := func(bookmark engine.BookmarkMode, read engine.ReadMode, mode engine.WriteMode) engine.JobBody {
		return engine.JobBody{Kind: engine.JobSQL, Bookmark: bookmark, SQL: &engine.SQLJob{
			Sources: []engine.Source{{Name: "in", Path: "/in/*.csv", Format: engine.CSV, Read: read}}, Sinks: []engine.Sink{{From: "in", Path: "/out", Mode: mode}},
		}}
	}
	const doubles = "rows may stand there twice"
	for name, tt := range map[string]struct {
		job     engine.JobBody
		pick    *engine.Selection
		want    string
		doubles bool
	}{
		"by its bookmark":     {job(engine.BookmarkOn, engine.ReadNew, engine.Append), nil, "Reads what is new since its bookmark", false},
		"without a bookmark":  {job(engine.BookmarkOff, engine.ReadNew, engine.Append), nil, "also what was read before", true},
		"without a mode":      {job(engine.BookmarkOff, engine.ReadNew, ""), nil, "also what was read before", true},
		"whole each time":     {job(engine.BookmarkOn, engine.ReadAll, engine.Replace), nil, "also what was read before", false},
		"chosen files":        {job(engine.BookmarkOn, engine.ReadNew, engine.Append), &engine.Selection{Keys: []string{"a.csv"}}, "Reads again: ", true},
		"a script of its own": {engine.JobBody{Kind: engine.JobPython, Bookmark: engine.BookmarkOff, Script: &engine.ScriptJob{Body: "x"}}, nil, "Runs its script again", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, e := serve(t), &orders{}
			id, err := s.store.CreateJob(t.Context(), "load", tt.job, "owner", noon)
			must(t, err)
			_, err = s.store.PublishJob(t.Context(), id, "owner", noon)
			must(t, err)
			s.shape = func(r *engine.Run) {
				ended(r)
				r.Kind, r.Object, r.Properties, r.Pick = engine.RunJob, id, nil, tt.pick
			}
			s.open(t, page.Config{Store: world{s.store, s}, Exec: e})

			status, dialog := s.change(t, "/runs/"+string(runID)+"/again", url.Values{})

			contains(t, "the dialog", dialog, ">load</b>", tt.want)
			if status != http.StatusOK || len(e.got) != 0 || strings.Contains(dialog, doubles) != tt.doubles {
				t.Errorf("POST = %d and started %d runs; says of rows twice: %t, want a question that says %t", status, len(e.got), strings.Contains(dialog, doubles), tt.doubles)
			}
		})
	}
}

// TestARunThatIsRunAgainSaysWhatIsOther than in the run that it does once more.
func TestARunThatIsRunAgainSaysWhatIsOther(t *testing.T) {
	t.Parallel()
	first := true
	s, _ := steered(t, func(r *engine.Run) {
		r.Properties = map[string]string{"Day": "1", "Region": "eu"}
		if first { // the store has one run: it is asked for first, the earlier one after it
			r.Repeats, r.Properties = batchID, map[string]string{"Day": "2", "Region": "eu"}
		}
		first = !first
	})

	_, timeline := s.get(t, "/runs/"+string(runID)+"/timeline")

	contains(t, "the timeline", timeline, "once more, with other properties: Day.")
}
