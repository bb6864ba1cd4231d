package draft_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"dogear/engine"
	"dogear/engine/draft"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestATurnChangesOneSwitchOfBoth: what runs and the draft are, but for the switch of
// that trigger, what they were, whatever either holds.
func TestATurnChangesOneSwitchOfBoth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := func(name string) engine.WorkflowBody {
			w := engine.WorkflowBody{Properties: map[string]string{"Day": rapid.String().Draw(t, name+" property")}}
			for n := 1; n <= 3; n++ {
				if n == 1 && name == "runs" || rapid.Bool().Draw(t, name+" has it") {
					w.Triggers = append(w.Triggers, engine.Trigger{ID: id(n), Name: rapid.SampledFrom([]string{"daily", "weekly"}).Draw(t, name+" called"), Type: engine.Scheduled, Disabled: rapid.Bool().Draw(t, name+" is off")})
				}
			}
			return w
		}
		runs, drawn, turn := body("runs"), body("drawn"), draft.Turn{Trigger: id(1), On: rapid.Bool().Draw(t, "on")}
		alike := func(from, to engine.WorkflowBody) bool { // but for the switch
			for _, w := range []*engine.WorkflowBody{&from, &to} {
				w.Triggers = append([]engine.Trigger{}, w.Triggers...)
				if trigger := w.Trigger(turn.Trigger); trigger != nil {
					trigger.Disabled = false
				}
			}
			return draft.Between(from, to).Empty()
		}

		made, err := turn.Apply(runs, drawn, "ann", noon)
		if err != nil {
			t.Fatal(err)
		}

		if !alike(runs, made.Runs) || !alike(drawn, made.Drawn) {
			t.Fatalf("the turn changed more than its switch: %+v became %+v, and the draft %+v became %+v", runs, made.Runs, drawn, made.Drawn)
		}
		if made.Runs.Trigger(turn.Trigger).Disabled == turn.On {
			t.Errorf("what runs is %+v, want on: %t", made.Runs, turn.On)
		}
		in, was := made.Drawn.Trigger(turn.Trigger), drawn.Trigger(turn.Trigger)
		if in != nil && in.Disabled == turn.On || (in == nil) != (was == nil) {
			t.Errorf("the draft has %+v of %+v, want on: %t, and nothing that it deleted", in, was, turn.On)
		}
		if changed := was != nil && was.Disabled == turn.On; (made.Entry != nil) != changed {
			t.Errorf("the entry is %+v, want one only where the draft changed: %t", made.Entry, changed)
		}
	})
}

func TestATurnIsRefusedWhereNothingRunsThatHasASwitch(t *testing.T) {
	t.Parallel()
	runs := engine.WorkflowBody{Triggers: []engine.Trigger{{ID: id(1), Name: "by hand", Type: engine.OnDemand}}}

	_, none := draft.Turn{Trigger: id(2)}.Apply(runs, runs, "ann", noon)
	_, hand := draft.Turn{Trigger: id(1)}.Apply(runs, runs, "ann", noon)

	if engine.CodeOf(none) != engine.NotFound || engine.CodeOf(hand) != engine.Invalid {
		t.Errorf("a turn of nothing = %v and of a start by hand = %v, want %s and %s", none, hand, engine.NotFound, engine.Invalid)
	}
}

// TestAnUndoPassesOverATurn: what was done before it can be undone, and what it changed
// cannot.
func TestAnUndoPassesOverATurn(t *testing.T) {
	t.Parallel()
	s, l, _ := service()
	_, err := s.Save(t.Context(), "w", "ann", patch(0, start(100), add(1)))
	must(t, err)
	made, err := draft.Turn{Trigger: id(100)}.Apply(l.draft.Body, l.draft.Body, "ann", noon)
	must(t, err)
	_, err = l.Edit(t.Context(), "w", nil, func(draft.Draft, map[string]bool) (engine.WorkflowBody, []draft.Entry, error) {
		return made.Drawn, []draft.Entry{*made.Entry}, nil
	})
	must(t, err)

	h, err := s.History(t.Context(), "w", "ann")
	must(t, err)
	_, card := s.Save(t.Context(), "w", "ann", patch(3, restores("undo", draft.Undo, h.Undo[1])...))
	_, trigger := s.Save(t.Context(), "w", "ann", patch(4, restores("undo it", draft.Undo, h.Undo[0])...))

	if len(h.Undo) != 2 || card != nil || engine.CodeOf(trigger) != engine.Conflict {
		t.Errorf("%d acts to undo, the card %v, the trigger %v; want 2, nil, and a conflict as it was turned since", len(h.Undo), card, trigger)
	}
}
