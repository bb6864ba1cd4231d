package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dogear/engine"
)

// writing is what a dialect does its own way when rows are written. t and s
// are the names under which target and stage stand in a statement.
type writing interface {
	// typeFor is the type of a column that is made for values of a DuckDB type;
	// key says that it is part of a key.
	typeFor(duck string, key bool) string
	// makeStage makes an empty table with columns of another.
	makeStage(stage, target string, columns []string) string
	makeBatches(name string) string
	dropTable(name string) string
	// outgoing is an expression of DuckDB that makes a text, or bytes, which
	// the database takes for its value.
	outgoing(c engine.Column, quoted string) string
	// load fills a stage with rows.
	load(ctx context.Context, db *DB, stage string, columns []engine.Column, rows *sql.Rows) (int64, error)
	// lock keeps other writers of a target away until the transaction ends.
	lock(ctx context.Context, tx *sql.Tx, target, batches string) error
	// same compares two values, NULL with NULL too.
	same(a, b string) string
	// update sets columns of the rows of t that have a row in s.
	update(target, stage string, set []string, on string) string
}

// batchTable is the table of ours that stands beside every target and knows
// which batches are in it.
const batchTable = "dogear_batch"

// stagePrefix begins the names of the tables that batches are staged in.
const stagePrefix = "dogear_stage_"

// Target is what one batch writes into a table. It goes to a worker by pipe.
type Target struct {
	Config      Config           `json:"config"`
	Table       string           `json:"table"`
	Batch       string           `json:"batch"` // a text that no other batch has
	Mode        engine.WriteMode `json:"mode"`
	PartitionBy []string         `json:"partition_by,omitempty"`
	Keys        []string         `json:"keys,omitempty"`
	LatestBy    string           `json:"latest_by,omitempty"`
	Columns     []engine.Column  `json:"columns,omitempty"` // of the result, in DuckDB's types
}

// Written is what a batch does to a table.
type Written struct{ Inserted, Updated, Deleted int64 }

func (t Target) name() Name    { return ParseName(t.Table) }
func (t Target) stage() Name   { return t.name().beside(stagePrefix + strings.ToLower(t.Batch)) }
func (t Target) batches() Name { return t.name().beside(batchTable) }

// explain adds what did not work, and that nothing was lost by it.
func (t Target) explain(err error) error {
	return t.Config.explain(err, "refuses the rows for "+t.Table+", and nothing was written to it")
}

// Slice gives rows from one place up to another of a result that has an order,
// each column made by outgoing.
type Slice func(outgoing func(engine.Column, string) string, from, to int64) (*sql.Rows, error)

// sliceRows is how many rows of a result are held in memory at once.
const sliceRows = 50_000

// Stage fills a table beside the target with the rows of a result, whose
// columns are those of t. A target that is not there is made first. What does
// not fit the columns of the target is refused here, before anything counts as
// read.
func (t Target) Stage(ctx context.Context, total int64, slice Slice) error {
	db, err := Open(ctx, t.Config)
	if err != nil {
		return err
	}
	defer db.shut()
	if err := t.prepare(ctx, db); err != nil {
		return t.explain(err)
	}
	var loaded int64
	for from := int64(0); from < total; from += sliceRows {
		n, err := t.load(ctx, db, slice, from, min(from+sliceRows, total))
		if err != nil {
			return err
		}
		loaded += n
	}
	if loaded != total {
		return fmt.Errorf("%d of %d rows arrived in the stage of %s", loaded, total, t.Table)
	}
	return nil
}

// load fills the stage with one slice.
func (t Target) load(ctx context.Context, db *DB, slice Slice, from, to int64) (int64, error) {
	rows, err := slice(db.outgoing, from, to)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n, err := db.load(ctx, db, t.stage().in(db), t.Columns, rows)
	return n, t.explain(errors.Join(err, rows.Err()))
}

