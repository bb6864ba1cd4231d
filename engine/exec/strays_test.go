package exec_test

import (
	"context"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/exec"
	"dogear/engine/runner"
)

// marked are processes as the process table shows them.
type marked struct {
	dead
	all []runner.Marked
}

func (m marked) Marked() []runner.Marked { return m.all }

// TestTheWatchdogFindsProcessesThatShouldNotBe: one whose attempt has ended
// and one that nobody has recorded; not those of other databases.
func TestTheWatchdogFindsProcessesThatShouldNotBe(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		h.work.do["b"] = func(ctx context.Context, _ runner.Attempt, host runner.Host) (runner.Result, error) {
			return runner.Result{State: engine.Succeeded}, host.Started(ctx, engine.Process{PID: 77, Apart: true})
		}
		id := h.draw("start -> a b")
		run, err := h.exec.StartWorkflow(t.Context(), id, nil, "owner")
		must(t, err)
		_, nodes := h.ends(run.ID)
		if nodes[0].Name != "a" {
			nodes[0], nodes[1] = nodes[1], nodes[0]
		}
		key, withProcess := nodes[0].Key(), nodes[1].Key()
		nobody := key
		nobody.Attempt = 7
		elsewhere := key
		elsewhere.Run = engine.NewID(time.Now())

		look := func(keys ...engine.NodeKey) *exec.Exec {
			var all []runner.Marked
			for i, k := range keys {
				all = append(all, runner.Marked{PID: 100 + i, Name: "python3", Marker: runner.Marker(k)})
			}
			all = append(all, runner.Marked{PID: 1, Name: "x", Marker: "something else"})
			return exec.New(exec.Config{Store: h.store, Now: time.Now, Processes: marked{all: all}})
		}

		if got := broken(t, look(elsewhere), "I1", later()); len(got) > 0 {
			t.Errorf("a process of another database is found: %v", got)
		}
		if got := broken(t, look(key, nobody, withProcess), "I1", later()); len(got) != 2 {
			t.Errorf("got %v, want the process without a record and that of no attempt", got)
		}
		if got := broken(t, look(withProcess), "I12", later()); len(got) != 1 {
			t.Errorf("got %v, want the process whose attempt has ended", got)
		}
		if got := broken(t, look(withProcess), "I12", time.Now()); len(got) != 0 {
			t.Errorf("got %v right after the end of the attempt, want nothing yet", got)
		}
	})
}
