package exec_test

import (
	"testing"
	"time"

	"dogear/engine"
)

// A property that a job reads is declared by the workflow, or passed by every
// trigger that starts the job.
func TestWhatEveryStartPassesNeedsNoDeclaration(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		a, err := h.store.JobDraft(t.Context(), h.job("a", 0).ID)
		must(t, err)
		a.Body.SQL.Steps = []engine.Step{{Name: "day", SQL: "SELECT getvariable('Day')"}}
		_, err = h.store.SaveJobDraft(t.Context(), a.ID, a.Body, a.Seq, "owner", time.Now())
		must(t, err)
		_, err = h.store.PublishJob(t.Context(), a.ID, "owner", time.Now())
		must(t, err)
		bare := h.draw("start -> a")
		w, err := h.store.Workflow(t.Context(), bare)
		must(t, err)
		w.Triggers[0].Actions[0].Arguments = map[string]string{"Day": "2026-11-30"}
		passing, err := h.store.CreateWorkflow(t.Context(), "passing", w.WorkflowBody, "owner", time.Now())
		must(t, err)
		_, err = h.store.PublishWorkflow(t.Context(), passing, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return time.Time{} })
		must(t, err)

		_, err = h.exec.StartWorkflow(t.Context(), bare, nil, "owner")
		run, passErr := h.exec.StartWorkflow(t.Context(), passing, nil, "owner")
		must(t, passErr)
		_, nodes := h.ends(run.ID)

		if engine.CodeOf(err) != engine.Invalid {
			t.Errorf("a start that passes nothing: %v, want it refused", err)
		}
		if len(nodes) != 1 || nodes[0].State != engine.Succeeded || nodes[0].Arguments["Day"] != "2026-11-30" {
			t.Errorf("the nodes are %+v, want one that was passed the day", nodes)
		}
	})
}
