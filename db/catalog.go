package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/catalog"
)

type tableRow struct {
	bun.BaseModel `bun:"table:catalog_table"`

	ID         string `bun:"id,pk"`
	Database   string
	Name       string
	Location   string
	Version    int
	Body       string
	Partitions int64
	RowsKnown  int64
	Bytes      int64
	At         int64
}

func (r *tableRow) table() (engine.Table, error) {
	t, err := decode[engine.Table](r.Body)
	t.ID, t.Version, t.Partitions, t.Rows, t.Bytes = engine.ID(r.ID), r.Version, r.Partitions, r.RowsKnown, r.Bytes
	return t, err
}

type tableVersionRow struct {
	bun.BaseModel `bun:"table:catalog_version"`

	TableID string `bun:",pk"`
	Version int    `bun:",pk"`
	Body    string
	At      int64
}

type partitionRow struct {
	bun.BaseModel `bun:"table:catalog_partition"`

	TableID   string `bun:",pk"`
	Key       string `bun:",pk"`
	Values    string `bun:"partition_values"`
	Location  string
	Files     int64
	RowsKnown int64
	Bytes     int64
	RunID     string
	At        int64
}

func (r *partitionRow) partition() (engine.Partition, error) {
	values, err := decode[[]string](r.Values)
	return engine.Partition{
		Table: engine.ID(r.TableID), Values: values, Location: r.Location, Files: r.Files, Rows: r.RowsKnown, Bytes: r.Bytes,
		Run: engine.ID(r.RunID), At: instant(r.At),
	}, err
}

// putTable lays a change over the catalog: a new version where the table's
// shape changed, and the partitions that were added, changed or dropped.
func (s *Store) putTable(ctx context.Context, tx bun.Conn, c *engine.TableChange) error {
	t := c.Table
	t.Database, t.Name = strings.ToLower(t.Database), strings.ToLower(t.Name)
	var row tableRow
	err := tx.NewSelect().Model(&row).Where("database = ? AND name = ?", t.Database, t.Name).Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		row = tableRow{ID: string(engine.NewID(t.At)), Database: t.Database, Name: t.Name}
	case err != nil:
		return fmt.Errorf("read table %s: %w", t.FullName(), err)
	}
	t.ID = engine.ID(row.ID)
	if row.Version > 0 && !c.Whole {
		old, err := row.table()
		if err != nil {
			return err
		}
		t.Columns = catalog.Widen(old.Columns, t.Columns) // other files hold them still
	}
	if err := putTableVersion(ctx, tx, &row, t); err != nil {
		return err
	}
	if err := putPartitions(ctx, tx, row.ID, c); err != nil {
		return err
	}
	return sumPartitions(ctx, tx, &row, t)
}

func putTableVersion(ctx context.Context, tx bun.Conn, row *tableRow, t engine.Table) error {
	if row.Version > 0 {
		old, err := row.table()
		if err != nil {
			return err
		}
		if sameShape(old, t) {
			return nil
		}
	}
	row.Version++
	t.Version = row.Version
	row.Body, row.At, row.Location = encode(t), micros(t.At), t.Location
	_, err := tx.NewInsert().Model(row).On("CONFLICT (id) DO UPDATE").
		Set("version = EXCLUDED.version").Set("body = EXCLUDED.body").Set("location = EXCLUDED.location").Set("at = EXCLUDED.at").Exec(ctx)
	if err != nil {
		return fmt.Errorf("write table %s: %w", t.FullName(), err)
	}
	version := tableVersionRow{TableID: row.ID, Version: row.Version, Body: row.Body, At: row.At}
	if _, err := tx.NewInsert().Model(&version).Exec(ctx); err != nil {
		return fmt.Errorf("keep version %d of table %s: %w", row.Version, t.FullName(), err)
	}
	return nil
}

// sameShape reports whether two states of a table differ in nothing that a
// reader of the table would notice.
func sameShape(a, b engine.Table) bool {
	return a.Location == b.Location && a.Connection == b.Connection && a.Format == b.Format && a.OwnerJob == b.OwnerJob &&
		reflect.DeepEqual(a.Dialect, b.Dialect) && sameColumns(a.Columns, b.Columns) && sameColumns(a.Keys, b.Keys)
}

func sameColumns(a, b []engine.Column) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

func partitionKey(p *engine.Partition) string { return strings.Join(p.Values, "\x1f") }

func putPartitions(ctx context.Context, tx bun.Conn, table string, c *engine.TableChange) error {
	if c.Whole {
		if _, err := tx.NewDelete().Model((*partitionRow)(nil)).Where("table_id = ?", table).Exec(ctx); err != nil {
			return fmt.Errorf("replace partitions: %w", err)
		}
	}
	const chunk = 500
	for some := range slices.Chunk(c.Partitions, chunk) {
		var rows []partitionRow
		var empty []string
		for _, p := range some {
			if p.Files == 0 {
				empty = append(empty, partitionKey(&p))
				continue
			}
			rows = append(rows, partitionRow{
				TableID: table, Key: partitionKey(&p), Values: encode(p.Values), Location: p.Location, Files: p.Files,
				RowsKnown: p.Rows, Bytes: p.Bytes, RunID: string(p.Run), At: micros(p.At),
			})
		}
		if err := dropPartitions(ctx, tx, table, empty); err != nil {
			return err
		}
		if err := writePartitions(ctx, tx, rows, c.Adds); err != nil {
			return err
		}
	}
	return nil
}

