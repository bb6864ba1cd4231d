package dbtest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/graph"
)

// model is a run in memory, as the rules see it: what a store must hold after
// every step.
type model struct {
	run      engine.Run
	open     int
	nodes    map[engine.NodeKey]engine.NodeRun
	triggers map[engine.ID]engine.TriggerRun
	fired    map[engine.ID]time.Time // by the events
}

func (m *model) TriggerRun(id engine.ID) engine.TriggerRun { return m.triggers[id] }

func (m *model) NodeRuns(ref engine.Ref) []engine.NodeRun {
	return slices.DeleteFunc(m.All(), func(n engine.NodeRun) bool { return n.Ref != ref })
}

func (m *model) All() []engine.NodeRun {
	return slices.SortedFunc(maps.Values(m.nodes), func(a, b engine.NodeRun) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Ref.ID, b.Ref.ID))
	})
}

func (m *model) Head(engine.Ref) flow.Head           { return flow.Head{Name: "deleted job"} }
func (m *model) OpenNodes() int                      { return m.open }
func (m *model) OpenRuns(engine.ID, int) int         { return 0 }
func (m *model) Room(*engine.NodeRun, int, int) bool { return true }

func (m *model) apply(w flow.Writes) {
	w.Run.Seq += int64(max(len(w.Events), 1)) // a step without events takes a number, too
	m.run, m.open = w.Run, m.open+w.OpenNodes
	for _, n := range w.Nodes {
		m.nodes[n.Key()] = n
	}
	for _, t := range w.Triggers {
		m.triggers[t.Trigger] = t
	}
	for _, e := range w.Events {
		if e.Kind == "trigger" {
			m.fired[engine.ID(e.Card)] = e.At
		}
	}
}

// decided are the triggers as a store tells them: by what was written of them,
// and by what they have started.
func (m *model) decided() map[engine.ID]engine.TriggerRun {
	all := maps.Clone(m.triggers)
	for id, at := range m.fired {
		t := all[id]
		t.FiredAt = at
		all[id] = t
	}
	return all
}

// machine does the same to a model and to a store.
type machine struct {
	servers []*db.Store // on one database
	graph   *graph.Graph
	model   *model
	now     time.Time
}

var errRefused = errors.New("refused by the rules")

// server draws the one that does the next thing.
func (m *machine) server(t *rapid.T) *db.Store {
	return m.servers[rapid.IntRange(0, len(m.servers)-1).Draw(t, "server")]
}

// step does one thing to both, and checks that both did the same.
func (m *machine) step(t *rapid.T, decide func(engine.Run, flow.State) (flow.Writes, error)) {
	m.now = m.now.Add(time.Second)
	want, refused := decide(m.model.run, m.model)
	written := m.server(t).Commit(context.Background(), []flow.Step{{Run: m.model.run.ID, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		run.Body = m.model.run.Body
		return decide(run, st)
	}}})[0]
	if (refused == nil) != (written.Err == nil) {
		t.Fatalf("the model says %v, the store %v", refused, written.Err)
	}
	if refused == nil {
		m.model.apply(want)
	}
}

// fail lets a step go in one group with another that breaks the transaction.
// However often it is tried, it is written once.
func (m *machine) fail(t *rapid.T) {
	decide := func(run engine.Run, st flow.State) (flow.Writes, error) {
		nodes := st.All()
		for i := range nodes {
			nodes[i].Fence += 100
		}
		run.Error = "written once"
		return flow.Writes{Run: run, Nodes: nodes}, nil
	}
	again := m.model.run
	again.Body = engine.WorkflowBody{}
	breaks := map[string]flow.Step{
		"a run is made twice": {Run: again.ID, New: &again, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) { return flow.Writes{Run: run}, nil }},
		"an event is written twice": {Run: again.ID, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
			run.Seq = 0
			return flow.Writes{Run: run, Events: []engine.Event{{Run: run.ID, Kind: "note"}}}, nil
		}},
	}
	how := rapid.SampledFrom(slices.Sorted(maps.Keys(breaks))).Draw(t, "broken by")
	want, err := decide(m.model.run, m.model)
	noError(t, err)

	written := m.server(t).Commit(context.Background(), []flow.Step{{Run: m.model.run.ID, Decide: decide}, breaks[how]})

	if written[0].Err != nil || written[1].Err == nil {
		t.Fatalf("%s: the step before it was told %v, and it itself %v", how, written[0].Err, written[1].Err)
	}
	m.model.apply(want)
}

