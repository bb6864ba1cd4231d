package page_test

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/handlers/page"
)

// TestTheHeadOfARunLeadsToTheNodeThatFailed.
func TestTheHeadOfARunLeadsToTheNodeThatFailed(t *testing.T) {
	t.Parallel()
	s, _ := steered(t, nil)
	path, card := "/runs/"+string(runID)+"/head", s.nodes[1].Ref.String()

	_, head := s.get(t, path)
	s.nodes[1].State = engine.Succeeded
	_, well := s.get(t, path)

	contains(t, "the head", head, `data-goto="`+card+`"`, "1 failed: curated-crawler", "/runs/"+string(runID)+"?attempt=1&amp;node="+card)
	if strings.Contains(well, "failed") {
		t.Errorf("a run of which nothing failed says %s", well)
	}
}

// card is the markup of one card of the graph.
func card(t *testing.T, page, key string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, `id="node-`+key+`"`)
	card, _, _ := strings.Cut(rest, "</li>")
	if !found {
		t.Fatalf("the page has no card %s", key)
	}
	return card
}

// TestACardWithNothingToReadSaysSo, in the graph and in the list.
func TestACardWithNothingToReadSaysSo(t *testing.T) {
	t.Parallel()
	s, _ := steered(t, nil)
	ref := s.nodes[0].Ref.String()
	for why, counts := range map[string]engine.Counts{"nothing new": {NothingNew: true}, "files changed": {AllChanged: true}} {
		s.nodes[0].Counts = counts

		_, body := s.get(t, "/runs/"+string(runID))
		_, list := s.get(t, "/runs/"+string(runID)+"/list")

		contains(t, "the card", card(t, body, ref), `class="fact">`+why+`<`)
		contains(t, "the list", list, `data-fact="`+ref+`">`+why+`<`)
	}
}

// TestANodeWithoutALogSaysWhy, and leads to the run that has one.
func TestANodeWithoutALogSaysWhy(t *testing.T) {
	t.Parallel()
	s, _ := steered(t, ended)
	there := "/runs/" + string(batchID) + "?attempt=1&amp;node=" + s.nodes[0].Ref.String() + "&amp;start=1&amp;tab=log"
	for _, one := range []struct {
		name   string
		node   engine.NodeRun
		why    string
		leads  bool
		hasLog bool
	}{
		{"one that was done", engine.NodeRun{State: engine.Succeeded}, "End of the log.", false, true},
		{"a copied one", engine.NodeRun{State: engine.Succeeded, Copied: batchID}, "its log is there", true, false},
		{"a copied one that was skipped", engine.NodeRun{State: engine.Skipped, Copied: batchID}, "was skipped in the earlier run", true, false},
		{"a skipped one", engine.NodeRun{State: engine.Skipped}, "did not run, so it has written none", false, false},
		{"one of which the log was removed", engine.NodeRun{State: engine.Succeeded}, "No log of this attempt is to be found", false, false},
		{"one that was stopped before it wrote", engine.NodeRun{State: engine.Stopped}, "was stopped before it wrote anything", false, false},
	} {
		s.nodes[0].State, s.nodes[0].Copied = one.node.State, one.node.Copied
		if !one.hasLog {
			s.log.Reset()
		}
		_, panel := s.get(t, s.node()+"?tab=log")
		_, part := s.get(t, s.node()+"/log")

		for _, said := range []string{panel, part} {
			if !strings.Contains(said, one.why) || strings.Contains(said, "log/download") != one.hasLog {
				t.Errorf("%s: got %s\nwant %q, with a download: %v", one.name, said, one.why, one.hasLog)
			}
		}
		if got := strings.Contains(panel, there); got != one.leads {
			t.Errorf("%s: a way to the log of the earlier run: %v, want %v", one.name, got, one.leads)
		}
	}
}

// TestACopiedNodeLeadsToWhatItReadAndWrote, in the run that did it.
func TestACopiedNodeLeadsToWhatItReadAndWrote(t *testing.T) {
	t.Parallel()
	s, _ := steered(t, ended)
	s.nodes[0].Copied = batchID
	there := "/runs/" + string(batchID) + "?attempt=1&amp;node=" + s.nodes[0].Ref.String() + "&amp;start=1&amp;tab="

	_, inputs := s.get(t, s.node()+"?tab=inputs")
	_, outputs := s.get(t, s.node()+"?tab=outputs")

	contains(t, "the inputs", inputs, "what it read is listed there", there+"inputs")
	contains(t, "the outputs", outputs, "what it wrote is listed there", there+"outputs")
	for _, said := range []string{inputs, outputs} {
		if strings.Contains(said, "No inputs") || strings.Contains(said, "No outputs") {
			t.Errorf("a copied node is said to have read or written nothing: %s", said)
		}
	}
}

