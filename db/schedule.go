package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/flow"
)

// scheduleRow is one scheduled trigger of a published workflow and when it is due
// next.
type scheduleRow struct {
	bun.BaseModel `bun:"table:schedule"`

	TriggerID  string `bun:",pk"`
	WorkflowID string
	Spec       string
	Zone       string
	NextAt     int64
	LastAt     int64
	Version    int64
	Missed     string
	Overlap    string
	Held       int64
}

func (r *scheduleRow) schedule() (engine.Schedule, error) {
	return engine.Schedule{
		Trigger: engine.ID(r.TriggerID), Workflow: engine.ID(r.WorkflowID), Spec: r.Spec, Zone: r.Zone,
		Missed: engine.Missed(r.Missed), Overlap: engine.Overlap(r.Overlap),
		Next: instant(r.NextAt), Last: instant(r.LastAt), Held: instant(r.Held),
	}, nil
}

// Schedules returns every schedule by its trigger.
func (s *Store) Schedules(ctx context.Context) (map[engine.ID]engine.Schedule, error) {
	var rows []scheduleRow
	err := s.read.NewSelect().Model(&rows).Scan(ctx)
	all, err := collect(rows, err, (*scheduleRow).schedule)
	of := make(map[engine.ID]engine.Schedule, len(all))
	for _, schedule := range all {
		of[schedule.Trigger] = schedule
	}
	return of, err
}

// DueSchedules lists the schedules that are due at now, the longest due first,
// and says when the next of the others is; a zero next never comes. It costs
// what is due, not what there is.
func (s *Store) DueSchedules(ctx context.Context, now time.Time) (due []engine.Schedule, next time.Time, err error) {
	var rows []scheduleRow
	err = s.read.NewSelect().Model(&rows).Where("next_at > 0").Where("next_at <= ?", micros(now)).Order("next_at", "trigger_id").Scan(ctx)
	if due, err = collect(rows, err, (*scheduleRow).schedule); err != nil {
		return nil, next, err
	}
	var at sql.NullInt64
	err = s.read.NewSelect().Model((*scheduleRow)(nil)).ColumnExpr("min(next_at)").Where("next_at > ?", micros(now)).Scan(ctx, &at)
	if err != nil {
		return nil, next, fmt.Errorf("find when a schedule is due next: %w", err)
	}
	return due, instant(at.Int64), nil
}

// putSchedules makes the schedules of a workflow those of its published
// triggers. One whose expression did not change keeps what it is due next.
func putSchedules(ctx context.Context, tx bun.Conn, workflow engine.ID, next []engine.Schedule) error {
	var rows []scheduleRow
	if err := tx.NewSelect().Model(&rows).Where("workflow_id = ?", string(workflow)).Scan(ctx); err != nil {
		return fmt.Errorf("read the schedules of a workflow: %w", err)
	}
	old := map[string]scheduleRow{}
	for _, r := range rows {
		old[r.TriggerID] = r
	}
	if _, err := tx.NewDelete().Model((*scheduleRow)(nil)).Where("workflow_id = ?", string(workflow)).Exec(ctx); err != nil {
		return fmt.Errorf("replace the schedules of a workflow: %w", err)
	}
	for _, n := range next {
		row := scheduleRow{TriggerID: string(n.Trigger), WorkflowID: string(workflow), Spec: n.Spec, Zone: n.Zone, NextAt: micros(n.Next), Missed: string(n.Missed), Overlap: string(n.Overlap)}
		if was, ok := old[row.TriggerID]; ok && was.Spec == row.Spec && was.Zone == row.Zone {
			row.NextAt, row.LastAt, row.Version, row.Held = was.NextAt, was.LastAt, was.Version, was.Held
		}
		if _, err := tx.NewInsert().Model(&row).Exec(ctx); err != nil {
			return fmt.Errorf("write a schedule: %w", err)
		}
	}
	return nil
}

// putFire uses up one due time, or one batch of events. Two who try the same one
// due time meet at its primary key, and only the first starts a run.
func (s *Store) putFire(ctx context.Context, tx bun.Conn, f *flow.Fire, run engine.ID) error {
	if f.Events != nil {
		return s.useEvents(ctx, tx, f, run)
	}
	if err := s.useDue(ctx, tx, f, run); err != nil {
		return err
	}
	return s.exec(ctx, tx, "move a schedule on", `UPDATE schedule SET last_at = ?, next_at = ?, held = 0, version = version + 1 WHERE trigger_id = ?`,
		micros(f.Due), micros(f.Next), string(f.Trigger))
}

func (s *Store) useDue(ctx context.Context, tx bun.Conn, f *flow.Fire, run engine.ID) error {
	result, err := tx.Conn.ExecContext(ctx, s.bind(`INSERT INTO schedule_fire (trigger_id, due, run_id, note) VALUES (?, ?, ?, ?) ON CONFLICT (trigger_id, due) DO NOTHING`),
		string(f.Trigger), micros(f.Due), string(run), f.Note)
	if err != nil {
		return fmt.Errorf("use up a due time: %w", err)
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		return engine.Errorf(engine.Conflict, "The schedule has fired for %s already.", f.Due.Format(time.RFC3339))
	}
	return err
}

// SkipFire uses up a due time without a run and says why.
func (s *Store) SkipFire(ctx context.Context, f flow.Fire) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		return s.putFire(ctx, tx, &f, "")
	})
}

// HoldFire notes that a due time waits for a run of its workflow to end.
func (s *Store) HoldFire(ctx context.Context, trigger engine.ID, due time.Time) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		return s.exec(ctx, tx, "hold a due time", `UPDATE schedule SET held = ? WHERE trigger_id = ? AND next_at = ?`, micros(due), string(trigger), micros(due))
	})
}

// Ticks lists the newest due times of a schedule that were used up.
func (s *Store) Ticks(ctx context.Context, trigger engine.ID, limit int) ([]engine.Tick, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT due, run_id, note FROM schedule_fire WHERE trigger_id = ? ORDER BY due DESC LIMIT ?`), string(trigger), limit)
	if err != nil {
		return nil, fmt.Errorf("list the ticks of a schedule: %w", err)
	}
	defer rows.Close()
	var ticks []engine.Tick
	for rows.Next() {
		var due int64
		var run, note string
		if err := rows.Scan(&due, &run, &note); err != nil {
			return nil, fmt.Errorf("list the ticks of a schedule: %w", err)
		}
		ticks = append(ticks, engine.Tick{Due: instant(due), Run: engine.ID(run), Note: note})
	}
	return ticks, rows.Err()
}
