package live

import (
	"context"
	"time"

	"dogear/engine"
)

// Runs is what the snapshot of a run is made of.
type Runs interface {
	Run(ctx context.Context, id engine.ID) (engine.Run, error)
	NodeRuns(ctx context.Context, run engine.ID) ([]engine.NodeRun, error)
	TriggerRuns(ctx context.Context, run engine.ID) ([]engine.TriggerRun, error)
}

// RunState is a run as a canvas needs it.
type RunState struct {
	Outcome  engine.Outcome `json:"outcome,omitempty"`
	Nodes    []NodeState    `json:"nodes"`
	Triggers []TriggerState `json:"triggers,omitempty"`
}

// NodeState is the newest attempt of the newest start of a node.
type NodeState struct {
	Card    string        `json:"card"`
	State   engine.State  `json:"state"`
	Start   int           `json:"start"`
	Attempt int           `json:"attempt"`
	Started time.Time     `json:"started,omitzero"`
	Ended   time.Time     `json:"ended,omitzero"`
	Counts  engine.Counts `json:"counts"`
	Error   string        `json:"error,omitempty"`
	Why     string        `json:"why,omitempty"` // it waits
}

// TriggerState says whether a trigger has fired.
type TriggerState struct {
	Card  string    `json:"card"`
	Fired time.Time `json:"fired,omitzero"`
	Dead  bool      `json:"dead,omitempty"`
}

// OfRun returns the snapshot of topics run:ID.
func OfRun(runs Runs) Snapshot {
	return func(ctx context.Context, id engine.ID, since int64) (int64, any, error) {
		run, err := runs.Run(ctx, id)
		if err != nil || run.Seq <= since {
			return run.Seq, nil, err
		}
		nodes, err := runs.NodeRuns(ctx, id)
		if err != nil {
			return 0, nil, err
		}
		triggers, err := runs.TriggerRuns(ctx, id)
		if err != nil {
			return 0, nil, err
		}
		return run.Seq, stateOf(run, nodes, triggers), nil
	}
}

func stateOf(run engine.Run, nodes []engine.NodeRun, triggers []engine.TriggerRun) RunState {
	state := RunState{Outcome: run.Outcome, Nodes: []NodeState{}}
	at := map[engine.Ref]int{}
	for _, n := range nodes {
		newest := NodeState{
			Card: n.Ref.String(), State: n.State, Start: n.Start, Attempt: n.Attempt,
			Started: n.Started, Ended: n.Ended, Counts: n.Counts, Error: n.Error, Why: n.Waits(),
		}
		i, ok := at[n.Ref]
		switch {
		case !ok:
			at[n.Ref] = len(state.Nodes)
			state.Nodes = append(state.Nodes, newest)
		case n.Start > state.Nodes[i].Start || n.Start == state.Nodes[i].Start && n.Attempt > state.Nodes[i].Attempt:
			state.Nodes[i] = newest
		}
	}
	for _, t := range triggers {
		state.Triggers = append(state.Triggers, TriggerState{Card: string(t.Trigger), Fired: t.FiredAt, Dead: !t.DeadAt.IsZero()})
	}
	return state
}
