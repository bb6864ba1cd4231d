package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/arrival"
)

// eventTriggerRow is one event trigger of a published workflow.
type eventTriggerRow struct {
	bun.BaseModel `bun:"table:event_trigger"`

	TriggerID  string `bun:",pk"`
	WorkflowID string
	Rule       string
	Active     int64
	Since      int64
	Based      int64
	Looked     int64
	Trouble    string
	Held       string
}

const selectEventTrigger = `SELECT trigger_id, workflow_id, rule, active, since, based, looked, trouble, held,
  (SELECT count(*) FROM trigger_event AS e WHERE e.trigger_id = t.trigger_id AND run_id = '' AND note = ''),
  (SELECT coalesce(min(at), 0) FROM trigger_event AS e WHERE e.trigger_id = t.trigger_id AND run_id = '' AND note = '')
  FROM event_trigger AS t`

func scanEventTrigger(row interface{ Scan(...any) error }) (engine.EventTrigger, error) {
	var r eventTriggerRow
	var waiting int
	var first int64
	err := row.Scan(&r.TriggerID, &r.WorkflowID, &r.Rule, &r.Active, &r.Since, &r.Based, &r.Looked, &r.Trouble, &r.Held, &waiting, &first)
	if err != nil {
		return engine.EventTrigger{}, err
	}
	rule, err := decode[engine.EventRule](r.Rule)
	return engine.EventTrigger{
		Trigger: engine.ID(r.TriggerID), Workflow: engine.ID(r.WorkflowID), Rule: rule, Active: r.Active != 0, Since: instant(r.Since),
		Based: instant(r.Based), Looked: instant(r.Looked), Trouble: r.Trouble, Held: r.Held, Waiting: waiting, First: instant(first),
	}, err
}

// EventTriggers lists the event triggers of the published workflows that are
// enabled.
func (s *Store) EventTriggers(ctx context.Context) ([]engine.EventTrigger, error) {
	rows, err := s.read.DB.QueryContext(ctx, selectEventTrigger+` WHERE active <> 0 ORDER BY trigger_id`)
	if err != nil {
		return nil, fmt.Errorf("list the event triggers: %w", err)
	}
	defer rows.Close()
	var all []engine.EventTrigger
	for rows.Next() {
		t, err := scanEventTrigger(rows)
		if err != nil {
			return nil, fmt.Errorf("list the event triggers: %w", err)
		}
		all = append(all, t)
	}
	return all, rows.Err()
}

// EventTrigger returns an event trigger as it was published, enabled or not.
func (s *Store) EventTrigger(ctx context.Context, trigger engine.ID) (engine.EventTrigger, error) {
	t, err := scanEventTrigger(s.read.DB.QueryRowContext(ctx, s.bind(selectEventTrigger+` WHERE trigger_id = ?`), string(trigger)))
	if errors.Is(err, sql.ErrNoRows) {
		return t, engine.Errorf(engine.NotFound, "There is no such event trigger, or its workflow has not been published with it.")
	}
	if err != nil {
		return t, fmt.Errorf("read event trigger %s: %w", trigger, err)
	}
	return t, nil
}

// putEventTriggers makes the event triggers of a workflow those of its published
// version. One that looks at the same place as before keeps what it has seen;
// events that wait for one that is gone are let go, with a note.
func (s *Store) putEventTriggers(ctx context.Context, tx bun.Conn, w *engine.Workflow, now time.Time) error {
	var rows []eventTriggerRow
	if err := s.lock(tx.NewSelect().Model(&rows).Where("workflow_id = ?", string(w.ID))).Scan(ctx); err != nil {
		return fmt.Errorf("read the event triggers of a workflow: %w", err)
	}
	var kept []string
	for _, t := range w.Triggers {
		if t.Type != engine.OnEvent {
			continue
		}
		row := eventTriggerRow{TriggerID: string(t.ID), WorkflowID: string(w.ID), Rule: encode(t.Event), Since: micros(now)}
		if !t.Disabled {
			row.Active = 1
		}
		i := slices.IndexFunc(rows, func(r eventTriggerRow) bool { return r.TriggerID == row.TriggerID })
		same, err := keepsPlace(rows, i, &row, t.Event)
		if err != nil {
			return err
		}
		if same {
			row.Since, row.Based, row.Looked = rows[i].Since, rows[i].Based, rows[i].Looked
		} else if err := s.forget(ctx, tx, row.TriggerID); err != nil {
			return err
		}
		_, err = tx.NewInsert().Model(&row).On("CONFLICT (trigger_id) DO UPDATE").
			Set("rule = EXCLUDED.rule, active = EXCLUDED.active, since = EXCLUDED.since, based = EXCLUDED.based").
			Set("looked = EXCLUDED.looked, trouble = EXCLUDED.trouble, held = EXCLUDED.held").Exec(ctx)
		if err != nil {
			return fmt.Errorf("write an event trigger: %w", err)
		}
		kept = append(kept, row.TriggerID)
	}
	return s.dropEventTriggers(ctx, tx, w.ID, kept, "the trigger was deleted")
}

