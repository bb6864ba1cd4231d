package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/engine/exec"
	"dogear/handlers/page"
)

// steers records how runs are steered.
type steers struct {
	page.Exec
	asked []string
	how   exec.Resume
	err   error
}

func (s *steers) ask(word string, id engine.ID) (engine.Run, error) {
	s.asked = append(s.asked, word+" "+string(id))
	return engine.Run{ID: id}, s.err
}

func (s *steers) Pause(_ context.Context, id engine.ID, _ string) (engine.Run, error) {
	return s.ask("pause", id)
}

func (s *steers) Stop(_ context.Context, id engine.ID, _ string) (engine.Run, error) {
	return s.ask("stop", id)
}

func (s *steers) GoOn(_ context.Context, id engine.ID, _ string) (engine.Run, error) {
	return s.ask("go on", id)
}

func (s *steers) Resume(_ context.Context, id engine.ID, how exec.Resume, _ string) (engine.Run, error) {
	s.how = how
	return s.ask("resume", id)
}

// PoolsChanged counts how often pools were written.
func (s *steers) PoolsChanged(context.Context) error {
	s.asked = append(s.asked, "pools")
	return nil
}

// steered is the screens of one run that looks as shape makes it.
func steered(t *testing.T, shape func(*engine.Run)) (*site, *steers) {
	t.Helper()
	s, e := serve(t), &steers{}
	s.shape = shape
	s.nodes[0].State, s.nodes[0].Ended = engine.Succeeded, noon.Add(-30*time.Second)
	s.open(t, page.Config{Store: world{s.store, s}, Exec: e, Bookmarks: moves{s: s}, Logs: s, SQL: data{}})
	return s, e
}

func ended(r *engine.Run) { r.Ended, r.Outcome = noon, engine.RunPartlyFailed }

func TestARunIsPausedAndGoesOnFromItsPage(t *testing.T) {
	t.Parallel()
	paused := false
	s, e := steered(t, func(r *engine.Run) {
		if paused {
			r.Paused = noon
		}
	})
	path := "/runs/" + string(runID)

	_, running := s.get(t, path+"/head")
	first, _ := s.change(t, path+"/pause", url.Values{})
	paused = true
	_, head := s.get(t, path+"/head")
	_, timeline := s.get(t, path+"/timeline")
	second, _ := s.change(t, path+"/go-on", url.Values{})

	contains(t, "the head of a run", running, path+"/pause", "Running")
	contains(t, "the head of a paused run", head, path+"/go-on", "Paused", "data-held")
	contains(t, "the timeline", timeline, "nothing else starts")
	if want := fmt.Sprint([]string{"pause " + string(runID), "go on " + string(runID)}); first != 200 || second != 200 || fmt.Sprint(e.asked) != want {
		t.Errorf("asked %v with %d and %d, want %s", e.asked, first, second, want)
	}
}

// TestAnEndedRunGoesOnAsChosen: what failed is done again unless somebody says
// otherwise; marks carry a reason.
func TestAnEndedRunGoesOnAsChosen(t *testing.T) {
	t.Parallel()
	s, e := steered(t, ended)
	path := "/runs/" + string(runID)
	job, crawl := s.nodes[0].Ref, s.nodes[1].Ref

	_, head := s.get(t, path+"/head")
	_, dialog := s.get(t, path+"/resume")
	_, marking := s.get(t, path+"/resume?node="+crawl.String()+"&do=succeeded")
	status, _ := s.change(t, path+"/resume", url.Values{
		"do." + job.String(): {"again"}, "do." + crawl.String(): {"succeeded"}, "definition": {"newest"}, "why": {"done by hand"},
		"property.Day": {"2026-03-01"}, "seen.Day": {"2026-02-28"}, "property.Region": {"eu"}, "seen.Region": {"eu"},
	})

	contains(t, "the head", head, "Resume…", path+"/resume")
	contains(t, "the dialog", dialog, "&lt;script&gt;", `<option value="keep" selected>`, `<option value="again" selected>`, "as it is published now", `<span class="row"><b>curated-crawler</b>`)
	contains(t, "the dialog of a mark", marking, `<option value="succeeded" selected>`)
	if len(e.how.Properties) != 1 || e.how.Properties["Day"] != "2026-03-01" {
		t.Errorf("it goes on with %v, want the property that was changed alone", e.how.Properties)
	}
	if status != http.StatusOK || len(e.how.Nodes) != 1 || e.how.Nodes[0] != job || e.how.Marks[crawl] != engine.Succeeded || !e.how.Newest || e.how.Why != "done by hand" {
		t.Errorf("POST = %d with %+v, want the job again and the crawler marked, by the newest definition", status, e.how)
	}
}

