package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sys/unix"

	"dogear/engine"
	doer "dogear/engine/exec"
	"dogear/engine/flow"
)

// What the servers of a fleet do to node runs is written to files as they do
// it, and checked to be linearizable: there is one order, the same for all and
// in keeping with real time, in which every transition began at the state that
// the one before it had left. A transition that was written twice, or on top
// of one that it had not seen, has no place in such an order.

const historyEnv = "DOGEAR_TEST_HISTORY" // the file for the history of a server

// line is one line of a history: what a step is about to write to a node run,
// or, with Done set, that the step has ended.
type line struct {
	Step string // names the step; of several lines about one node run the last counts
	Call int64  // when the store was called, by the clock that all processes share
	Node string
	From string
	To   string
	Done int64 // when it answered; 0 for a line about a node run
	OK   bool  // it was written
}

// recorder is a store that writes down what its server does.
type recorder struct {
	doer.Store
	mu   sync.Mutex
	file *os.File
	n    int
}

func newRecorder(store doer.Store, path string) *recorder {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	return &recorder{Store: store, file: file}
}

// clockNow is a clock that never goes back and is the same in every process.
func clockNow() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

func (r *recorder) write(l line) {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = r.file.Write(append(text, '\n')) // one call: a kill leaves whole lines
}

func (r *recorder) name() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return fmt.Sprintf("%d-%s-%d", os.Getpid(), filepath.Base(r.file.Name()), r.n)
}

func (r *recorder) Commit(ctx context.Context, steps []flow.Step) []flow.Written {
	call := clockNow()
	names := make([]string, len(steps))
	for i := range steps {
		names[i] = r.name()
		decide := steps[i].Decide
		steps[i].Decide = func(run engine.Run, st flow.State) (flow.Writes, error) {
			w, err := decide(run, st)
			if err != nil {
				return w, err
			}
			for _, n := range w.Nodes {
				r.write(line{Step: names[i], Call: call, Node: fmt.Sprint(n.Key()), From: before(st, run, n), To: stateOf(n)})
			}
			return w, nil
		}
	}
	written := r.Store.Commit(ctx, steps)
	for i, w := range written {
		// Where it is not known whether the step stands it has not ended.
		if w.Err == nil || engine.CodeOf(w.Err) != engine.Away {
			r.write(line{Step: names[i], Done: clockNow(), OK: w.Err == nil})
		}
	}
	return written
}

func stateOf(n engine.NodeRun) string { return fmt.Sprintf("%s/%d", n.State, n.Fence) }

// before is the node run as the step found it.
func before(st flow.State, run engine.Run, n engine.NodeRun) string {
	if run.Seq == 0 {
		return ""
	}
	for _, was := range st.NodeRuns(n.Ref) {
		if was.Key() == n.Key() {
			return stateOf(was)
		}
	}
	return ""
}

// change is what one step does to one node run.
type change struct {
	from, to string
	sure     bool // that it was written
}

// nodeModel is a node run to which steps happen one after another.
var nodeModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{""} },
	Step: func(state, input, _ any) []any {
		c := input.(change)
		var next []any
		if state == c.from {
			next = append(next, c.to)
		}
		if !c.sure {
			next = append(next, state)
		}
		return next
	},
	DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
}

// assertLinearizable checks the histories in a folder.
func assertLinearizable(t *testing.T, dir string) {
	t.Helper()
	nodes, steps := readHistories(t, dir)
	if steps == 0 {
		t.Fatal("the servers wrote no history")
	}
	for node, ops := range nodes {
		switch got := porcupine.CheckOperationsTimeout(nodeModel.ToModel(), ops, 10*time.Second); got {
		case porcupine.Ok:
		default:
			t.Errorf("what was done to %s has no order (%s):", node, got)
			for _, op := range ops {
				t.Logf("  %d to %d: %+v", op.Call, op.Return, op.Input)
			}
		}
	}
	t.Logf("%d steps on %d node runs have an order", steps, len(nodes))
}

func readHistories(t *testing.T, dir string) (nodes map[string][]porcupine.Operation, steps int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.history"))
	must(t, err)
	nodes = map[string][]porcupine.Operation{}
	for client, path := range files {
		file, err := os.Open(path)
		must(t, err)
		open := map[string]map[string]line{} // by step and node run
		done := map[string]line{}
		for scan := bufio.NewScanner(file); scan.Scan(); {
			var l line
			must(t, json.Unmarshal(scan.Bytes(), &l))
			if l.Done != 0 {
				done[l.Step] = l
				continue
			}
			if open[l.Step] == nil {
				open[l.Step] = map[string]line{}
			}
			open[l.Step][l.Node] = l
		}
		must(t, file.Close())
		for step, about := range open {
			end, ended := done[step]
			if ended && !end.OK {
				continue
			}
			steps++
			for _, l := range about {
				op := porcupine.Operation{ClientId: client, Call: l.Call, Return: math.MaxInt64, Input: change{l.From, l.To, ended}}
				if ended {
					op.Return = end.Done
				}
				nodes[l.Node] = append(nodes[l.Node], op)
			}
		}
	}
	return nodes, steps
}

// TestTheOrderOfStepsIsChecked: the check can fail.
func TestTheOrderOfStepsIsChecked(t *testing.T) {
	t.Parallel()
	op := func(call, back int64, from, to string, sure bool) porcupine.Operation {
		return porcupine.Operation{Call: call, Return: back, Input: change{from, to, sure}}
	}
	tests := map[string]struct {
		ops  []porcupine.Operation
		want bool
	}{
		"one after another":              {[]porcupine.Operation{op(1, 2, "", "ready/0", true), op(3, 4, "ready/0", "starting/1", true)}, true},
		"claimed twice":                  {[]porcupine.Operation{op(1, 2, "", "ready/0", true), op(3, 6, "ready/0", "starting/1", true), op(4, 5, "ready/0", "starting/1", true)}, false},
		"against time":                   {[]porcupine.Operation{op(5, 6, "", "ready/0", true), op(1, 2, "ready/0", "starting/1", true)}, false},
		"nobody knows whether it stands": {[]porcupine.Operation{op(1, 2, "", "ready/0", true), op(3, math.MaxInt64, "ready/0", "starting/1", false), op(5, 6, "ready/0", "starting/1", true)}, true},
		"it stood":                       {[]porcupine.Operation{op(1, 2, "", "ready/0", true), op(3, math.MaxInt64, "ready/0", "starting/1", false), op(5, 6, "starting/1", "starting/2", true)}, true},
	}
	for name, tt := range tests {
		if got := porcupine.CheckOperations(nodeModel.ToModel(), tt.ops); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}
