package engine_test

import (
	"testing"
	"time"

	"dogear/engine"
)

func TestD17ARunIsAsLateAsItsFirstWork(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	node := func(after time.Duration) engine.NodeRun { return engine.NodeRun{Started: noon.Add(after)} }
	held := func(after time.Duration) engine.NodeRun { return engine.NodeRun{Started: noon.Add(after), Held: true} }
	tests := map[string]struct {
		run   engine.Run
		nodes []engine.NodeRun
		want  time.Duration
	}{
		"its first work counts":        {run: engine.Run{Due: noon, Started: noon.Add(time.Second)}, nodes: []engine.NodeRun{node(42 * time.Minute), node(43 * time.Minute)}, want: 42 * time.Minute},
		"its first waited for a pool":  {run: engine.Run{Due: noon, Started: noon.Add(time.Second)}, nodes: []engine.NodeRun{held(42 * time.Minute), node(43 * time.Minute)}, want: time.Second},
		"its second waited for a pool": {run: engine.Run{Due: noon, Started: noon.Add(time.Second)}, nodes: []engine.NodeRun{held(43 * time.Minute), node(42 * time.Minute)}, want: 42 * time.Minute},
		"nothing works yet":            {run: engine.Run{Due: noon, Started: noon.Add(time.Second)}, nodes: []engine.NodeRun{{}}, want: time.Hour},
		"nothing ever worked":          {run: engine.Run{Due: noon, Started: noon, Ended: noon.Add(30 * time.Minute)}, nodes: []engine.NodeRun{{}}, want: 30 * time.Minute},
		"its first waits for a pool":   {run: engine.Run{Due: noon, Started: noon.Add(time.Second)}, nodes: []engine.NodeRun{{State: engine.Ready, Why: engine.WaitsForPlace + "x"}}, want: time.Second},
		"its first waits for a slot":   {run: engine.Run{Due: noon, Started: noon.Add(time.Second)}, nodes: []engine.NodeRun{{State: engine.Ready, Why: "waits for one of the server's slots"}}, want: time.Hour},
		"its second waits for a pool":  {run: engine.Run{Due: noon, Started: noon.Add(time.Second)}, nodes: []engine.NodeRun{node(time.Minute), {State: engine.Ready, Why: engine.WaitsForPlace + "x"}}, want: time.Minute},
		"of a list":                    {run: engine.Run{Due: noon, Started: noon.Add(3 * time.Minute)}, want: 3 * time.Minute},
		"a clock that was set back":    {run: engine.Run{Due: noon, Started: noon.Add(-time.Second)}},
		"no schedule":                  {run: engine.Run{Started: noon}, nodes: []engine.NodeRun{node(time.Hour)}},
		"it goes on from one long ago": {run: engine.Run{Due: noon, Previous: "x", Started: noon.Add(time.Hour)}},
	}
	for name, tt := range tests {
		if got := tt.run.Late(tt.nodes, noon.Add(time.Hour)); got != tt.want {
			t.Errorf("%s: late by %s, want %s", name, got, tt.want)
		}
	}
}

// TestD17TheNextStartIsNeverInThePast: it is the row's, and where that has come
// the one after now, with how long the row waits.
func TestD17TheNextStartIsNeverInThePast(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	hourly := func(_ engine.Trigger, after time.Time) time.Time { return after.Truncate(time.Hour).Add(time.Hour) }
	tests := map[string]struct {
		trigger engine.Trigger
		row     *engine.Schedule
		want    engine.Coming
	}{
		"the row's":                         {row: &engine.Schedule{Next: noon.Add(7 * time.Minute)}, want: engine.Coming{At: noon.Add(7 * time.Minute)}},
		"a row that a lost server left":     {row: &engine.Schedule{Next: noon.Add(-3 * time.Hour)}, want: engine.Coming{At: noon.Add(time.Hour), Overdue: 3 * time.Hour}},
		"due at this moment":                {row: &engine.Schedule{Next: noon}, want: engine.Coming{At: noon.Add(time.Hour)}},
		"never again":                       {row: &engine.Schedule{}},
		"paused, whatever the row says":     {trigger: engine.Trigger{Disabled: true}, row: &engine.Schedule{Next: noon.Add(time.Hour)}, want: engine.Coming{Paused: true}},
		"paused, so that there is no row":   {trigger: engine.Trigger{Disabled: true}, want: engine.Coming{Paused: true}},
		"not published, so there is no row": {},
	}
	for name, tt := range tests {
		if got := tt.trigger.Comes(tt.row, noon, hourly); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
