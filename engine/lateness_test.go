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
	tests := map[string]struct {
		run   engine.Run
		nodes []engine.NodeRun
		want  time.Duration
	}{
		"its first work counts":        {engine.Run{Due: noon, Started: noon.Add(time.Second)}, []engine.NodeRun{node(42 * time.Minute), node(43 * time.Minute)}, 42 * time.Minute},
		"nothing works yet":            {engine.Run{Due: noon, Started: noon.Add(time.Second)}, []engine.NodeRun{{}}, time.Hour},
		"nothing ever worked":          {engine.Run{Due: noon, Started: noon, Ended: noon.Add(30 * time.Minute)}, []engine.NodeRun{{}}, 30 * time.Minute},
		"its first waits for a pool":   {engine.Run{Due: noon, Started: noon.Add(time.Second)}, []engine.NodeRun{{State: engine.Ready, Why: engine.WaitsForPlace + "x"}}, time.Second},
		"its first waits for a slot":   {engine.Run{Due: noon, Started: noon.Add(time.Second)}, []engine.NodeRun{{State: engine.Ready, Why: "waits for one of the server's slots"}}, time.Hour},
		"its second waits for a pool":  {engine.Run{Due: noon, Started: noon.Add(time.Second)}, []engine.NodeRun{node(time.Minute), {State: engine.Ready, Why: engine.WaitsForPlace + "x"}}, time.Minute},
		"of a list":                    {engine.Run{Due: noon, Started: noon.Add(3 * time.Minute)}, nil, 3 * time.Minute},
		"a clock that was set back":    {engine.Run{Due: noon, Started: noon.Add(-time.Second)}, nil, 0},
		"no schedule":                  {engine.Run{Started: noon}, []engine.NodeRun{node(time.Hour)}, 0},
		"it goes on from one long ago": {engine.Run{Due: noon, Previous: "x", Started: noon.Add(time.Hour)}, nil, 0},
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
