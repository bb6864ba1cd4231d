package dbtest_test

import (
	"testing"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

// TestALogIsWrittenByWhoHasTheAttempt: of a server that hung while another took
// its work over, nothing comes into the log any more.
func TestALogIsWrittenByWhoHasTheAttempt(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		n := begins(t, store, engine.NewID(dbtest.Noon))
		must(t, store.PutLog(t.Context(), n.Key(), 0, 0, []byte("first\n")))
		commits(t, store, flow.Step{Run: n.Run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
			taken := st.NodeRuns(n.Ref)[0]
			taken.Fence++
			return flow.Writes{Run: run, Nodes: []engine.NodeRun{taken}}, nil
		}})
		must(t, store.PutLog(t.Context(), n.Key(), 1, 6, []byte("second\n")))

		for offset, text := range map[int64]string{0: "late\n", 6: "later\n"} {
			if err := store.PutLog(t.Context(), n.Key(), 0, offset, []byte(text)); engine.CodeOf(err) != engine.Conflict {
				t.Errorf("a late piece at %d: %v, want it refused", offset, err)
			}
		}

		text, _, err := store.LogText(t.Context(), n.Key(), 0, 100)
		must(t, err)
		if string(text) != "first\nsecond\n" {
			t.Errorf("the log is %q", text)
		}
	})
}
