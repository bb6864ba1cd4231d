package exec_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// TestABatchOfEventsStartsARunThatKnowsThem, and that can be run again.
func TestABatchOfEventsStartsARunThatKnowsThem(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		now := time.Now().UTC()
		trigger := engine.Trigger{
			ID: engine.NewID(now), Name: "calls", Type: engine.OnEvent, Event: engine.EventRule{Size: 2},
			Actions: []engine.Action{{Ref: h.job("a", 0)}},
		}
		id, err := h.store.CreateWorkflow(t.Context(), "called", engine.WorkflowBody{Triggers: []engine.Trigger{trigger}, MaxRuns: 1}, "owner", now)
		must(t, err)
		_, err = h.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", now, func(engine.Trigger) time.Time { return time.Time{} })
		must(t, err)
		for _, event := range []string{"e1", "e2", "e3"} {
			_, err := h.store.AddEvent(t.Context(), engine.TriggerEvent{Trigger: trigger.ID, ID: event, At: now})
			must(t, err)
		}
		block := make(chan struct{})
		h.work.do["a"] = func(ctx context.Context, a runner.Attempt, host runner.Host) (runner.Result, error) {
			<-block
			return succeed(ctx, a, host)
		}

		run, err := h.exec.Due(t.Context(), id, flow.Fire{Trigger: trigger.ID, Events: []string{"e1", "e2"}})
		must(t, err)
		_, full := h.exec.Due(t.Context(), id, flow.Fire{Trigger: trigger.ID, Events: []string{"e3"}})
		close(block)
		h.ends(run.ID)
		_, twice := h.exec.Due(t.Context(), id, flow.Fire{Trigger: trigger.ID, Events: []string{"e2"}})

		if run.By != "event" || run.Trigger != trigger.ID || run.Properties["aws:eventIds"] != "[e1, e2]" {
			t.Errorf("run = by %s, trigger %s, properties %v, want it to know its events", run.By, run.Trigger, run.Properties)
		}
		if engine.CodeOf(full) != engine.LimitHit || engine.CodeOf(twice) != engine.Conflict {
			t.Errorf("beyond the limit = %v, a second time = %v, want %s and %s", full, twice, engine.LimitHit, engine.Conflict)
		}
		waiting, err := h.store.WaitingEvents(t.Context(), trigger.ID, 10)
		must(t, err)
		if len(waiting) != 1 || waiting[0].ID != "e3" {
			t.Errorf("%+v wait, want e3, which the limit held", waiting)
		}
		again, err := h.exec.Start(t.Context(), exec.Order{Kind: engine.RunWorkflow, Object: id, Properties: run.Properties, Again: run.ID, By: "owner"})
		must(t, err)
		if again.Properties["aws:eventIds"] != "[e1, e2]" || again.Repeats != run.ID {
			t.Errorf("run again has properties %v and repeats %q, want the events of the first and its id", again.Properties, again.Repeats)
		}
		if _, nodes := h.ends(again.ID); len(nodes) != 1 || nodes[0].State != engine.Succeeded {
			t.Errorf("run again = %+v, want it to succeed", nodes)
		}
	})
}

// TestNobodyMakesUpEvents, at a start or later, nor gives what would be misread; going
// on from a run keeps those it has.
func TestNobodyMakesUpEvents(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		now := time.Now().UTC()
		trigger := engine.Trigger{
			ID: engine.NewID(now), Name: "calls", Type: engine.OnEvent, Event: engine.EventRule{Size: 1},
			Actions: []engine.Action{{Ref: h.job("a", 0)}},
		}
		id, err := h.store.CreateWorkflow(t.Context(), "called", engine.WorkflowBody{Triggers: []engine.Trigger{trigger}}, "owner", now)
		must(t, err)
		_, err = h.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", now, func(engine.Trigger) time.Time { return time.Time{} })
		must(t, err)
		_, err = h.store.AddEvent(t.Context(), engine.TriggerEvent{Trigger: trigger.ID, ID: "e1", At: now})
		must(t, err)
		h.work.do["a"] = untilStopped
		ended, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		_, err = h.exec.Stop(t.Context(), ended.ID, "owner")
		must(t, err)
		h.ends(ended.ID)
		run, err := h.exec.Due(t.Context(), id, flow.Fire{Trigger: trigger.ID, Events: []string{"e1"}, Told: "what came"})
		must(t, err)
		for name, forged := range map[string]map[string]string{
			"its property aws:eventIds": {"aws:eventIds": "[e9]"}, "its property dogear:events": {"dogear:events": "[]"},
			"has no name": {"": "x"}, "holds {{due.date}} at character 1": {"Day": "{{due.date}}"},
		} {
			_, start := h.exec.StartWorkflow(t.Context(), id, forged, "mallory")
			_, alone := h.exec.StartJob(t.Context(), h.refs["a"].ID, forged, nil, "mallory")
			_, set := h.exec.SetProperties(t.Context(), run.ID, forged, "mallory")
			_, on := h.exec.Resume(t.Context(), ended.ID, exec.Resume{Properties: forged}, "mallory")

			for what, err := range map[string]error{"start": start, "start of a job alone": alone, "change": set, "run that goes on": on} {
				if engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), name) {
					t.Errorf("a %s with %v: %v, want it refused, for it %s", what, forged, err, name)
				}
			}
		}
		_, err = h.exec.Stop(t.Context(), run.ID, "owner")
		must(t, err)
		h.ends(run.ID)
		on, err := h.exec.Resume(t.Context(), run.ID, exec.Resume{}, "owner")
		must(t, err)
		if on.Properties["aws:eventIds"] != "[e1]" || on.Properties["dogear:events"] != "what came" {
			t.Errorf("the run that goes on has properties %v, want the event of the first", on.Properties)
		}
		_, err = h.exec.Stop(t.Context(), on.ID, "owner")
		must(t, err)
		h.ends(on.ID)
	})
}
