package draft_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/draft"
)

// ledger keeps one draft in memory by the rules of the port.
type ledger struct {
	mu      sync.Mutex
	draft   draft.Draft
	entries []draft.Entry
}

func (l *ledger) Draft(context.Context, engine.ID) (draft.Draft, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.draft, nil
}

func (l *ledger) Edit(_ context.Context, _ engine.ID, ops []string,
	change func(draft.Draft, map[string]bool) (engine.WorkflowBody, []draft.Entry, error),
) (draft.Draft, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	done := map[string]bool{}
	for _, e := range l.entries {
		for _, op := range ops {
			done[op] = done[op] || e.Op == op
		}
	}
	body, entries, err := change(l.draft, done)
	if err != nil {
		return l.draft, err
	}
	for _, e := range entries {
		l.draft.Seq++
		e.Seq = l.draft.Seq
		l.entries = append(l.entries, e)
	}
	l.draft.Body = body
	return l.draft, nil
}

func (l *ledger) Discard(ctx context.Context, id engine.ID, _ []draft.Seen,
	change func(draft.Draft, map[string]bool) (engine.WorkflowBody, []draft.Entry, error),
) (draft.Draft, error) {
	return l.Edit(ctx, id, nil, change)
}

func (l *ledger) Since(_ context.Context, _ engine.ID, seq int64) ([]draft.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]draft.Entry{}, l.entries[seq:]...), nil
}

func (l *ledger) Acts(_ context.Context, _ engine.ID, by string, _ int) ([]draft.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var mine []draft.Entry
	for _, e := range l.entries {
		if e.By == by {
			mine = append(mine, e)
		}
	}
	return mine, nil
}

func (l *ledger) Names(context.Context) (draft.Names, error) { return names(), nil }

type told struct {
	mu   sync.Mutex
	seqs []int64
}

func (t *told) tell(_ engine.ID, entries []draft.Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range entries {
		t.seqs = append(t.seqs, e.Seq)
	}
}

func service() (*draft.Service, *ledger, *told) {
	l, heard := &ledger{}, &told{}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return draft.NewService(l, l, heard.tell, func() time.Time { return noon }), l, heard
}

func patch(base int64, ops ...draft.Op) draft.Patch {
	for i := range ops {
		if ops[i].ID == "" {
			ops[i].ID = fmt.Sprint(base, " ", i)
		}
	}
	return draft.Patch{Base: base, Client: "tab", Ops: ops}
}

// Case E01: a client that was behind hears what it missed together with its own.
func TestE01SaveAnswersWithWhatWasMissed(t *testing.T) {
	t.Parallel()
	s, _, heard := service()

	_, err := s.Save(t.Context(), "w", "ann", patch(0, add(1), add(2)))
	must(t, err)
	saved, err := s.Save(t.Context(), "w", "ben", patch(0, draft.Op{ID: "of ben", Kind: draft.AddNode, Card: card(3)}))
	must(t, err)

	if saved.Seq != 3 || len(saved.Entries) != 3 || saved.Entries[0].By != "ann" || saved.Entries[2].By != "ben" {
		t.Errorf("saved = %+v, want three entries, the last by ben", saved)
	}
	if want := []int64{1, 2, 3}; !reflect.DeepEqual(heard.seqs, want) {
		t.Errorf("told of %v, want %v", heard.seqs, want)
	}
}

func TestARepeatedRequestChangesNothing(t *testing.T) {
	t.Parallel()
	s, l, _ := service()
	request := patch(0, add(1), add(2), connect(card(1), card(2), 100))

	first, err := s.Save(t.Context(), "w", "ann", request)
	must(t, err)
	again, err := s.Save(t.Context(), "w", "ann", request)
	must(t, err)

	if !reflect.DeepEqual(first, again) || len(l.entries) != 3 {
		t.Errorf("the repeat answered %+v with %d entries, want %+v with 3", again, len(l.entries), first)
	}
}

func TestARequestIsAppliedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	s, l, heard := service()

	_, err := s.Save(t.Context(), "w", "ann", patch(0, add(1), connect(card(1), card(1), 100)))

	r, ok := errors.AsType[*draft.Refusal](err)
	if !ok || r.Index != 1 || r.Why != draft.Cycle {
		t.Errorf("Save = %v, want the second operation refused", err)
	}
	if len(l.entries) != 0 || len(l.draft.Body.Cards) != 0 || len(heard.seqs) != 0 {
		t.Errorf("the refused request left %+v", l.draft)
	}
}