// keepsPlace reports whether row goes on from rows[i], which may not be there.
func keepsPlace(rows []eventTriggerRow, i int, row *eventTriggerRow, rule engine.EventRule) (bool, error) {
	if i < 0 || rows[i].Active != row.Active {
		return false, nil
	}
	was, err := decode[engine.EventRule](rows[i].Rule)
	return arrival.SamePlace(was, rule), err
}

func (s *Store) forget(ctx context.Context, tx bun.Conn, trigger string) error {
	return s.exec(ctx, tx, "forget what a trigger has seen", `DELETE FROM trigger_seen WHERE trigger_id = ?`, trigger)
}

// dropEventTriggers removes the event triggers of a workflow but for those that
// are kept, with their secrets, and notes why what waited for them was let go.
func (s *Store) dropEventTriggers(ctx context.Context, tx bun.Conn, workflow engine.ID, kept []string, why string) error {
	var rows []eventTriggerRow
	if err := tx.NewSelect().Model(&rows).Column("trigger_id").Where("workflow_id = ?", string(workflow)).Scan(ctx); err != nil {
		return fmt.Errorf("read the event triggers of a workflow: %w", err)
	}
	for _, r := range rows {
		if slices.Contains(kept, r.TriggerID) {
			continue
		}
		if err := s.forget(ctx, tx, r.TriggerID); err != nil {
			return err
		}
		for _, statement := range []string{`DELETE FROM event_trigger WHERE trigger_id = ?`, `DELETE FROM secret WHERE object_id = ?`} {
			if err := s.exec(ctx, tx, "remove an event trigger", statement, r.TriggerID); err != nil {
				return err
			}
		}
		if _, err := s.letGo(ctx, tx, r.TriggerID, why); err != nil {
			return err
		}
	}
	return nil
}

// NewTriggerSecret keeps secret as the one that signs the calls of a trigger; an
// earlier one stops to count.
func (s *Store) NewTriggerSecret(ctx context.Context, trigger engine.ID, secret string, now time.Time) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		return s.putSecret(ctx, tx, string(trigger), secret, now)
	})
}

// HoldEvents notes why a batch that is complete waits; "" that none does.
func (s *Store) HoldEvents(ctx context.Context, trigger engine.ID, why string) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		return s.exec(ctx, tx, "hold a batch of events", `UPDATE event_trigger SET held = ? WHERE trigger_id = ?`, why, string(trigger))
	})
}

// BeginLook reports whether it is this caller who looks at the place of a
// trigger now: nobody has since the time since.
func (s *Store) BeginLook(ctx context.Context, trigger engine.ID, since, now time.Time) (mine bool, err error) {
	err = s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		result, err := tx.Conn.ExecContext(ctx, s.bind(`UPDATE event_trigger SET looked = ? WHERE trigger_id = ? AND active <> 0 AND looked <= ?`),
			micros(now), string(trigger), micros(since))
		if err != nil {
			return fmt.Errorf("begin a look: %w", err)
		}
		n, err := result.RowsAffected()
		mine = n == 1
		return err
	})
	return mine, err
}

// EndLook notes that a place of t was looked through as it was at the time
// began. A Conflict says that t looks elsewhere by now.
func (s *Store) EndLook(ctx context.Context, t engine.EventTrigger, place string, began time.Time) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		if err := s.takesSightings(ctx, tx, t, 0); err != nil {
			return err
		}
		if _, err := s.see(ctx, tx, t.Trigger, place, engine.Sighting{Mark: "looked"}, began); err != nil {
			return err
		}
		return s.exec(ctx, tx, "note a look", `UPDATE event_trigger SET trouble = '', looked = ?, based = CASE WHEN based = 0 THEN ? ELSE based END WHERE trigger_id = ?`,
			micros(began), micros(began), string(t.Trigger))
	})
}

// FailLook notes why a look failed, unless one has succeeded since: another
// server may have what this one has not.
func (s *Store) FailLook(ctx context.Context, trigger engine.ID, trouble string, since time.Time) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		return s.exec(ctx, tx, "note the trouble of a look", `UPDATE event_trigger SET trouble = ? WHERE trigger_id = ? AND looked <= ?`,
			trouble, string(trigger), micros(since))
	})
}

// LookedThrough reports whether a place of a trigger was ever looked through.
func (s *Store) LookedThrough(ctx context.Context, trigger engine.ID, place string) (bool, error) {
	var n int
	err := s.read.DB.QueryRowContext(ctx, s.bind(`SELECT count(*) FROM trigger_seen WHERE trigger_id = ? AND place = ? AND key = ''`), string(trigger), place).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("look up a place: %w", err)
	}
	return n > 0, nil
}

// HasSecret reports whether an object has a secret, without opening it.
func (s *Store) HasSecret(ctx context.Context, id engine.ID) (bool, error) {
	n, err := s.read.NewSelect().Model((*secretRow)(nil)).Where("object_id = ?", string(id)).Count(ctx)
	if err != nil {
		return false, fmt.Errorf("look for a secret: %w", err)
	}
	return n > 0, nil
}