// TestTheLogOfAStoppedNodeEndsWhereItWasFollowed: the last piece says that it ends, not
// that nothing was written.
func TestTheLogOfAStoppedNodeEndsWhereItWasFollowed(t *testing.T) {
	t.Parallel()
	s, _ := steered(t, ended)
	s.nodes[0].State = engine.Stopped

	_, part := s.get(t, s.node()+"/log?from="+strconv.Itoa(s.log.Len()))

	contains(t, "the last piece", part, "End of the log.")
	if strings.Contains(part, "before it wrote anything") {
		t.Errorf("a node that wrote a log is said to have written nothing: %s", part)
	}
}

// early is the world of a run whose second node has not had its turn.
type early struct{ world }

func (w early) NodeRuns(context.Context, engine.ID) ([]engine.NodeRun, error) {
	return w.s.nodes[:1], nil
}

// TestACardThatWaitsToBeSkippedSaysSo, in the graph, in the list and in its panel.
func TestACardThatWaitsToBeSkippedSaysSo(t *testing.T) {
	t.Parallel()
	told, s := true, serve(t)
	s.open(t, page.Config{Store: early{world{s.store, s}}, Logs: s, SQL: data{}, Bookmarks: moves{s: s}})
	crawl := s.nodes[1].Ref.String()
	s.shape = func(r *engine.Run) {
		if told {
			r.Skips = map[string]string{crawl: engine.SkipWords("owner", "")}
		}
	}
	path := "/runs/" + string(runID)

	_, skipped := s.get(t, path)
	_, panel := s.get(t, path+"/nodes/"+crawl)
	_, head := s.get(t, path+"/head")
	told = false
	_, plain := s.get(t, path)

	contains(t, "the card", card(t, skipped, crawl), `data-slot="sub" title="Will be skipped"`, "#skip-forward", "Crawler, Will be skipped,")
	contains(t, "the panel", panel, "Will be skipped", "When its turn comes, it will be skipped by owner.")
	contains(t, "the head, from which the browser knows", head, `data-skips="`+crawl+`"`)
	if got := card(t, plain, crawl); strings.Contains(got, "skipped") || !strings.Contains(got, `data-slot="sub" title="Waiting"`) {
		t.Errorf("a card that nobody told to be skipped says %s", got)
	}
}

// fired is the world of a run whose schedule counts as fired.
type fired struct{ world }

func (fired) TriggerRuns(context.Context, engine.ID) ([]engine.TriggerRun, error) {
	return []engine.TriggerRun{{Run: runID, Trigger: "01KBA5ZC9J6Q0V5W3D8M7N2P4E", FiredAt: noon}}, nil
}

// TestAScheduleDoesNotClaimARunThatWasStartedByHand: its card and its panel say who did.
func TestAScheduleDoesNotClaimARunThatWasStartedByHand(t *testing.T) {
	t.Parallel()
	by := "owner"
	s := serve(t)
	s.shape = func(r *engine.Run) { r.Trigger, r.By = r.Body.Triggers[0].ID, by }
	s.open(t, page.Config{Store: fired{world{s.store, s}}, Logs: s, SQL: data{}, Bookmarks: moves{s: s}})
	trigger, path := "01KBA5ZC9J6Q0V5W3D8M7N2P4E", "/runs/"+string(runID)

	_, hand := s.get(t, path)
	_, panel := s.get(t, path+"/nodes/"+trigger)
	by = "schedule"
	_, timed := s.get(t, path)
	_, itself := s.get(t, path+"/nodes/"+trigger)

	contains(t, "the card", card(t, hand, trigger), `title="started by hand"`, "Started by hand,")
	contains(t, "the panel", panel, "Started by hand, by owner, at", "It did not fire by itself.")
	contains(t, "what the browser is told", hand, `"byHand":{"card":"`+trigger+`"`)
	contains(t, "the card of a run by its schedule", card(t, timed, trigger), `title="fired 12:00:00"`, "Fired,")
	contains(t, "the panel of a run by its schedule", itself, "Fired at ")
	if strings.Contains(timed, "by hand") || strings.Contains(panel, "Fired at") {
		t.Error("a run is said to be started otherwise than it was")
	}
}

// gone is the world of a run that goes on from others, which are looked up in earlier.
type gone struct {
	fired
	earlier map[engine.ID]engine.Run
}