// prepare makes target, stage and the table of batches.
func (t Target) prepare(ctx context.Context, db *DB) error {
	columns, err := db.columns(ctx, db, t.name())
	if err != nil {
		return err
	}
	if len(columns) == 0 {
		if err := t.make(ctx, db); err != nil {
			return err
		}
		if columns, err = described(ctx, db, db, t.name()); err != nil {
			return err
		}
	}
	if err := t.fits(db, columns); err != nil {
		return err
	}
	stage := t.stage().in(db)
	for _, statement := range []string{
		db.makeBatches(t.batches().in(db)), db.dropTable(stage), db.makeStage(stage, t.name().in(db), t.quoted(db, t.result())),
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// make makes the target as the result is, with a primary key where it merges.
func (t Target) make(ctx context.Context, db *DB) error {
	var parts []string
	for _, c := range t.Columns {
		isKey := slices.ContainsFunc(t.Keys, func(k string) bool { return strings.EqualFold(k, c.Name) })
		part := db.quote(c.Name) + " " + db.typeFor(c.Type, isKey)
		if isKey {
			part += " NOT NULL"
		}
		parts = append(parts, part)
	}
	if len(t.Keys) > 0 {
		parts = append(parts, "PRIMARY KEY ("+strings.Join(t.quoted(db, t.Keys), ", ")+")")
	}
	_, err := db.ExecContext(ctx, "CREATE TABLE "+t.name().in(db)+" ("+strings.Join(parts, ", ")+")")
	return err
}

// fits refuses a target that lacks a column of the result.
func (t Target) fits(db *DB, columns []Column) error {
	for _, c := range t.Columns {
		if _, ok := find(columns, c.Name); !ok {
			return engine.Errorf(engine.Invalid, "The table %s has no column %s, which the result has. Add it (ALTER TABLE %s ADD %s %s), or leave it out of the SQL.",
				t.Table, c.Name, t.name().in(db), db.quote(c.Name), db.typeFor(c.Type, false))
		}
	}
	return nil
}

func (t Target) result() []string {
	all := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		all[i] = c.Name
	}
	return all
}

func (t Target) quoted(d dialect, names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = d.quote(name)
	}
	return all
}

// Rehearse does in a transaction what Publish will do, and takes it back: what
// the target refuses is found while the job can still fail.
func (t Target) Rehearse(ctx context.Context) (Written, error) {
	var w Written
	err := t.inTransaction(ctx, func(db *DB, tx *sql.Tx) error {
		var err error
		if w, err = t.apply(ctx, db, tx); err != nil {
			return t.explain(err)
		}
		if err := t.mayReplace(ctx, db, tx, w); err != nil {
			return err
		}
		return tx.Rollback()
	})
	return w, err
}

// mayReplace refuses to empty a table that no batch was ever written to: its
// rows are somebody's, as a folder's foreign files are, which a replace leaves.
func (t Target) mayReplace(ctx context.Context, db *DB, tx *sql.Tx, w Written) error {
	if t.Mode != engine.Replace || w.Deleted == 0 {
		return nil
	}
	var batches int
	err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+t.batches().in(db)+" WHERE target = "+db.param(1), t.Table).Scan(&batches)
	if err != nil || batches > 0 {
		return t.explain(err)
	}
	return engine.Errorf(engine.Conflict, "The table %s holds %s that Dogear did not write, and replace would delete them all. Nothing was changed. If they may go, delete them yourself (DELETE FROM %s) and run again; else write to another table, or merge by key.",
		t.Table, rowsWord(w.Deleted), t.name().in(db))
}

// Publish puts the staged rows into the target, in one transaction with the
// batch's own row. Done again it finds that row and changes nothing.
func (t Target) Publish(ctx context.Context, step func()) error {
	err := t.inTransaction(ctx, func(db *DB, tx *sql.Tx) error {
		done, err := t.done(ctx, db, tx)
		if err != nil || done {
			return errors.Join(err, tx.Rollback())
		}
		step()
		w, err := t.apply(ctx, db, tx)
		if err != nil {
			return err
		}
		step()
		_, err = tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (batch, target, row_count) VALUES (%s, %s, %s)",
			t.batches().in(db), db.param(1), db.param(2), db.param(3)), t.Batch, t.Table, w.Inserted+w.Updated)
		if err != nil {
			return err
		}
		step()
		return tx.Commit()
	})
	if err != nil {
		return t.Config.explain(err, "did not take the rows for "+t.Table)
	}
	step()
	return t.Discard(ctx)
}

