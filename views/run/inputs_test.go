package run

import (
	"fmt"
	"strings"
	"testing"

	"dogear/engine"
)

// TestInputsSayWhatBecameOfThem: what a plan takes counts as read once its batch is
// committed, but for what was held or had changed; of an attempt that failed, nothing.
func TestInputsSayWhatBecameOfThem(t *testing.T) {
	t.Parallel()
	object := func(key string, r engine.Reason, taken bool) engine.Planned {
		return engine.Planned{Object: engine.Object{Key: key, Size: 10}, Reason: r, Taken: taken}
	}
	plan := engine.Plan{Sources: []engine.SourcePlan{{
		Source: "input",
		Taken: []engine.Planned{
			object("a.csv", engine.ReasonNew, true), object("bad.csv", engine.ReasonNew, true),
			object("c.csv", engine.ReasonNew, true), object("later.csv", engine.ReasonNew, true),
		},
		Exceptions: []engine.Planned{object("young.csv", engine.ReasonTooYoung, false)},
		Counts: map[engine.Reason]engine.Tally{
			engine.ReasonNew: {Files: 4, Bytes: 40}, engine.ReasonTooYoung: {Files: 1, Bytes: 10}, engine.ReasonAlreadyRead: {Files: 7, Bytes: 70},
		},
	}}}
	left := []engine.InputLeft{{Source: "input", Key: "bad.csv", Held: true, Note: "it is cut off"}, {Source: "input", Key: "later.csv"}, {Source: "other", Key: "a.csv", Held: true}}
	tests := map[string]struct {
		state  engine.BatchState
		live   bool
		groups string
		items  string
		none   bool
	}{
		"read": {
			state:  engine.BatchFinalized,
			groups: "Read: New 2; Held: New 1; Changed since the plan: New 1; Left: Too young, may still be written 1; Left: Already read 7",
			items:  "a.csv check New; bad.csv hand Held; c.csv check New; later.csv minus Changed since the plan; young.csv minus Too young, may still be written",
		},
		"being published": {
			state: engine.BatchCommitted, live: true,
			groups: "Read: New 2; Held: New 1; Changed since the plan: New 1; Left: Too young, may still be written 1; Left: Already read 7",
			items:  "a.csv check New; bad.csv hand Held; c.csv check New; later.csv minus Changed since the plan; young.csv minus Too young, may still be written",
		},
		"running": {
			state: engine.BatchPlanned, live: true,
			groups: "Takes: New 4; Left: Too young, may still be written 1; Left: Already read 7",
			items:  "a.csv circle-dashed New; bad.csv circle-dashed New; c.csv circle-dashed New; later.csv circle-dashed New; young.csv minus Too young, may still be written",
		},
		"failed": {
			state: engine.BatchPlanned, none: true,
			groups: "Not read: New 4; Left: Too young, may still be written 1; Left: Already read 7",
			items:  "a.csv minus New; bad.csv minus New; c.csv minus New; later.csv minus New; young.csv minus Too young, may still be written",
		},
		"abandoned": {
			state: engine.BatchDiscarded, none: true,
			groups: "Not read: New 4; Left: Too young, may still be written 1; Left: Already read 7",
			items:  "a.csv minus New; bad.csv minus New; c.csv minus New; later.csv minus New; young.csv minus Too young, may still be written",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			batch := engine.Batch{State: tt.state, Plan: plan, Manifest: engine.Manifest{Left: left}}

			got := PageInputs(batch, tt.live, 0, 100)

			var groups, items []string
			for _, g := range got.Groups {
				groups = append(groups, fmt.Sprintf("%s %d", g.words(), g.Files))
			}
			for _, i := range got.Items {
				items = append(items, i.Key+" "+i.icon()+" "+i.word())
			}
			if g := strings.Join(groups, "; "); g != tt.groups {
				t.Errorf("groups: got %s\nwant %s", g, tt.groups)
			}
			if i := strings.Join(items, "; "); i != tt.items {
				t.Errorf("items: got %s\nwant %s", i, tt.items)
			}
			if (got.None != "") != tt.none {
				t.Errorf("got %q, want a word on it: %t", got.None, tt.none)
			}
		})
	}
}
