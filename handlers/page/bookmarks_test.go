package page_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	rules "dogear/engine/bookmark"
	"dogear/engine/exec"
	"dogear/handlers/page"
)

// shelf is a source of five files, one a day up to yesterday, and of some before.
type shelf struct{ before int }

func (shelf) Root(src engine.Source) string { return src.Path }

func (s shelf) List(context.Context, engine.Source) iter.Seq2[rules.Listed, error] {
	return func(yield func(rules.Listed, error) bool) {
		for day := -s.before; day < 5; day++ {
			at := noon.AddDate(0, 0, day-5)
			o := engine.Object{Key: at.Format(time.DateOnly) + ".csv", Size: 1000, ModNS: at.UnixNano(), ETag: "e"}
			if !yield(rules.Listed{Object: o}, nil) {
				return
			}
		}
	}
}

// starts records what it is asked to start.
type starts struct {
	page.Exec
	pick *engine.Selection
}

func (s *starts) Start(_ context.Context, o exec.Order) (engine.Run, error) {
	s.pick = o.Pick
	return engine.Run{ID: runID}, nil
}

// marked is the screens over a store and the real rules, with a bookmark that
// was set to now once all five files were there.
type marked struct {
	*site
	rules *rules.Service
	exec  *starts
	mark  engine.Bookmark
}

func mark(t *testing.T) *marked {
	t.Helper()
	m := &marked{site: serve(t), exec: &starts{}}
	m.rules = &rules.Service{
		Store: m.store, Planner: &rules.Planner{Ledger: m.store, Lister: shelf{}, Tables: m.store}, Now: func() time.Time { return noon },
	}
	m.open(t, page.Config{Store: m.store, Exec: m.exec, Bookmarks: m.rules})
	opened, err := m.rules.Open(t.Context(), m.job, "sales_csv")
	must(t, err)
	m.mark, err = m.rules.Make(t.Context(), opened.ID, rules.Move{Kind: engine.MoveSetNow}, "owner")
	must(t, err)
	return m
}

func (m *marked) at(tail string) string { return "/bookmarks/" + string(m.mark.ID) + tail }

// now is the bookmark as it stands.
func (m *marked) now(t *testing.T) engine.Bookmark {
	t.Helper()
	b, err := m.store.Bookmark(t.Context(), m.mark.ID)
	must(t, err)
	return b
}

// fragment asks as htmx does.
func (m *marked) fragment(t *testing.T, path string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.server.URL+path, nil)
	must(t, err)
	request.Header.Set("HX-Request", "true")
	return m.do(t, request)
}

func contains(t *testing.T, what, body string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(body, want) {
			t.Errorf("%s lacks %q: %s", what, want, body)
		}
	}
}

// TestDraggingTheMarkBackReadsThoseDaysAgain: the dialog says how many files
// come again, and either the bookmark moves or a run reads them beside it.
func TestDraggingTheMarkBackReadsThoseDaysAgain(t *testing.T) {
	t.Parallel()
	m := mark(t)
	days := "since=2026-11-26T00:00:00Z&until=2026-11-28T00:00:00Z"

	_, source := m.get(t, m.at("/source"))
	_, dialog := m.get(t, m.at("/preview/read_again?"+days))
	form, err := url.ParseQuery(days)
	must(t, err)
	beside, _ := m.change(t, m.at("/again"), form)
	stands := m.now(t)
	moved, _ := m.change(t, m.at("/read_again"), form)

	contains(t, "the progress", source, `data-from="2026-11-26T00:00:00Z"`, `data-before="2026-11-27T00:00:00Z"`, `role="slider"`, `aria-valuenow="5"`)
	contains(t, "the dialog", dialog, "The next run reads 2 files, 2.0 kB; 2 of them, 2.0 kB, were read before", "no row stands twice", `name="until" value="2026-11-28T00:00:00Z"`, "Read them now")
	if beside != http.StatusOK || m.exec.pick == nil || m.exec.pick.Words() != "written since 26 Nov 2026 00:00, written before 28 Nov 2026 00:00" || stands.Version != 1 {
		t.Errorf("beside the bookmark: %d with %+v at v%d, want those days and v1", beside, m.exec.pick, stands.Version)
	}
	if now := m.now(t); moved != http.StatusOK || now.Version != 2 || now.Files != 3 {
		t.Errorf("moved: %d, v%d with %d files, want v2 with 3", moved, now.Version, now.Files)
	}
	_, source = m.get(t, m.at("/source"))
	contains(t, "what waits then", source, "2 files", "2026-11-26.csv", "Read again", `aria-valuenow="3"`)
}