// inTransaction opens the database and locks the target.
func (t Target) inTransaction(ctx context.Context, do func(*DB, *sql.Tx) error) error {
	db, err := Open(ctx, t.Config)
	if err != nil {
		return err
	}
	defer db.shut()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it has ended where all went well
	if err := db.lock(ctx, tx, t.Table, t.batches().in(db)); err != nil {
		return err
	}
	return do(db, tx)
}

// done reports that the batch is in the target already.
func (t Target) done(ctx context.Context, db *DB, tx *sql.Tx) (bool, error) {
	var n int
	err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+t.batches().in(db)+" WHERE batch = "+db.param(1), t.Batch).Scan(&n)
	return n > 0, err
}

// Discard drops the stage, if it is there.
func (t Target) Discard(ctx context.Context) error {
	db, err := Open(ctx, t.Config)
	if err != nil {
		return err
	}
	defer db.shut()
	_, err = db.ExecContext(ctx, db.dropTable(t.stage().in(db)))
	return t.Config.explain(err, "could not drop the stage of "+t.Table)
}

// statement is one step of an apply, and what it counts.
type statement struct {
	sql   string
	count *int64
}

// apply changes the target as the mode says.
func (t Target) apply(ctx context.Context, db *DB, tx *sql.Tx) (Written, error) {
	var w Written
	for _, s := range t.statements(db, &w) {
		done, err := tx.ExecContext(ctx, s.sql)
		if err != nil {
			return w, err
		}
		if *s.count, err = done.RowsAffected(); err != nil {
			return w, err
		}
	}
	return w, nil
}

// statements are what the mode comes to.
func (t Target) statements(d dialect, w *Written) []statement {
	target, stage := t.name().in(d), t.stage().in(d)
	columns := strings.Join(t.quoted(d, t.result()), ", ")
	insert := "INSERT INTO " + target + " (" + columns + ") SELECT " + columns + " FROM " + stage + " s"
	switch t.Mode {
	case engine.Replace:
		return []statement{{"DELETE FROM " + target, &w.Deleted}, {insert, &w.Inserted}}
	case engine.OverwritePartitions:
		var on []string
		for _, name := range t.quoted(d, t.PartitionBy) {
			on = append(on, d.same("s."+name, target+"."+name))
		}
		return []statement{
			{"DELETE FROM " + target + " WHERE EXISTS (SELECT 1 FROM " + stage + " s WHERE " + strings.Join(on, " AND ") + ")", &w.Deleted},
			{insert, &w.Inserted},
		}
	case engine.Merge:
		return t.merge(d, w, insert)
	case engine.Append, "":
	}
	return []statement{{insert, &w.Inserted}}
}

// merge updates the rows that are there and inserts those that are not. A row
// that is later than the batch's stays.
func (t Target) merge(d dialect, w *Written, insert string) []statement {
	target, stage := t.name().in(d), t.stage().in(d)
	var on []string
	for _, name := range t.quoted(d, t.Keys) {
		on = append(on, "t."+name+" = s."+name)
	}
	match := strings.Join(on, " AND ")
	var set []string
	for _, c := range t.Columns {
		if !slices.ContainsFunc(t.Keys, func(k string) bool { return strings.EqualFold(k, c.Name) }) {
			set = append(set, d.quote(c.Name))
		}
	}
	var all []statement
	if len(set) > 0 {
		condition := match
		if t.LatestBy != "" {
			latest := d.quote(t.LatestBy)
			condition += " AND (t." + latest + " IS NULL OR s." + latest + " >= t." + latest + ")"
		}
		all = append(all, statement{d.update(target, stage, set, condition), &w.Updated})
	}
	return append(all, statement{insert + " WHERE NOT EXISTS (SELECT 1 FROM " + target + " t WHERE " + match + ")", &w.Inserted})
}
