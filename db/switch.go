package db

import (
	"context"
	"database/sql"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/draft"
)

// SwitchTrigger turns a trigger on or off in what runs, as a version of its own, and in
// the draft, all in one transaction; next is as for PublishWorkflow. It returns the
// workflow and the entry in its draft's log, nil where the draft did not change. One that
// runs so already gets no version.
func (s *Store) SwitchTrigger(ctx context.Context, id engine.ID, turn draft.Turn, by string, now time.Time, next func(engine.Trigger) time.Time) (engine.Workflow, *draft.Entry, error) {
	var made engine.Workflow
	var entry *draft.Entry
	err := s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		row, err := s.object(ctx, tx.Conn, engine.KindWorkflow, id, true)
		if err != nil {
			return err
		}
		if made, err = workflow(&row); err != nil {
			return err
		}
		drawn, err := workflowDraft(&row)
		if err != nil {
			return err
		}
		turned, err := turn.Apply(made.WorkflowBody, drawn.Body, by, now)
		if err != nil || made.Trigger(turn.Trigger).Disabled == !turn.On {
			return err
		}
		row.Draft = sql.NullString{String: encode(turned.Runs), Valid: true}
		if err := s.publishText(ctx, tx, &row, by, now); err != nil {
			return err
		}
		var log []draft.Entry
		if entry = turned.Entry; entry != nil {
			log = append(log, *entry)
		}
		if _, err := writeDraft(ctx, tx, &row, turned.Drawn, log); err != nil {
			return err
		}
		if entry != nil {
			entry.Seq = row.DraftSeq
		}
		if made, err = workflow(&row); err != nil {
			return err
		}
		if err := s.putEventTriggers(ctx, tx, &made, now); err != nil {
			return err
		}
		return putSchedules(ctx, tx, id, schedulesOf(&made, next))
	})
	return made, entry, err
}
