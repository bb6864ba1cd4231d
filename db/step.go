package db

import (
	"context"
	"fmt"

	"dogear/engine"
	"dogear/engine/flow"
)

// stepRow is a row of what happened in a run: the events of one transition, the
// first so many of them, or the next.
type stepRow struct {
	run         engine.ID
	first, last int64
	events      string
}

// maxEvents bounds the events of one row, for a reader that has seen some of them
// reads the row whole.
const maxEvents = 64

var putStep = newUpsert("write a step", "t i i t", `INSERT INTO step (run_id, first, last, events)`, "")

func stepArgs(to []any, r *stepRow) []any {
	return append(to, string(r.run), r.first, r.last, r.events)
}

// storedEvent is an event as a row of its step holds it: run and number are those
// of the row.
type storedEvent struct {
	Kind    string `json:"kind"`
	Card    string `json:"card,omitempty"`
	State   string `json:"state"`
	Start   int    `json:"start,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	At      int64  `json:"at"` // microseconds
	Text    string `json:"text,omitempty"`
}

// number gives a step and its events the next numbers of the run.
func number(w *flow.Writes) {
	for i := range w.Events {
		w.Run.Seq++
		w.Events[i].Seq = w.Run.Seq
	}
	if len(w.Events) == 0 {
		w.Run.Seq++
	}
}

// stepRows are the rows of a step that has its numbers.
func stepRows(to []stepRow, w *flow.Writes) []stepRow {
	if len(w.Events) == 0 {
		return append(to, stepRow{run: w.Run.ID, first: w.Run.Seq, last: w.Run.Seq, events: "[]"})
	}
	for events := w.Events; len(events) > 0; {
		n := min(len(events), maxEvents)
		stored := make([]storedEvent, n)
		for i := range stored {
			e := &events[i]
			stored[i] = storedEvent{Kind: e.Kind, Card: e.Card, State: e.State, Start: e.Start, Attempt: e.Attempt, At: micros(e.At), Text: e.Text}
		}
		to = append(to, stepRow{run: w.Run.ID, first: events[0].Seq, last: events[n-1].Seq, events: encode(stored)})
		events = events[n:]
	}
	return to
}

// selectSteps asks for the rows with the events of a run after a number.
const selectSteps = `SELECT first, events FROM step
WHERE run_id = ? AND first >= coalesce((SELECT max(first) FROM step WHERE run_id = ? AND first <= ?), 0) ORDER BY first`

// Events lists the events of a run after since, oldest first.
func (s *Store) Events(ctx context.Context, run engine.ID, since int64) ([]engine.Event, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(selectSteps), string(run), string(run), since+1)
	if err != nil {
		return nil, fmt.Errorf("list the events of run %s: %w", run, err)
	}
	defer rows.Close()
	var all []engine.Event
	for rows.Next() {
		var first int64
		var text string
		if err := rows.Scan(&first, &text); err != nil {
			return nil, fmt.Errorf("list the events of run %s: %w", run, err)
		}
		stored, err := decode[[]storedEvent](text)
		if err != nil {
			return nil, err
		}
		for i, e := range stored {
			if seq := first + int64(i); seq > since {
				all = append(all, engine.Event{
					Run: run, Seq: seq, Kind: e.Kind, Card: e.Card, State: e.State, Start: e.Start, Attempt: e.Attempt, At: instant(e.At), Text: e.Text,
				})
			}
		}
	}
	return all, rows.Err()
}
