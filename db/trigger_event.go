package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/flow"
)

// AddEvent keeps an event of a trigger and reports whether it is new: an id is
// taken once. A trigger that is not there or not enabled is NotFound or a
// Conflict, one for which too many wait LimitHit.
func (s *Store) AddEvent(ctx context.Context, e engine.TriggerEvent) (fresh bool, err error) {
	err = s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		if _, err := s.takesEvents(ctx, tx, e.Trigger, 1); err != nil {
			if known, lookErr := s.knowsEvent(ctx, tx, &e); lookErr != nil || known {
				return lookErr // its sender only did not hear the answer
			}
			return err
		}
		fresh, err = s.keepEvent(ctx, tx, &e)
		return err
	})
	return fresh, err
}

func (s *Store) knowsEvent(ctx context.Context, tx bun.Conn, e *engine.TriggerEvent) (bool, error) {
	var n int
	err := tx.Conn.QueryRowContext(ctx, s.bind(`SELECT count(*) FROM trigger_event WHERE trigger_id = ? AND id = ?`), string(e.Trigger), e.ID).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("look for an event: %w", err)
	}
	return n > 0, nil
}

// takesEvents refuses what is not enabled or has too much waiting for more. It
// keeps the trigger's row, so that a publish waits for what is under way, and
// returns since when it looks at its place.
func (s *Store) takesEvents(ctx context.Context, tx bun.Conn, trigger engine.ID, more int) (since int64, err error) {
	query := `SELECT active, since FROM event_trigger WHERE trigger_id = ?`
	if s.postgres() {
		query += ` FOR UPDATE`
	}
	var active, waiting int
	err = tx.Conn.QueryRowContext(ctx, s.bind(query), string(trigger)).Scan(&active, &since)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, engine.Errorf(engine.NotFound, "There is no such event trigger. Publish its workflow first.")
	}
	if err != nil {
		return 0, fmt.Errorf("read an event trigger: %w", err)
	}
	if active == 0 {
		return 0, engine.Errorf(engine.Conflict, "The trigger is off. Turn it on in its panel, or by dogear trigger on; then send the event again.")
	}
	err = tx.Conn.QueryRowContext(ctx, s.bind(`SELECT count(*) FROM trigger_event WHERE trigger_id = ? AND run_id = '' AND note = ''`), string(trigger)).Scan(&waiting)
	if err != nil {
		return 0, fmt.Errorf("count what waits: %w", err)
	}
	if more > 0 && waiting+more > engine.MostWaiting {
		return 0, engine.Errorf(engine.LimitHit, "%d events wait for this trigger already. Send it again when some have started their runs.", waiting)
	}
	return since, nil
}

func (s *Store) keepEvent(ctx context.Context, tx bun.Conn, e *engine.TriggerEvent) (fresh bool, err error) {
	result, err := tx.Conn.ExecContext(ctx, s.bind(`INSERT INTO trigger_event (trigger_id, id, at, detail) VALUES (?, ?, ?, ?) ON CONFLICT (trigger_id, id) DO NOTHING`),
		string(e.Trigger), e.ID, micros(e.At), e.Detail)
	if err != nil {
		return false, fmt.Errorf("keep an event: %w", err)
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// useEvents gives a batch of events to the run that they start. Whoever comes
// second finds them used, and starts nothing.
func (s *Store) useEvents(ctx context.Context, tx bun.Conn, f *flow.Fire, run engine.ID) error {
	result, err := tx.Conn.ExecContext(ctx, s.bind(`UPDATE event_trigger SET held = '' WHERE trigger_id = ? AND active <> 0`), string(f.Trigger))
	if err := changed(result, err, 1, "The trigger was disabled or deleted meanwhile."); err != nil {
		return err
	}
	args := []any{string(run), string(f.Trigger)}
	for _, id := range f.Events {
		args = append(args, id)
	}
	marks := strings.TrimPrefix(strings.Repeat(", ?", len(f.Events)), ", ")
	result, err = tx.Conn.ExecContext(ctx, s.bind(`UPDATE trigger_event SET run_id = ? WHERE trigger_id = ? AND run_id = '' AND note = '' AND id IN (`+marks+`)`), args...)
	return changed(result, err, int64(len(f.Events)), "These events have started a run already.")
}

// changed says otherwise where a statement did not change n rows.
func changed(result sql.Result, err error, n int64, otherwise string) error {
	if err != nil {
		return fmt.Errorf("use up events: %w", err)
	}
	if got, err := result.RowsAffected(); err != nil || got != n {
		return errors.Join(engine.Errorf(engine.Conflict, "%s", otherwise), err)
	}
	return nil
}

// letGo notes why the events that wait for a trigger will never start a run,
// and returns how many they are.
func (s *Store) letGo(ctx context.Context, tx bun.Conn, trigger, why string) (int64, error) {
	result, err := tx.Conn.ExecContext(ctx, s.bind(`UPDATE trigger_event SET note = ? WHERE trigger_id = ? AND run_id = '' AND note = ''`), why, trigger)
	if err != nil {
		return 0, fmt.Errorf("let go what waits: %w", err)
	}
	return result.RowsAffected()
}

// DiscardEvents lets go what waits for a trigger, because somebody asked for
// it, and returns how many events that were.
func (s *Store) DiscardEvents(ctx context.Context, trigger engine.ID, why string) (n int64, err error) {
	err = s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		if n, err = s.letGo(ctx, tx, string(trigger), why); err != nil {
			return err
		}
		return s.exec(ctx, tx, "hold nothing", `UPDATE event_trigger SET held = '' WHERE trigger_id = ?`, string(trigger))
	})
	return n, err
}

