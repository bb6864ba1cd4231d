package exec

import (
	"context"
	"path/filepath"
	"testing"

	"dogear/engine"
)

// TestOneTargetHasOneWriter: a target is the same however it is spelled, and one
// that lies in another is written by both.
func TestOneTargetHasOneWriter(t *testing.T) {
	t.Parallel()
	e := New(Config{Target: func(_ context.Context, s engine.Sink) string { return filepath.Join("/data", s.Path) }})
	job := func(paths ...string) *engine.JobBody {
		sql := &engine.SQLJob{}
		for _, path := range paths {
			sql.Sinks = append(sql.Sinks, engine.Sink{Path: path})
		}
		return &engine.JobBody{SQL: sql}
	}
	first := engine.NodeKey{Run: "first"}
	if _, wait := e.targets.try(e.targetsOf(t.Context(), job("out/day", "log")), first); wait != nil {
		t.Fatal("a target that nobody writes: got a wait, want it")
	}
	tests := map[string]struct {
		paths []string
		free  bool
	}{
		"the same":         {[]string{"out/day"}, false},
		"spelled anew":     {[]string{"./out//x/../day/"}, false},
		"a folder in it":   {[]string{"out/day/1"}, false},
		"a folder of it":   {[]string{"out"}, false},
		"one of two":       {[]string{"free", "log"}, false},
		"beside it":        {[]string{"out/days", "logs"}, true},
		"nothing at all":   {nil, true},
		"another part":     {[]string{"day"}, true},
		"by another owner": {[]string{"out/night"}, true},
	}
	for name, tt := range tests {
		second := engine.NodeKey{Run: engine.ID(name)}

		holder, wait := e.targets.try(e.targetsOf(t.Context(), job(tt.paths...)), second)

		if free := wait == nil; free != tt.free || !free && holder != first {
			t.Errorf("%s: got free %v and holder %s, want free %v", name, free, holder.Run, tt.free)
		}
		e.targets.release(second)
	}
	if _, wait := e.targets.try(e.targetsOf(t.Context(), job("out/day")), first); wait != nil {
		t.Error("by who holds it: got a wait, want it")
	}
}