// check compares the rows with the model.
func (m *machine) check(t *rapid.T) {
	ctx := context.Background()
	run, err := m.servers[0].Run(ctx, m.model.run.ID)
	noError(t, err)
	if got, want := describe(run), describe(m.model.run); got != want {
		t.Fatalf("the run is\n%s, want\n%s", got, want)
	}
	nodes, err := m.servers[0].NodeRuns(ctx, run.ID)
	noError(t, err)
	var got, want []string
	for _, n := range nodes {
		got = append(got, describeNode(n))
	}
	for _, n := range m.model.All() {
		want = append(want, describeNode(n))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("the node runs are\n%q, want\n%q", got, want)
	}
	triggers, err := m.servers[0].TriggerRuns(ctx, run.ID)
	noError(t, err)
	decided := m.model.decided()
	for _, tr := range triggers {
		if want := decided[tr.Trigger]; tr.Met != want.Met || tr.Dead != want.Dead || !tr.FiredAt.Equal(want.FiredAt) || !tr.DeadAt.Equal(want.DeadAt) {
			t.Fatalf("trigger %s is %+v, want %+v", tr.Trigger, tr, want)
		}
	}
	if len(triggers) != len(decided) {
		t.Fatalf("of %d triggers something is told, want of %d", len(triggers), len(decided))
	}
}

func noError(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func describe(r engine.Run) string {
	return fmt.Sprint(r.ID, r.Seq, r.Outcome, r.Error, r.Ended.UnixMicro(), r.StopAsked.UnixMicro(), r.StopBy, r.Paused.UnixMicro(), r.Skips)
}

func describeNode(n engine.NodeRun) string {
	return fmt.Sprint(n.Ref, n.Start, n.Attempt, n.State, n.Fence, n.Owner, n.Why, n.Error, n.ReadyAt.UnixMicro(), n.Started.UnixMicro(), n.Ended.UnixMicro(), n.NotBefore.UnixMicro(), n.By)
}

// drawn is a random workflow without a loop: every node is started by the start
// or by a trigger that watches nodes before it.
func drawn(t *rapid.T) engine.WorkflowBody {
	var body engine.WorkflowBody
	count := rapid.IntRange(1, 7).Draw(t, "nodes")
	ref := func(i int) engine.Ref {
		return engine.Ref{Kind: engine.KindJob, ID: engine.ID(fmt.Sprintf("01KBA5ZC9J6Q0V5W3D8M7N2P%02d", i))}
	}
	start := engine.Trigger{ID: "start", Name: "start", Type: engine.OnDemand, Actions: []engine.Action{{Ref: ref(0)}}}
	for i := 1; i < count; i++ {
		if rapid.Bool().Draw(t, "at the start") {
			start.Actions = append(start.Actions, engine.Action{Ref: ref(i)})
			continue
		}
		trigger := engine.Trigger{ID: engine.ID(fmt.Sprint("t", i)), Name: "t", Type: engine.Conditional, Actions: []engine.Action{{Ref: ref(i)}}}
		trigger.Predicate.Logic = rapid.SampledFrom([]engine.Logic{engine.All, engine.Any}).Draw(t, "logic")
		for j := range i {
			if j == 0 || rapid.Bool().Draw(t, "watches") {
				trigger.Predicate.Conditions = append(trigger.Predicate.Conditions, engine.Condition{
					Ref: ref(j), State: rapid.SampledFrom([]engine.State{engine.Succeeded, engine.Failed, ""}).Draw(t, "on"),
				})
			}
		}
		body.Triggers = append(body.Triggers, trigger)
	}
	body.Triggers = append([]engine.Trigger{start}, body.Triggers...)
	return body
}

// TestAStoreDoesWhatTheRulesSay drives a random run by random things that may
// happen to it, and compares the rows with the model after each of them. On
// SQLite it does so as the owner of the file, who keeps what it wrote, and as
// one who reads everything anew; on PostgreSQL also as two servers by turns, each
// of which remembers what it wrote.
func TestAStoreDoesWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) { stateMachine(t, store) })
	t.Run("owner", func(t *testing.T) {
		t.Parallel()
		store := dbtest.SQLite(t)
		release, err := store.Own()
		must(t, err)
		t.Cleanup(release)
		stateMachine(t, store)
	})
	t.Run("two servers", func(t *testing.T) {
		t.Parallel()
		address := dbtest.PostgresAddress(t)
		stateMachine(t, dbtest.Open(t, address), dbtest.Open(t, address))
	})
}

