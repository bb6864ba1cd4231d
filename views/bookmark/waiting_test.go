package bookmark

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

// TestWhatIsLeftIsSaidForWhatItIs: a file that is held because it cannot be read did
// not change in place, and a source that holds one is not read to its end.
func TestWhatIsLeftIsSaidForWhatItIs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	entry := func(s engine.EntryState) *engine.Entry { return &engine.Entry{State: s, Note: "it is cut off"} }
	left := func(key string, r engine.Reason, prior *engine.Entry) engine.Planned {
		return engine.Planned{Object: engine.Object{Key: key, Size: 5, ModNS: now.UnixNano()}, Reason: r, Prior: prior}
	}
	tests := map[string]struct {
		left    []engine.Planned
		taken   []engine.Planned
		waiting string
		changed int64
		note    string
		card    string
	}{
		"nothing":            {waiting: "everything is read", note: "since it was read", card: "up to date"},
		"cannot be read":     {left: []engine.Planned{left("bad.csv", engine.ReasonHeld, entry(engine.EntryHeld))}, waiting: "everything else is read; 1 held", note: "since it was read", card: "1 held"},
		"changed and held":   {left: []engine.Planned{left("a.csv", engine.ReasonHeld, entry(engine.EntryRead))}, waiting: "everything else is read; 1 held", changed: 1, note: "held, because the target appends", card: "1 held"},
		"changed, skipped":   {left: []engine.Planned{left("a.csv", engine.ReasonChanged, entry(engine.EntryRead))}, waiting: "everything is read", changed: 1, note: "skipped, as the source has it", card: "up to date"},
		"one of each":        {left: []engine.Planned{left("a.csv", engine.ReasonHeld, entry(engine.EntryRead)), left("bad.csv", engine.ReasonHeld, entry(engine.EntryHeld))}, waiting: "everything else is read; 2 held", changed: 1, note: "held, because the target appends", card: "2 held"},
		"still written":      {left: []engine.Planned{left("a.csv", engine.ReasonTooYoung, nil)}, waiting: "everything else is read; 1 too young", note: "since it was read", card: "1 too young"},
		"changed and waited": {taken: []engine.Planned{left("a.csv", engine.ReasonChanged, entry(engine.EntryRead))}, waiting: "", changed: 1, note: "read again by the next run", card: "1 file · just now"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := View{Listed: true, Now: now, Waiting: engine.SourcePlan{Taken: tt.taken, Exceptions: tt.left}}
			var page bytes.Buffer
			if err := waiting(v).Render(t.Context(), &page); err != nil {
				t.Fatal(err)
			}

			n, note := v.changed()
			var lag Lag
			said := lag.Add(engine.Bookmark{Ctx: "in"}, v.Waiting, nil, now)
			lag.Finish("", 1, now)

			if !strings.Contains(page.String(), tt.waiting) || !strings.Contains(said, tt.waiting) {
				t.Errorf("waiting: got %s and %q, want %q", page.String(), said, tt.waiting)
			}
			if n != tt.changed || note != tt.note || lag.Text != tt.card {
				t.Errorf("got %d changed, %q, and the card %q; want %d, %q, %q", n, note, lag.Text, tt.changed, tt.note, tt.card)
			}
		})
	}
}