// TestADialogSaysWhatFollows: what waits for a node that is done again is not said
// to be kept, and is where the node is kept.
func TestADialogSaysWhatFollows(t *testing.T) {
	t.Parallel()
	s, _ := steered(t, ended)
	path := "/runs/" + string(runID) + "/resume/nodes"
	job, crawl := s.nodes[0].Ref, s.nodes[1].Ref
	s.nodes[1].By = "01KBA5ZC9J6Q0V5W3D8M7N2P4F"
	choose := func(first, then string) url.Values {
		return url.Values{"do." + job.String(): {first}, "do." + crawl.String(): {then}}
	}

	_, follows := s.change(t, path, choose("again", "keep"))
	_, left := s.change(t, path, choose("again", "again"))
	_, alone := s.change(t, path, choose("keep", "again"))

	contains(t, "what waits for it", follows, `<option value="keep" selected>Follow the triggers</option>`, "done again when its trigger fires, else skipped")
	contains(t, "both", left, `<option value="again" selected>`, "when its trigger fires")
	contains(t, "the second alone", alone, `<option value="keep" selected>Keep as it ended</option>`)
	if strings.Contains(alone, "trigger fires") || strings.Contains(alone, "Follow the triggers") {
		t.Errorf("nothing follows from what is kept: %s", alone)
	}
}

// TestARunIsDrawnWhereItsCardsStandNow, though nothing was published since they were
// moved.
func TestARunIsDrawnWhereItsCardsStandNow(t *testing.T) {
	t.Parallel()
	s := edit(t)
	id := s.drawn(t, engine.Trigger{Name: "by hand", Type: engine.OnDemand})
	card := "job-" + string(s.job)
	ran, err := s.store.Workflow(t.Context(), id)
	must(t, err)
	s.shape = func(r *engine.Run) { r.Object, r.Body = id, ran.WorkflowBody }
	drafts := draft.NewService(s.store, s.store, func(engine.ID, []draft.Entry) {}, func() time.Time { return noon })
	drawn, err := drafts.Draft(t.Context(), id)
	must(t, err)
	_, before := s.get(t, "/runs/"+string(runID))
	_, err = drafts.Save(t.Context(), id, "owner", draft.Patch{Base: drawn.Seq, Client: "tab", Ops: []draft.Op{{ID: "1", Kind: draft.Move, Card: card, Move: map[string]engine.Point{card: {X: 770, Y: 330}}}}})
	must(t, err)

	_, after := s.get(t, "/runs/"+string(runID))

	if strings.Contains(before, `data-x="770"`) {
		t.Error("the card stood there before it was moved")
	}
	contains(t, "the run", after, `data-x="770" data-y="330"`)
}

// TestARunThatSucceededIsNotResumed: nothing of it is left to do.
func TestARunThatSucceededIsNotResumed(t *testing.T) {
	t.Parallel()
	s, _ := steered(t, func(r *engine.Run) { r.Ended, r.Outcome = noon, engine.RunSucceeded })

	_, head := s.get(t, "/runs/"+string(runID)+"/head")

	if strings.Contains(head, "Resume…") || !strings.Contains(head, "Run again") {
		t.Errorf("the head offers %s, want to run again and not to resume", head)
	}
}

func TestAResumeThatCannotBeComesBackAsItWasFilledIn(t *testing.T) {
	t.Parallel()
	s, e := steered(t, ended)
	path := "/runs/" + string(runID) + "/resume"
	keep := url.Values{"do." + s.nodes[0].Ref.String(): {"keep"}, "do." + s.nodes[1].Ref.String(): {"keep"}, "why": {"no"}}

	none, nothing := s.change(t, path, keep)
	e.err = engine.Errorf(engine.LimitHit, "Concurrent runs exceeded.")
	keep.Set("do."+s.nodes[1].Ref.String(), "failed")
	full, limit := s.change(t, path, keep)

	contains(t, "nothing to do", nothing, "Every node is kept as it ended", `value="no"`)
	contains(t, "a limit", limit, "Concurrent runs exceeded.", `<option value="failed" selected>`)
	if none != http.StatusUnprocessableEntity || full != http.StatusUnprocessableEntity || len(e.asked) != 1 {
		t.Errorf("%d and %d after %v, want 422 twice and one attempt", none, full, e.asked)
	}
}