// beginning of a detail: lists show no more, and a hundred whole ones would fill a
// page with 25 MB.
const beginning = `CASE WHEN length(detail) > 2000 THEN substr(detail, 1, 2000) || '…' ELSE detail END`

// WaitingEvents lists the oldest events that wait for a trigger. A detail that a run
// is not told in any case is not read.
func (s *Store) WaitingEvents(ctx context.Context, trigger engine.ID, limit int) ([]engine.TriggerEvent, error) {
	whole := `CASE WHEN length(detail) > ` + strconv.Itoa(arrival.MostTold) + ` THEN '' ELSE detail END`
	return s.triggerEvents(ctx, whole, `WHERE trigger_id = ? AND run_id = '' AND note = '' ORDER BY at, id LIMIT ?`, string(trigger), limit)
}

// RecentEvents lists the newest events of a trigger, newest first, with the
// beginnings of their details.
func (s *Store) RecentEvents(ctx context.Context, trigger engine.ID, limit int) ([]engine.TriggerEvent, error) {
	return s.triggerEvents(ctx, beginning, `WHERE trigger_id = ? ORDER BY at DESC, id DESC LIMIT ?`, string(trigger), limit)
}

// EventsOf lists the events that started a run, in the order in which they came,
// with the beginnings of their details.
func (s *Store) EventsOf(ctx context.Context, run engine.ID) ([]engine.TriggerEvent, error) {
	return s.triggerEvents(ctx, beginning, `WHERE run_id = ? AND run_id <> '' ORDER BY at, id`, string(run))
}

// triggerEvents lists events with so much of each detail.
func (s *Store) triggerEvents(ctx context.Context, detail, where string, args ...any) ([]engine.TriggerEvent, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT trigger_id, id, at, `+detail+`, run_id, note FROM trigger_event `+where), args...)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	defer rows.Close()
	var all []engine.TriggerEvent
	for rows.Next() {
		var trigger, run string
		var at int64
		var e engine.TriggerEvent
		if err := rows.Scan(&trigger, &e.ID, &at, &e.Detail, &run, &e.Note); err != nil {
			return nil, fmt.Errorf("list events: %w", err)
		}
		e.Trigger, e.Run, e.At = engine.ID(trigger), engine.ID(run), instant(at)
		all = append(all, e)
	}
	return all, rows.Err()
}

// PruneEvents removes events that came before a time and wait for nothing any
// more. One of the same id would count as new again after that.
func (s *Store) PruneEvents(ctx context.Context, before time.Time) (n int64, err error) {
	result, err := s.write.DB.ExecContext(ctx, s.bind(`DELETE FROM trigger_event WHERE at < ? AND (run_id <> '' OR note <> '')`), micros(before))
	if err != nil {
		return 0, fmt.Errorf("remove old events: %w", err)
	}
	return result.RowsAffected()
}
