package exec_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dogear/db/dbtest"
	"dogear/engine"
)

// TestATimeoutSaysWhoseLimitItWas, so that the right one is raised.
func TestATimeoutSaysWhoseLimitItWas(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		own  engine.Minutes // of the start
		want string
	}{
		"the job's":   {0, "It ran longer than its limit of 2m0s and was ended. Give the job more time,"},
		"the start's": {1, "It ran longer than its limit of 1m0s, which trigger at noon sets for this start instead of the job's, and was ended. Give this start more time there,"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, dbtest.SQLite(t))
				h.work.do["a"] = untilStopped
				ref := h.jobIn("a", engine.JobBody{Timeout: 2})
				id, err := h.store.CreateWorkflow(t.Context(), "w", engine.WorkflowBody{Triggers: []engine.Trigger{{
					ID: engine.NewID(time.Now()), Name: "at noon", Type: engine.OnDemand, Actions: []engine.Action{{Ref: ref, Timeout: tt.own}},
				}}}, "owner", time.Now())
				must(t, err)
				_, err = h.store.PublishWorkflow(t.Context(), id, 0, nil, "owner", time.Now(), func(engine.Trigger) time.Time { return time.Time{} })
				must(t, err)

				run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
				must(t, err)
				time.Sleep(3 * time.Minute)
				_, nodes := h.ends(run.ID)

				if got := said(nodes); got != "a.1.1 timed_out" || !strings.HasPrefix(nodes[0].Error, tt.want) {
					t.Errorf("%s with %q, want %q", got, nodes[0].Error, tt.want)
				}
			})
		})
	}
}