// TestADialogSpeaksOfTheVersionItWasWorkedOutFrom: what somebody else has moved
// meanwhile is not undone by who agreed to something else.
func TestADialogSpeaksOfTheVersionItWasWorkedOutFrom(t *testing.T) {
	t.Parallel()
	m := mark(t)
	_, dialog := m.get(t, m.at("/preview/undo"))
	moved, _ := m.change(t, m.at("/reset"), url.Values{})

	late, says := m.change(t, m.at("/undo"), url.Values{"seen": {"1"}})
	odd, _ := m.change(t, m.at("/undo"), url.Values{"seen": {"newest"}})

	contains(t, "the dialog", dialog, `name="seen" value="1"`)
	contains(t, "the answer", says, "has moved from v1 to v2", "Look at it again")
	if now := m.now(t); moved != http.StatusOK || late != http.StatusConflict || odd != http.StatusUnprocessableEntity || now.Version != 2 {
		t.Errorf("reset %d, late undo %d, odd undo %d, at v%d; want 200, 409, 422 and v2", moved, late, odd, now.Version)
	}
}

func TestAMoveThatCannotBeComesBackAsItWasFilledIn(t *testing.T) {
	t.Parallel()
	m := mark(t)
	tests := map[string][]string{
		"/preview/read_again?asked=form&pattern=none/*.csv":                      {"Nothing that counts as read fits none/*.csv", `value="none/*.csv"`},
		"/preview/read_again?asked=form":                                         {"Choose what is meant"},
		"/preview/hold?asked=form&since=2026-11-28&until=2026-11-20":             {"the second must be the later one", `value="2026-11-28"`},
		"/preview/release?asked=form&key=2026-11-23.csv":                         {"Nothing that is held fits", `value="2026-11-23.csv"`},
		"/preview/rewind?asked=form&to=&run=&at=":                                {"Choose one of these: a version, a run, a time"},
		"/preview/rewind?asked=form&to=1&at=2026-11-28T00:00":                    {"Choose one of these: a version, a run, a time", `value="2026-11-28T00:00"`},
		"/preview/rewind?asked=form&run=" + string(runID):                        {"did not move this bookmark"},
		"/preview/read_again?asked=form&since=" + url.QueryEscape(`"><script>x`): {"is not a day"},
	}
	for path, wants := range tests {
		status, body := m.fragment(t, m.at(path))

		if status != http.StatusUnprocessableEntity || strings.Contains(body, "<script>") {
			t.Errorf("GET %s = %d, want 422 and no markup of its own", path, status)
		}
		contains(t, path, body, append(wants, "See what it would do")...)
	}
	if now := m.now(t); now.Version != 1 {
		t.Errorf("the bookmark is at v%d, want v1: nothing was moved", now.Version)
	}
}

func TestARewindGoesToAVersionARunOrATime(t *testing.T) {
	t.Parallel()
	m := mark(t)

	_, form := m.get(t, m.at("/choose/rewind"))
	_, dialog := m.get(t, m.at("/preview/rewind?to=&run=&at=2026-11-01T00:00"))
	status, _ := m.change(t, m.at("/rewind"), url.Values{"to": {"0"}, "why": {"all anew"}})

	contains(t, "the form", form, "A version", "or as a run left it", "or as it stood at")
	contains(t, "the dialog", dialog, "Rewind to v0", "5 of them, 5.0 kB, were read before", `name="to" value="0"`, "Read again:", "2026-11-23.csv", "2026-11-27.csv")
	if strings.Contains(dialog, "New:") || strings.Contains(dialog, " more</li>") {
		t.Errorf("the dialog names files that are none: %s", dialog)
	}
	if now := m.now(t); status != http.StatusOK || now.Version != 2 || now.Files != 0 {
		t.Errorf("rewound: %d, v%d with %d files, want v2 with none", status, now.Version, now.Files)
	}
}

