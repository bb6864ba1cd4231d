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
	"dogear/engine/draft"
)

func workflow(r *objectRow) (engine.Workflow, error) {
	head, body, err := published[engine.WorkflowBody](r)
	return engine.Workflow{Head: head, WorkflowBody: body}, err
}

// Workflows lists the workflows by name as they are published.
func (s *Store) Workflows(ctx context.Context) ([]engine.Workflow, error) {
	rows, err := s.objects(ctx, engine.KindWorkflow)
	return collect(rows, err, workflow)
}

// Workflow returns the published version of a workflow.
func (s *Store) Workflow(ctx context.Context, id engine.ID) (engine.Workflow, error) {
	row, err := s.object(ctx, s.read.DB, engine.KindWorkflow, id, false)
	if err != nil {
		return engine.Workflow{}, err
	}
	return workflow(&row)
}

// WorkflowNamed returns the published version of the workflow with that name.
func (s *Store) WorkflowNamed(ctx context.Context, name string) (engine.Workflow, error) {
	row, err := s.objectNamed(ctx, engine.KindWorkflow, name)
	if err != nil {
		return engine.Workflow{}, err
	}
	return workflow(&row)
}

// WorkflowVersion returns an earlier version of a workflow.
func (s *Store) WorkflowVersion(ctx context.Context, id engine.ID, version int) (engine.Workflow, error) {
	head, body, err := versionBody[engine.WorkflowBody](ctx, s.read.DB, s.bind(selectVersion), id, version)
	return engine.Workflow{Head: head, WorkflowBody: body}, err
}

// CreateWorkflow makes a workflow as a draft and returns its id.
func (s *Store) CreateWorkflow(ctx context.Context, name string, body engine.WorkflowBody, by string, now time.Time) (engine.ID, error) {
	return s.create(ctx, engine.KindWorkflow, name, body, by, now)
}

// Names knows every job and crawler by the name it has now.
func (s *Store) Names(ctx context.Context) (draft.Names, error) {
	var rows []objectRow
	err := s.read.NewSelect().Model(&rows).Column("id", "kind", "name").
		Where("kind IN (?, ?) AND deleted_at = 0", string(engine.KindJob), string(engine.KindCrawler)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the names of jobs and crawlers: %w", err)
	}
	names := draft.Names{}
	for _, r := range rows {
		names[engine.Ref{Kind: engine.Kind(r.Kind), ID: engine.ID(r.ID)}] = r.Name
	}
	return names, nil
}

type draftOpRow struct {
	bun.BaseModel `bun:"table:draft_op"`

	ObjectID string `bun:",pk"`
	Seq      int64  `bun:",pk"`
	OpID     string
	By       string
	Entry    string
}

func (r *draftOpRow) entry() (draft.Entry, error) {
	e, err := decode[draft.Entry](r.Entry)
	e.Seq = r.Seq
	return e, err
}

func workflowDraft(r *objectRow) (draft.Draft, error) {
	d, err := drafted[engine.WorkflowBody](r)
	return draft.Draft{Workflow: d.ID, Name: d.Name, Version: d.Version, Open: d.Open, Seq: d.Seq, Body: d.Body}, err
}

// Draft returns the draft of a workflow.
func (s *Store) Draft(ctx context.Context, id engine.ID) (draft.Draft, error) {
	row, err := s.object(ctx, s.read.DB, engine.KindWorkflow, id, false)
	if err != nil {
		return draft.Draft{}, err
	}
	return workflowDraft(&row)
}

// Edit changes the draft of a workflow and its log in one transaction.
func (s *Store) Edit(ctx context.Context, id engine.ID, ops []string,
	change func(d draft.Draft, done map[string]bool) (engine.WorkflowBody, []draft.Entry, error),
) (draft.Draft, error) {
	var edited draft.Draft
	err := s.tx(ctx, func(ctx context.Context, tx bun.Conn) (err error) {
		edited, err = s.edit(ctx, tx, id, ops, change)
		return err
	})
	return edited, err
}

// edit is Edit within a transaction.
func (s *Store) edit(ctx context.Context, tx bun.Conn, id engine.ID, ops []string,
	change func(d draft.Draft, done map[string]bool) (engine.WorkflowBody, []draft.Entry, error),
) (draft.Draft, error) {
	row, err := s.object(ctx, tx.Conn, engine.KindWorkflow, id, true)
	if err != nil {
		return draft.Draft{}, err
	}
	now, err := workflowDraft(&row)
	if err != nil {
		return draft.Draft{}, err
	}
	done, err := knownOps(ctx, tx, id, ops)
	if err != nil {
		return draft.Draft{}, err
	}
	body, entries, err := change(now, done)
	if err != nil {
		return draft.Draft{}, err
	}
	return writeDraft(ctx, tx, &row, body, entries)
}

func writeDraft(ctx context.Context, tx bun.Conn, row *objectRow, body engine.WorkflowBody, entries []draft.Entry) (draft.Draft, error) {
	for _, e := range entries {
		row.DraftSeq++
		e.Seq = row.DraftSeq
		op := draftOpRow{ObjectID: row.ID, Seq: e.Seq, OpID: e.Op, By: e.By, Entry: encode(e)}
		if _, err := tx.NewInsert().Model(&op).Exec(ctx); err != nil {
			return draft.Draft{}, fmt.Errorf("keep an operation of draft %s: %w", row.ID, err)
		}
	}
	text := encode(body)
	row.Draft = sql.NullString{String: text, Valid: text != row.Body}
	if _, err := tx.NewUpdate().Model(row).WherePK().Exec(ctx); err != nil {
		return draft.Draft{}, fmt.Errorf("save draft %s: %w", row.ID, err)
	}
	return workflowDraft(row)
}

