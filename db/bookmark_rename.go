package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/bookmark"
)

// renameMarks lets bookmarks follow their contexts where a new version of a job
// gives them other names: the ledger belongs to what is read, not to its name.
// It is refused with Conflict while a run reads by one of them.
func (s *Store) renameMarks(ctx context.Context, tx bun.IDB, job, before, after string) error {
	var was, is engine.JobBody
	if err := errors.Join(json.Unmarshal([]byte(before), &was), json.Unmarshal([]byte(after), &is)); err != nil {
		return fmt.Errorf("compare two versions of job %s: %w", job, err)
	}
	for from, to := range bookmark.Renamed(was.SQL, is.SQL) {
		if err := s.renameMark(ctx, tx, job, from, to); err != nil {
			return err
		}
	}
	return nil
}

// renameMark names one bookmark anew, with its branches and what was read by
// it. Where a bookmark has the new name already, both stay as they are.
func (s *Store) renameMark(ctx context.Context, tx bun.IDB, job, from, to string) error {
	var names []string
	err := tx.NewSelect().Table("bookmark").Column("ctx").Where("job_id = ? AND ctx IN (?, ?)", job, from, to).Scan(ctx, &names)
	if err != nil {
		return fmt.Errorf("look for bookmarks of job %s: %w", job, err)
	}
	if len(names) == 0 || slices.Contains(names, to) {
		return nil
	}
	if err := s.refuseDuringRun(ctx, tx, job); err != nil {
		return err
	}
	_, err = tx.NewUpdate().Table("bookmark").Set("ctx = ?", to).Where("job_id = ? AND ctx = ?", job, from).Exec(ctx)
	if err == nil {
		_, err = tx.NewUpdate().Table("batch_input").Set("ctx = ?", to).
			Where("ctx = ? AND batch_id IN (SELECT id FROM batch WHERE job_id = ?)", from, job).Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("rename bookmark %s of job %s: %w", from, job, err)
	}
	return nil
}