// Of many files the first are named, those that were read before apart from those
// that were not.
func TestAMoveNamesTheFirstFilesThatWouldBeRead(t *testing.T) {
	t.Parallel()
	m := mark(t)
	m.rules.Planner.Lister = shelf{before: 7} // that nobody has read
	_, reset := m.get(t, m.at("/preview/reset"))
	_, err := m.rules.Make(t.Context(), m.mark.ID, rules.Move{Kind: engine.MoveSetNow}, "owner")
	must(t, err)

	_, rewind := m.get(t, m.at("/preview/rewind?to=0"))
	_, again := m.get(t, m.at("/preview/read_again?key=2026-11-24.csv"))

	contains(t, "a reset", reset, "The next run reads 12 files, 12.0 kB; 5 of them, 5.0 kB, were read before.",
		"Read again:", `<span class="mono">2026-11-23.csv</span> <span class="tiny tabular">1.0 kB</span>`, "New:", "2026-11-16.csv", "2026-11-20.csv", "and 2 more")
	contains(t, "a rewind", rewind, "12 of them, 12.0 kB, were read before.", "2026-11-16.csv", "2026-11-20.csv", "and 7 more")
	contains(t, "one file", again, `<span class="mono">2026-11-24.csv</span>`)
	if strings.Contains(rewind, "2026-11-21.csv") || strings.Contains(rewind, "New:") || strings.Contains(again, "more</li>") {
		t.Errorf("more is named than the first files: %s", rewind)
	}
}

// TestAHeldFileIsListedWithAReleaseBesideIt: who holds it and why.
func TestAHeldFileIsListedWithAReleaseBesideIt(t *testing.T) {
	t.Parallel()
	m := mark(t)
	_, err := m.rules.Make(t.Context(), m.mark.ID, rules.Move{Kind: engine.MoveReset}, "owner")
	must(t, err)

	_, waits := m.get(t, m.at("/source"))
	_, dialog := m.get(t, m.at("/preview/hold?key=2026-11-23.csv"))
	held, _ := m.change(t, m.at("/hold"), url.Values{"key": {"2026-11-23.csv"}, "why": {"half a day is missing"}})
	_, listed := m.get(t, m.at("/source"))
	_, found := m.get(t, m.at("/lookup?key=2026-11-23"))
	released, _ := m.change(t, m.at("/release"), url.Values{"key": {"2026-11-23.csv"}})
	_, after := m.get(t, m.at("/source"))

	contains(t, "what waits", waits, "5 files", "/preview/hold?key=2026-11-23.csv")
	contains(t, "the dialog", dialog, "1 file held until released", "The next run reads 4 files")
	contains(t, "the list", listed, "4 files", "held by owner: half a day is missing", "/preview/release?key=2026-11-23.csv")
	contains(t, "the look-up", found, "Held", "/preview/release?key=2026-11-23.csv", "/story?key=2026-11-23.csv")
	contains(t, "after the release", after, "5 files")
	if held != http.StatusOK || released != http.StatusOK || strings.Contains(after, "/preview/release") {
		t.Errorf("held %d, released %d, want both made and nothing held", held, released)
	}
}

