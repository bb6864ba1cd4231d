// Package catalog shows databases and tables.
package catalog

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/views/show"
)

// Listing is the catalog by database.
type Listing struct {
	Databases []Database
	Now       time.Time
}

// Database is one database with its tables.
type Database struct {
	Name   string
	Tables []engine.Table
}

// NewListing groups tables by database.
func NewListing(tables []engine.Table, now time.Time) Listing {
	l := Listing{Now: now}
	for _, t := range tables {
		i := slices.IndexFunc(l.Databases, func(d Database) bool { return d.Name == t.Database })
		if i < 0 {
			i = len(l.Databases)
			l.Databases = append(l.Databases, Database{Name: t.Database})
		}
		l.Databases[i].Tables = append(l.Databases[i].Tables, t)
	}
	return l
}

// View is one table.
type View struct {
	Table      engine.Table
	Versions   []engine.Table // newest first
	Partitions []engine.Partition
	From       int64
	Owner      string
	Now        time.Time
}

func (v View) href(tail string) string { return "/catalog/" + string(v.Table.ID) + tail }

// queryHref opens the query screen with this table.
func (v View) queryHref() string {
	sql := fmt.Sprintf("SELECT *\nFROM %s.%s\nLIMIT 100", quote(v.Table.Database), quote(v.Table.Name))
	return "/query?sql=" + url.QueryEscape(sql)
}

// quote writes a name for SQL where it is no plain word.
func quote(name string) string {
	if name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && (name[0] < '0' || name[0] > '9') {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// next is where more partitions begin; 0 where these are all.
func (v View) next() int64 {
	if n := v.From + int64(len(v.Partitions)); n < v.Table.Partitions && len(v.Partitions) > 0 {
		return n
	}
	return 0
}

func (v View) partitionName(p engine.Partition) string {
	var parts []string
	for i, value := range p.Values {
		if i < len(v.Table.Keys) {
			value = v.Table.Keys[i].Name + "=" + value
		}
		parts = append(parts, value)
	}
	return strings.Join(parts, " / ")
}

func rowsText(n int64) string {
	if n == 0 {
		return "–"
	}
	return show.Count(n)
}

// difference says what a version changed against the one before it.
func (v View) difference(i int) string {
	if i+1 >= len(v.Versions) {
		return "first version"
	}
	now, before := v.Versions[i], v.Versions[i+1]
	var parts []string
	for _, c := range now.Columns {
		j := slices.IndexFunc(before.Columns, func(o engine.Column) bool { return o.Name == c.Name })
		switch {
		case j < 0:
			parts = append(parts, "added "+c.Name+" "+c.Type)
		case before.Columns[j].Type != c.Type:
			parts = append(parts, fmt.Sprintf("%s from %s to %s", c.Name, before.Columns[j].Type, c.Type))
		}
	}
	for _, c := range before.Columns {
		if !slices.ContainsFunc(now.Columns, func(o engine.Column) bool { return o.Name == c.Name }) {
			parts = append(parts, "removed "+c.Name)
		}
	}
	if now.Location != before.Location {
		parts = append(parts, "moved to "+now.Location)
	}
	if len(parts) == 0 {
		return "same columns"
	}
	return strings.Join(parts, ", ")
}

func version(n int) string { return "v" + strconv.Itoa(n) }