func TestARunSaysWhereItComesFrom(t *testing.T) {
	t.Parallel()
	s, _ := steered(t, func(r *engine.Run) {
		r.Previous, r.Pick = batchID, &engine.Selection{Pattern: odd}
	})
	s.nodes[0].Copied = batchID

	_, page := s.get(t, s.run("log"))

	contains(t, "the page", page, "Resumes run", "/runs/"+string(batchID), "Reads again beside the bookmarks", "Succeeded · copied", "Not done again")
	if strings.Contains(page, "<script>alert") {
		t.Error("the page holds a pattern as markup")
	}
}

// TestTheHeadingOfANodeThatHasNotStartedIsItsJob, as the job is called now.
func TestTheHeadingOfANodeThatHasNotStartedIsItsJob(t *testing.T) {
	t.Parallel()
	var crawler engine.Ref
	s, _ := steered(t, func(r *engine.Run) { r.Body.Triggers[1].Actions[0].Ref = crawler })
	crawler = s.nodes[1].Ref
	s.nodes[1] = s.nodes[0] // so that the crawler has none
	ref := crawler.String()

	_, panel := s.get(t, "/runs/"+string(runID)+"/nodes/"+ref)
	_, page := s.get(t, "/runs/"+string(runID)+"?node="+ref)

	for about, shown := range map[string]string{"the panel": panel, "the page": page} {
		contains(t, about, shown, `<h2><a href="/crawlers/`+string(s.crawler)+`">curated-crawler</a></h2>`, "Waiting")
	}
}

// TestTheMenuOfANodeOffersWhatItsRunAllows: marks only once the run has ended.
func TestTheMenuOfANodeOffersWhatItsRunAllows(t *testing.T) {
	t.Parallel()
	open, _ := steered(t, func(r *engine.Run) { r.Properties = map[string]string{"Day": odd} })
	done, _ := steered(t, ended)

	_, running := open.get(t, open.node())
	_, over := done.get(t, done.node())

	contains(t, "while it runs", running, "Run only this job now", "property.Day")
	contains(t, "once it has ended", over, "Do again from here", "do=failed", "Run only this job now")
	if strings.Contains(running, "do=failed") || strings.Contains(over, "do=succeeded") {
		t.Error("a mark is offered that cannot be made or says nothing new")
	}
}

// queued is a world in which a run waits.
type queued struct {
	world
	says *string
}

func (q queued) Waits(context.Context, []engine.Run) (map[engine.ID]string, error) {
	if *q.says == "" {
		return nil, nil
	}
	return map[engine.ID]string{runID: *q.says}, nil
}

// TestTheListOfRunsSaysWhatARunWaitsFor, and looks again while one does: nobody
// tells it that a run waits no longer.
func TestTheListOfRunsSaysWhatARunWaitsFor(t *testing.T) {
	t.Parallel()
	s, says := edit(t), "load waits for a place in the pool "+odd
	s.open(t, page.Config{Store: queued{world{s.store, s}, &says}})

	_, waiting := s.get(t, "/runs")
	says = ""
	_, working := s.get(t, "/runs")

	contains(t, "the list", waiting, "load waits for a place in the pool &lt;script&gt;", "every 5s")
	if strings.Contains(working, "every 5s") || strings.Contains(waiting, "<script>alert") {
		t.Error("the list looks again though nothing waits, or a name is markup")
	}
}

// TestPropertiesThatTheEngineSetsAreShownAndNotChanged in the dialog, which is not
// offered where there are no others.
func TestPropertiesThatTheEngineSetsAreShownAndNotChanged(t *testing.T) {
	t.Parallel()
	own := true
	s, _ := steered(t, func(r *engine.Run) {
		r.Properties = map[string]string{"aws:eventIds": `["` + odd + `"]`}
		if own {
			r.Properties["Day"] = "2026-11-28"
		}
	})

	_, dialog := s.get(t, "/runs/"+string(runID)+"/properties")
	_, pane := s.get(t, s.node()+"?tab=arguments")
	own = false
	_, alone := s.get(t, s.node()+"?tab=arguments")

	contains(t, "the dialog", dialog, `name="property.Day"`, "Set by what started the run", "aws:eventIds", "&lt;script&gt;")
	contains(t, "the pane", pane, "set-properties", "aws:eventIds")
	if strings.Contains(dialog, "property.aws") || strings.Contains(dialog, "seen.aws") {
		t.Errorf("the dialog lets a reserved property be changed: %s", dialog)
	}
	if strings.Contains(alone, "set-properties") {
		t.Error("a run that has reserved properties alone offers to change them")
	}
}