// knownOps says which of ops the log holds already.
func knownOps(ctx context.Context, tx bun.Conn, id engine.ID, ops []string) (map[string]bool, error) {
	done := map[string]bool{}
	if len(ops) == 0 {
		return done, nil
	}
	var rows []draftOpRow
	err := tx.NewSelect().Model(&rows).Column("op_id").Where("object_id = ? AND op_id IN (?)", string(id), bun.List(ops)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up operations of draft %s: %w", id, err)
	}
	for _, r := range rows {
		done[r.OpID] = true
	}
	return done, nil
}

// Since lists the entries of a draft's log after seq, oldest first.
func (s *Store) Since(ctx context.Context, id engine.ID, seq int64) ([]draft.Entry, error) {
	var rows []draftOpRow
	err := s.read.NewSelect().Model(&rows).Where("object_id = ? AND seq > ?", string(id), seq).Order("seq").Scan(ctx)
	return collect(rows, err, (*draftOpRow).entry)
}

// Acts lists the newest entries of one user in a draft's log, oldest first.
func (s *Store) Acts(ctx context.Context, id engine.ID, by string, limit int) ([]draft.Entry, error) {
	var rows []draftOpRow
	err := s.read.NewSelect().Model(&rows).Where(`object_id = ? AND "by" = ?`, string(id), by).Order("seq DESC").Limit(int64(limit)).Scan(ctx)
	slices.Reverse(rows)
	return collect(rows, err, (*draftOpRow).entry)
}

// PublishWorkflow makes the draft of a workflow its next version, together
// with the drafts of the jobs and crawlers in with, all in one transaction.
// seq is the draft that the person saw; another one since then is a Conflict.
// next says when a scheduled trigger is due first.
func (s *Store) PublishWorkflow(ctx context.Context, id engine.ID, seq int64, with []engine.Ref, by string, now time.Time, next func(engine.Trigger) time.Time) (engine.Workflow, error) {
	var made engine.Workflow
	err := s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		row, err := s.object(ctx, tx.Conn, engine.KindWorkflow, id, true)
		if err != nil {
			return err
		}
		if row.DraftSeq != seq {
			return engine.Errorf(engine.Conflict, "The draft has changed since you opened this list. Look at the changes again, then publish.")
		}
		if row.Draft.Valid {
			if err := s.publishText(ctx, tx, &row, by, now); err != nil {
				return err
			}
		}
		if made, err = workflow(&row); err != nil {
			return err
		}
		if err := s.publishParts(ctx, tx, with, by, now); err != nil {
			return err
		}
		if err := s.putEventTriggers(ctx, tx, &made, now); err != nil {
			return err
		}
		return putSchedules(ctx, tx, id, schedulesOf(&made, next))
	})
	return made, err
}

// publishParts publishes the open drafts of jobs and crawlers.
func (s *Store) publishParts(ctx context.Context, tx bun.Conn, with []engine.Ref, by string, now time.Time) error {
	for _, ref := range with {
		row, err := s.object(ctx, tx.Conn, ref.Kind, ref.ID, true)
		if engine.CodeOf(err) == engine.NotFound {
			continue // a deleted job keeps its card; its node fails and says so
		}
		if err != nil {
			return err
		}
		if !row.Draft.Valid {
			continue
		}
		if err := s.publishText(ctx, tx, &row, by, now); err != nil {
			return err
		}
	}
	return nil
}

func schedulesOf(w *engine.Workflow, next func(engine.Trigger) time.Time) []engine.Schedule {
	var all []engine.Schedule
	for _, t := range w.Triggers {
		if t.Type == engine.Scheduled && !t.Disabled {
			all = append(all, engine.Schedule{Trigger: t.ID, Workflow: w.ID, Spec: t.Schedule, Zone: t.Zone, Missed: t.Missed, Overlap: t.Overlap, Next: next(t)})
		}
	}
	return all
}

// Totals counts what the navigation shows.
func (s *Store) Totals(ctx context.Context) (engine.Totals, error) {
	var t engine.Totals
	row := s.read.DB.QueryRowContext(ctx, `SELECT
  (SELECT count(*) FROM object WHERE kind = 'workflow' AND deleted_at = 0),
  (SELECT count(*) FROM object WHERE kind = 'job' AND deleted_at = 0),
  (SELECT count(*) FROM object WHERE kind = 'crawler' AND deleted_at = 0),
  (SELECT count(*) FROM object WHERE kind = 'connection' AND deleted_at = 0),
  (SELECT count(*) FROM run WHERE ended = 0),
  (SELECT count(*) FROM bookmark WHERE ctx NOT LIKE 'crawl:%' AND branch = ''),
  (SELECT count(*) FROM catalog_table)`)
	err := row.Scan(&t.Workflows, &t.Jobs, &t.Crawlers, &t.Connections, &t.OpenRuns, &t.Bookmarks, &t.Tables)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return t, fmt.Errorf("count what there is: %w", err)
	}
	return t, nil
}