func TestAClientFarBehindGetsTheWholeDraft(t *testing.T) {
	t.Parallel()
	s, l, _ := service()
	for n := range int64(30) {
		ops := make([]draft.Op, 20)
		for i := range ops {
			ops[i] = draft.Op{ID: fmt.Sprint(n, i), Kind: draft.AddNode, Card: card(1)}
			if i%2 == 1 {
				ops[i] = draft.Op{ID: fmt.Sprint(n, i), Kind: draft.DelNode, Card: card(1)}
			}
		}
		_, err := s.Save(t.Context(), "w", "ann", draft.Patch{Base: n * 20, Ops: ops})
		must(t, err)
	}

	behind, err := s.Since(t.Context(), "w", 0)
	must(t, err)
	near, err := s.Since(t.Context(), "w", 590)
	must(t, err)

	if behind.Body == nil || behind.Seq != l.draft.Seq || behind.Entries != nil {
		t.Errorf("far behind: %+v, want a whole body", behind)
	}
	if near.Body != nil || len(near.Entries) != 10 {
		t.Errorf("near: %d entries, want 10", len(near.Entries))
	}
}

func TestHistorySurvivesAReload(t *testing.T) {
	t.Parallel()
	s, l, _ := service()
	drop := []draft.Op{add(2), connect(card(1), card(2), 100)}
	for i := range drop {
		drop[i].Act = "drop" // one act of the person
	}
	_, err := s.Save(t.Context(), "w", "ann", patch(0, add(1)))
	must(t, err)
	_, err = s.Save(t.Context(), "w", "ann", patch(1, drop...))
	must(t, err)
	_, err = s.Save(t.Context(), "w", "ben", patch(3, add(3)))
	must(t, err)

	h, err := s.History(t.Context(), "w", "ann")
	must(t, err)
	if len(h.Undo) != 2 || len(h.Undo[1].Deltas) != 2 {
		t.Fatalf("ann can undo %+v, want two acts, the last of two changes", h.Undo)
	}
	undo := restores("undo", draft.Undo, h.Undo[1])
	_, err = s.Save(t.Context(), "w", "ann", patch(4, undo...))
	must(t, err)
	if got, want := len(l.draft.Body.Refs()), 2; got != want {
		t.Errorf("after the undo %d cards, want %d: a, and c of ben", got, want)
	}

	h, err = s.History(t.Context(), "w", "ann")
	must(t, err)
	if len(h.Undo) != 1 || len(h.Redo) != 1 {
		t.Fatalf("after the undo %d to undo, %d to redo; want one each", len(h.Undo), len(h.Redo))
	}
	_, err = s.Save(t.Context(), "w", "ann", patch(6, restores("redo", draft.Redo, h.Redo[0])...))
	must(t, err)
	if len(l.draft.Body.Triggers) != 1 || len(l.draft.Body.Refs()) != 3 {
		t.Errorf("after the redo %+v, want the connection again", l.draft.Body)
	}
}

func TestUndoDoesNotReachBehindACommandLine(t *testing.T) {
	t.Parallel()
	s, _, _ := service()
	_, err := s.Save(t.Context(), "w", "ann", patch(0, add(1)))
	must(t, err)
	turned := patch(1, add(2))
	turned.Client = draft.CommandLine
	_, err = s.Save(t.Context(), "w", "ann", turned)
	must(t, err)
	_, err = s.Save(t.Context(), "w", "ann", patch(2, add(3)))
	must(t, err)

	h, err := s.History(t.Context(), "w", "ann")

	must(t, err)
	if len(h.Undo) != 1 || len(h.Undo[0].Deltas) != 1 || h.Undo[0].Deltas[0].Cards[0].Ref.String() != card(3) {
		t.Errorf("ann can undo %+v, want the last card alone", h.Undo)
	}
}

func restores(act string, of draft.Of, a draft.Act) []draft.Op {
	var ops []draft.Op
	for i, delta := range a.Inverse() {
		ops = append(ops, draft.Op{ID: fmt.Sprint(act, i), Act: act, Kind: draft.Restore, Of: of, Delta: &delta})
	}
	return ops
}

func TestUndoNeverTakesBackAnotherPersonsEdit(t *testing.T) {
	t.Parallel()
	s, _, _ := service()
	state := engine.Failed
	_, err := s.Save(t.Context(), "w", "ann", patch(0, add(1), add(2), connect(card(1), card(2), 100)))
	must(t, err)
	_, err = s.Save(t.Context(), "w", "ben", patch(3, draft.Op{
		Kind: draft.SetCondition, Card: string(id(100)), To: card(1), Patch: &draft.Fields{State: &state},
	}))
	must(t, err)
	h, err := s.History(t.Context(), "w", "ann")
	must(t, err)

	_, err = s.Save(t.Context(), "w", "ann", patch(4, restores("undo", draft.Undo, h.Undo[2])...))

	if engine.CodeOf(err) != engine.Conflict || engine.MessageOf(err) != "after a was changed meanwhile." {
		t.Errorf("the undo = %v, want a conflict that names the trigger", err)
	}
}