// TestB27AChangedSourceIsAskedAboutOnItsPage: with the two answers that there
// are.
func TestB27AChangedSourceIsAskedAboutOnItsPage(t *testing.T) {
	t.Parallel()
	for answer, files := range map[string]int64{"adopt": 5, "reset": 0} {
		m := mark(t)
		draft, err := m.store.JobDraft(t.Context(), m.job)
		must(t, err)
		draft.Body.SQL.Sources[0].Format = engine.JSON
		_, err = m.store.SaveJobDraft(t.Context(), m.job, draft.Body, draft.Seq, "owner", noon)
		must(t, err)
		_, err = m.store.PublishJob(t.Context(), m.job, "owner", noon)
		must(t, err)

		_, asks := m.get(t, m.at("/source"))
		_, dialog := m.get(t, m.at("/preview/"+answer))
		status, _ := m.change(t, m.at("/"+answer), url.Values{"why": {"only the format"}})
		_, after := m.get(t, m.at("/source"))

		contains(t, "the question", asks, "Is this the same source?", "/preview/adopt", "/preview/reset", "unknown")
		contains(t, "the dialog of "+answer, dialog, "The next run reads")
		if now := m.now(t); status != http.StatusOK || now.Files != files || strings.Contains(after, "Is this the same source?") {
			t.Errorf("%s: %d with %d files, want %d files and no more question", answer, status, now.Files, files)
		}
	}
}

func TestVersionsAreComparedAndThoseNoLongerKeptSaySo(t *testing.T) {
	t.Parallel()
	m := mark(t)
	_, err := m.rules.Make(t.Context(), m.mark.ID, rules.Move{Kind: engine.MoveReadAgain, Pick: engine.Selection{Keys: []string{"2026-11-24.csv"}}}, "owner")
	must(t, err)
	_, compared := m.get(t, m.at("/compare?from=1&to=2"))
	_, err = m.store.PruneMoves(t.Context(), noon.Add(time.Hour))
	must(t, err)

	_, pruned := m.get(t, m.at(""))
	status, _ := m.get(t, m.at("/compare?from=1&to=2"))

	contains(t, "the comparison", compared, "From v1 to v2", "2026-11-24.csv", "Read, 1.0 kB", "To be read again, 1.0 kB")
	if strings.Contains(compared, "2026-11-25.csv") {
		t.Error("the comparison lists a file that does not differ")
	}
	contains(t, "the history", pruned, "no longer kept")
	if strings.Contains(pruned, "/preview/rewind?to=1") || status != http.StatusUnprocessableEntity {
		t.Errorf("a version that is no longer kept is offered, or compared with %d", status)
	}
}

func TestTheBookmarksOfAJobMoveTogether(t *testing.T) {
	t.Parallel()
	m := mark(t)
	job := "/jobs/" + string(m.job) + "/bookmarks/"

	_, lag := m.get(t, "/api/ui/lags?job="+string(m.job))
	_, _ = m.change(t, job+"pause", url.Values{})
	paused := m.now(t).Paused
	_, _ = m.change(t, job+"resume", url.Values{})
	_, dialog := m.get(t, job+"reset")
	reset, _ := m.change(t, job+"reset", url.Values{"why": {"anew"}})
	_, late := m.get(t, "/api/ui/lags?job="+string(m.job))
	unknown, _ := m.change(t, job+"explode", url.Values{})

	contains(t, "the lag", lag, `"text":"up to date"`, "sales_csv: everything is read")
	contains(t, "the dialog", dialog, "Reset the bookmarks of", "The next run reads 5 files")
	contains(t, "the lag after the reset", late, `"text":"5 files · 5 days"`, `"hue":"warn"`)
	if now := m.now(t); !paused || now.Paused || reset != http.StatusOK || now.Files != 0 || unknown != http.StatusNotFound {
		t.Errorf("paused %v, then %+v, unknown %d", paused, now, unknown)
	}
}

func TestTheListOffersPauseAndReset(t *testing.T) {
	t.Parallel()
	m := mark(t)

	_, list := m.get(t, "/bookmarks")
	status, _ := m.change(t, m.at("/pause"), url.Values{})
	_, paused := m.get(t, "/bookmarks")

	contains(t, "the list", list, "Pause sales_csv", fmt.Sprintf(`hx-get="%s"`, m.at("/preview/reset?stay=yes")))
	_, beside := m.change(t, m.at("/resume"), url.Values{"stay": {"yes"}})

	contains(t, "the answer beside a page that follows", beside, "sales_csv: resumed.")
	contains(t, "the list then", paused, "Resume sales_csv", "Paused")
	if status != http.StatusOK {
		t.Errorf("pausing = %d, want 200", status)
	}
}