func stateMachine(t *testing.T, servers ...*db.Store) {
	t.Helper()
	ids := 0
	rapid.Check(t, func(t *rapid.T) {
		body := drawn(t)
		ids++
		m := &machine{servers: servers, graph: graph.New(&body), now: dbtest.Noon, model: &model{nodes: map[engine.NodeKey]engine.NodeRun{}, triggers: map[engine.ID]engine.TriggerRun{}, fired: map[engine.ID]time.Time{}}}
		run := engine.Run{ID: engine.NewID(dbtest.Noon.Add(time.Duration(ids) * time.Millisecond)), Kind: engine.RunWorkflow, Object: "w", Name: "w", By: "owner", Trigger: "start", Started: m.now, Body: body}
		m.model.run = run
		m.model.apply(flow.Begin(m.graph, m.model, run, "start", m.now))
		w := servers[0].Commit(context.Background(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
			return flow.Begin(m.graph, st, run, "start", m.now), nil
		}}})[0]
		noError(t, w.Err)
		open := func(t *rapid.T) engine.NodeRun {
			all := slices.DeleteFunc(m.model.All(), func(n engine.NodeRun) bool { return n.State.Done() })
			if len(all) == 0 {
				t.Skip("everything has ended")
			}
			return rapid.SampledFrom(all).Draw(t, "node")
		}
		// change is a step on one node, refused where its fence has moved.
		change := func(t *rapid.T, stale bool, to func(engine.Run, engine.NodeRun, flow.State) (flow.Writes, error)) {
			node := open(t)
			fence := node.Fence
			if stale {
				fence--
			}
			m.step(t, func(run engine.Run, st flow.State) (flow.Writes, error) {
				for _, n := range st.NodeRuns(node.Ref) {
					if n.Key() == node.Key() && n.Fence == fence {
						return to(run, n, st)
					}
				}
				return flow.Writes{}, errRefused
			})
		}
		t.Repeat(map[string]func(*rapid.T){
			"claim": func(t *rapid.T) {
				change(t, false, func(run engine.Run, n engine.NodeRun, _ flow.State) (flow.Writes, error) {
					if n.State != engine.Ready {
						return flow.Writes{}, errRefused
					}
					n.State, n.Fence, n.Owner = engine.Starting, n.Fence+1, "somebody"
					return flow.Change(run, n, "", m.now), nil
				})
			},
			"end": func(t *rapid.T) {
				state := rapid.SampledFrom([]engine.State{engine.Succeeded, engine.Failed, engine.TimedOut}).Draw(t, "as")
				change(t, false, func(run engine.Run, n engine.NodeRun, st flow.State) (flow.Writes, error) {
					n.State, n.Ended, n.Error = state, m.now, "why"
					return flow.End(m.graph, st, run, n, m.now), nil
				})
			},
			"retry": func(t *rapid.T) {
				change(t, false, func(run engine.Run, n engine.NodeRun, st flow.State) (flow.Writes, error) {
					n.State, n.Ended = engine.Failed, m.now
					return flow.Retry(st, run, n, m.now.Add(time.Minute), m.now), nil
				})
			},
			"late": func(t *rapid.T) {
				change(t, true, func(run engine.Run, n engine.NodeRun, st flow.State) (flow.Writes, error) {
					return flow.End(m.graph, st, run, n, m.now), nil
				})
			},
			"take over": func(t *rapid.T) {
				change(t, false, func(run engine.Run, n engine.NodeRun, _ flow.State) (flow.Writes, error) {
					n.Fence++
					return flow.Writes{Run: run, Nodes: []engine.NodeRun{n}}, nil
				})
			},
			"stop": func(t *rapid.T) {
				m.step(t, func(run engine.Run, st flow.State) (flow.Writes, error) {
					all := slices.DeleteFunc(st.All(), func(n engine.NodeRun) bool { return n.State.Done() })
					slices.SortFunc(all, func(a, b engine.NodeRun) int { return cmp.Compare(a.Ref.ID, b.Ref.ID) })
					return flow.Stop(m.graph, st, run, all, "owner", m.now)
				})
			},
			"skip": func(t *rapid.T) {
				ref := rapid.SampledFrom(m.graph.Refs()).Draw(t, "of")
				m.step(t, func(run engine.Run, st flow.State) (flow.Writes, error) {
					return flow.Skip(m.graph, st, run, ref, "owner", "why", m.now)
				})
			},
			"unskip": func(t *rapid.T) {
				ref := rapid.SampledFrom(m.graph.Refs()).Draw(t, "of")
				m.step(t, func(run engine.Run, st flow.State) (flow.Writes, error) {
					return flow.Unskip(m.graph, st, run, ref, "owner", m.now)
				})
			},
			"stop one": func(t *rapid.T) {
				ref := rapid.SampledFrom(m.graph.Refs()).Draw(t, "of")
				m.step(t, func(run engine.Run, st flow.State) (flow.Writes, error) {
					return flow.StopNode(m.graph, st, run, ref, 0, "owner", m.now)
				})
			},
			"pause": func(t *rapid.T) {
				m.step(t, func(run engine.Run, _ flow.State) (flow.Writes, error) { return flow.Pause(run, "owner", m.now) })
			},
			"go on": func(t *rapid.T) {
				m.step(t, func(run engine.Run, _ flow.State) (flow.Writes, error) { return flow.GoOn(run, "owner", m.now) })
			},
			"fail": m.fail,
			"":     m.check,
		})
	})
}