func (g gone) Run(ctx context.Context, id engine.ID) (engine.Run, error) {
	if id == runID {
		return g.fired.Run(ctx, id)
	}
	r, ok := g.earlier[id]
	if !ok {
		return r, engine.Errorf(engine.NotFound, "There is no run with the id %s.", id)
	}
	return r, nil
}

// TestARunThatGoesOnSaysHowTheFirstOfThemWasStarted, whoever asked for it to go on; where
// that one is no longer known it says no more than when.
func TestARunThatGoesOnSaysHowTheFirstOfThemWasStarted(t *testing.T) {
	t.Parallel()
	const second, first, trigger = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P51"), engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P50"), "01KBA5ZC9J6Q0V5W3D8M7N2P4E"
	for name, tt := range map[string]struct {
		earlier          map[engine.ID]engine.Run
		onCard, andPanel string
	}{
		"by hand":        {map[engine.ID]engine.Run{second: {Previous: first, By: "ana", Started: noon.Add(-time.Hour)}, first: {By: "bo", Started: noon.Add(-2 * time.Hour)}}, `title="started by hand"`, "Started by hand, by bo, at"},
		"by its trigger": {map[engine.ID]engine.Run{second: {Previous: first, By: "ana", Started: noon.Add(-time.Hour)}, first: {By: "schedule", Started: noon.Add(-2 * time.Hour)}}, `title="fired 12:00:00"`, "Fired at "},
		"not known":      {map[engine.ID]engine.Run{second: {Previous: first, By: "ana", Started: noon.Add(-time.Hour)}}, `title="fired 12:00:00"`, "Fired at "},
		"none known":     {nil, `title="fired 12:00:00"`, "Fired at "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			s.shape = func(r *engine.Run) { r.Trigger, r.By, r.Previous = trigger, "owner", second }
			s.open(t, page.Config{Store: gone{fired{world{s.store, s}}, tt.earlier}, Logs: s, SQL: data{}, Bookmarks: moves{s: s}})

			_, got := s.get(t, "/runs/"+string(runID))
			_, panel := s.get(t, "/runs/"+string(runID)+"/nodes/"+trigger)

			contains(t, "the card", card(t, got, trigger), tt.onCard)
			contains(t, "the panel", panel, tt.andPanel)
		})
	}
}

// TestTheResumeDialogListsWhatIsNewInTheNewestDefinition, with what becomes of it.
func TestTheResumeDialogListsWhatIsNewInTheNewestDefinition(t *testing.T) {
	t.Parallel()
	s, _ := steered(t, nil)
	job, crawl := s.nodes[0].Ref, s.nodes[1].Ref
	fresh := func(name string) engine.Ref {
		id, err := s.store.CreateCrawler(t.Context(), name, engine.CrawlerBody{Database: name, Targets: []engine.CrawlerTarget{{Path: "/" + name}}}, "owner", noon)
		must(t, err)
		return engine.Ref{Kind: engine.KindCrawler, ID: id}
	}
	when := func(name string, ref, starts engine.Ref) engine.Trigger {
		return engine.Trigger{
			ID: engine.NewID(noon), Name: name, Type: engine.Conditional, Actions: []engine.Action{{Ref: starts}},
			Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: ref, State: engine.Succeeded}}},
		}
	}
	after, beside := fresh("after "+odd), fresh("beside")
	id, err := s.store.CreateWorkflow(t.Context(), "newer", engine.WorkflowBody{Triggers: []engine.Trigger{
		{ID: engine.NewID(noon), Name: "go", Type: engine.OnDemand, Actions: []engine.Action{{Ref: job}}},
		when("one", job, crawl), when("two", crawl, after), when("three", job, beside),
	}}, "owner", noon)
	must(t, err)
	_, err = s.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", noon, func(engine.Trigger) time.Time { return time.Time{} })
	must(t, err)
	s.shape = func(r *engine.Run) { ended(r); r.Object = id }
	path := "/runs/" + string(runID) + "/resume/nodes"

	_, newest := s.change(t, path, url.Values{"definition": {"newest"}, "do." + job.String(): {"keep"}, "do." + crawl.String(): {"again"}})
	_, pinned := s.change(t, path, url.Values{"do." + job.String(): {"keep"}, "do." + crawl.String(): {"again"}})

	contains(t, "by the newest definition", newest, "may have one now: after &lt;script&gt;", "nothing that is done again leads there: beside.")
	if strings.Contains(pinned, "after &lt;") || strings.Contains(pinned, "beside") {
		t.Errorf("by the definition of the run what is newer has a place: %s", pinned)
	}
}
