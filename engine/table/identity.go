package table

import (
	"cmp"
	"strings"

	"dogear/engine"
)

// firstSchemas are those that a connection begins in unless somebody has set
// up the database otherwise. Of MySQL it is the database.
var firstSchemas = map[engine.ConnectionType]string{
	engine.ConnectionPostgres: "public", engine.ConnectionSQLServer: "dbo", engine.ConnectionSQLite: "main",
}

// Identity names a table of the database, the same however it is written: its
// schema may be left out, and all databases but PostgreSQL, whose names we
// quote, take upper and lower case for one.
func (c Config) Identity(table string) string {
	name := ParseName(table)
	name.Schema = cmp.Or(name.Schema, firstSchemas[c.Kind], c.Database)
	text := name.String()
	if c.Kind != engine.ConnectionPostgres {
		text = strings.ToLower(text)
	}
	return string(c.Kind) + " " + c.String() + " " + text
}
