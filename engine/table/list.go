package table

import (
	"context"
	"strings"

	"dogear/engine"
)

// Listed is a table or view of a database.
type Listed struct {
	Name string // schema.table; without schema where there is one only
	View bool
}

// Ours reports a table that sinks keep beside their targets.
func Ours(name string) bool {
	own := ParseName(name).Table
	return own == batchTable || strings.HasPrefix(own, stagePrefix)
}

// Tables lists the tables and views that a connection may read.
func (d *Databases) Tables(ctx context.Context, id engine.ID) ([]Listed, error) {
	db, err := d.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer db.shut()
	rows, err := db.QueryContext(ctx, db.tablesQuery())
	if err != nil {
		return nil, db.config.explain(err, "does not list its tables")
	}
	defer rows.Close()
	var all []Listed
	for rows.Next() {
		var n Name
		var l Listed
		if err := rows.Scan(&n.Schema, &n.Table, &l.View); err != nil {
			return nil, db.config.explain(err, "does not list its tables")
		}
		l.Name = n.String()
		all = append(all, l)
	}
	return all, db.config.explain(rows.Err(), "does not list its tables")
}

// Columns describes a table, in the database's own types.
func (d *Databases) Columns(ctx context.Context, id engine.ID, table string) ([]Column, error) {
	db, err := d.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer db.shut()
	columns, err := described(ctx, db, db, ParseName(table))
	return columns, db.config.explain(err, "does not describe "+table)
}

// Test connects and says what answered.
func (d *Databases) Test(ctx context.Context, id engine.ID) (string, error) {
	db, err := d.Open(ctx, id)
	if err != nil {
		return "", err
	}
	defer db.shut()
	return db.Version(ctx)
}