func dropPartitions(ctx context.Context, tx bun.Conn, table string, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := tx.NewDelete().Model((*partitionRow)(nil)).Where("table_id = ?", table).Where("key IN (?)", bun.List(keys)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("drop partitions: %w", err)
	}
	return nil
}

// writePartitions puts rows in the place of what is known of their partitions,
// or adds them to it.
func writePartitions(ctx context.Context, tx bun.Conn, rows []partitionRow, add bool) error {
	if len(rows) == 0 {
		return nil
	}
	insert := tx.NewInsert().Model(&rows).On("CONFLICT (table_id, key) DO UPDATE").
		Set("location = EXCLUDED.location").Set("run_id = EXCLUDED.run_id").Set("at = EXCLUDED.at")
	for _, sum := range []string{"files", "rows_known", "bytes"} {
		if add {
			insert.Set(sum + " = ?TableAlias." + sum + " + EXCLUDED." + sum)
			continue
		}
		insert.Set(sum + " = EXCLUDED." + sum)
	}
	if _, err := insert.Exec(ctx); err != nil {
		return fmt.Errorf("write partitions: %w", err)
	}
	return nil
}

func sumPartitions(ctx context.Context, tx bun.Conn, row *tableRow, t engine.Table) error {
	var n, known, bytes int64
	err := tx.NewSelect().Model((*partitionRow)(nil)).ColumnExpr("count(*), coalesce(sum(rows_known), 0), coalesce(sum(bytes), 0)").
		Where("table_id = ?", row.ID).Scan(ctx, &n, &known, &bytes)
	if err != nil {
		return fmt.Errorf("count partitions: %w", err)
	}
	if len(t.Keys) == 0 { // the only partition is the table itself
		n = 0
	}
	_, err = tx.NewUpdate().Model((*tableRow)(nil)).Set("partitions = ?, rows_known = ?, bytes = ?", n, known, bytes).Where("id = ?", row.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write the sums of table %s: %w", t.FullName(), err)
	}
	return nil
}

// Tables lists the tables of the catalog by name.
func (s *Store) Tables(ctx context.Context) ([]engine.Table, error) {
	var rows []tableRow
	err := s.read.NewSelect().Model(&rows).Order("database", "name").Scan(ctx)
	return collect(rows, err, (*tableRow).table)
}

// Table returns a table by id.
func (s *Store) Table(ctx context.Context, id engine.ID) (engine.Table, error) {
	var row tableRow
	err := s.read.NewSelect().Model(&row).Where("id = ?", string(id)).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return engine.Table{}, engine.Errorf(engine.NotFound, "There is no table with the id %s.", id)
	}
	if err != nil {
		return engine.Table{}, fmt.Errorf("read table %s: %w", id, err)
	}
	return row.table()
}

// TableNamed returns the table with the name database.table.
func (s *Store) TableNamed(ctx context.Context, fullName string) (engine.Table, error) {
	database, name, ok := strings.Cut(strings.ToLower(fullName), ".")
	if !ok {
		return engine.Table{}, engine.Errorf(engine.Invalid, "%q is not the name of a table; write database.table.", fullName)
	}
	var row tableRow
	err := s.read.NewSelect().Model(&row).Where("database = ? AND name = ?", database, name).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return engine.Table{}, engine.Errorf(engine.NotFound, "The catalog has no table %s. Run the job or crawler that makes it first.", fullName)
	}
	if err != nil {
		return engine.Table{}, fmt.Errorf("read table %s: %w", fullName, err)
	}
	return row.table()
}

// TableAt returns the table that lies at a location, or nil.
func (s *Store) TableAt(ctx context.Context, connection engine.ID, location string) (*engine.Table, error) {
	var rows []tableRow
	err := s.read.NewSelect().Model(&rows).Where("location IN (?, ?)", location, location+"/").Order("id").Scan(ctx)
	tables, err := collect(rows, err, (*tableRow).table)
	if err != nil {
		return nil, fmt.Errorf("find the table at %s: %w", location, err)
	}
	for i := range tables {
		if tables[i].Connection == connection {
			return &tables[i], nil
		}
	}
	return nil, nil
}

// TableVersions lists every version of a table, newest first.
func (s *Store) TableVersions(ctx context.Context, id engine.ID) ([]engine.Table, error) {
	var rows []tableVersionRow
	err := s.read.NewSelect().Model(&rows).Where("table_id = ?", string(id)).Order("version DESC").Scan(ctx)
	return collect(rows, err, func(r *tableVersionRow) (engine.Table, error) {
		t, err := decode[engine.Table](r.Body)
		t.ID, t.Version, t.At = engine.ID(r.TableID), r.Version, instant(r.At)
		return t, err
	})
}

// Partitions lists partitions of a table in order of their values.
func (s *Store) Partitions(ctx context.Context, table engine.ID, offset, limit int64) ([]engine.Partition, error) {
	var rows []partitionRow
	err := s.read.NewSelect().Model(&rows).Where("table_id = ?", string(table)).Order("key").Offset(offset).Limit(limit).Scan(ctx)
	return collect(rows, err, (*partitionRow).partition)
}
