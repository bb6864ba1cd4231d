package table

import (
	"context"
	"database/sql"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"dogear/engine"
)

// sqlite is a file of SQLite. Its values have types of their own, whatever
// their column declares, so a key remembers the type of its value.
type sqlite struct{}

func (sqlite) name() string         { return "SQLite" }
func (sqlite) versionQuery() string { return "SELECT sqlite_version()" }

func (sqlite) quote(name string) string { return doubled(name, `"`, `"`) }
func (sqlite) param(int) string         { return "?" }
func (sqlite) tuples() bool             { return true }

// sqliteAddress opens a file that is there; a mistyped path must not make a
// new database.
func sqliteAddress(path string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: "mode=rw&_busy_timeout=15000"}
	return u.String()
}

func (sqlite) open(c Config) (*sql.DB, error) {
	return sql.Open("sqlite3", sqliteAddress(c.Database))
}

// snapshot: a transaction of SQLite always sees one moment. The driver knows
// no options; the statements are read-only by what they are.
func (sqlite) snapshot() *sql.TxOptions { return nil }

func (sqlite) limit(query string, offset int64) string { return postgres{}.limit(query, offset) }
func (sqlite) top(query string, n int64) string        { return postgres{}.top(query, n) }

func (sqlite) tablesQuery() string {
	return `SELECT '', name, type = 'view' FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY 2`
}

func (sqlite) columns(ctx context.Context, q querier, n Name) ([]Column, error) {
	schema := n.Schema
	if schema == "" {
		schema = "main"
	}
	rows, err := q.QueryContext(ctx, `SELECT name, type, "notnull" = 0, pk FROM pragma_table_xinfo(?, ?) WHERE hidden IN (0, 2, 3) ORDER BY cid`, n.Table, schema)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []Column
	for rows.Next() {
		var c Column
		if err := rows.Scan(&c.Name, &c.Type, &c.Nullable, &c.Key); err != nil {
			return nil, err
		}
		c.class = sqliteClass(c.Type)
		if c.Key > 0 && strings.EqualFold(c.Type, "INTEGER") {
			c.Nullable = false
		}
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

// sqliteClass reads a declared type as SQLite does, with the times that it
// does not know but people declare.
func sqliteClass(typ string) class {
	has := func(part string) bool { return strings.Contains(strings.ToUpper(typ), part) }
	switch {
	case has("INT"):
		return integerClass
	case has("CHAR"), has("CLOB"), has("TEXT"):
		return textClass
	case has("TIMESTAMP"), has("DATETIME"):
		return timeClass
	case has("DATE"):
		return dateClass
	case has("REAL"), has("FLOA"), has("DOUB"):
		return floatClass
	case has("NUM"), has("DEC"):
		return decimalClass
	}
	return otherClass
}

// printed writes a value so that it can be read back: a floating point number
// with all its digits, bytes in hexadecimal.
func (d sqlite) printed(c Column) string {
	name := c.in(d)
	return "CASE typeof(" + name + ") WHEN 'real' THEN printf('%!.17g', " + name + ") WHEN 'blob' THEN hex(" + name + ") ELSE CAST(" + name + " AS TEXT) END"
}

func (d sqlite) typeOf(c Column) string { return "typeof(" + c.in(d) + ")" }

// typed reads a text as SQLite would store it in such a column.
func (sqlite) typed(c Column, text string) string {
	if c.class == textClass || c.class == timeClass || c.class == dateClass {
		return "text"
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return "integer"
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return "real"
	}
	return "text"
}

func (sqlite) bound(_ Column, v engine.KeyValue, param string) (string, any) {
	switch v.Type {
	case "integer":
		if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
			return param, n
		}
	case "real":
		if f, err := strconv.ParseFloat(v.Text, 64); err == nil {
			return param, f
		}
	case "blob":
		if b, err := hex.DecodeString(v.Text); err == nil {
			return param, b
		}
	}
	return param, v.Text
}

func (sqlite) minus(c Column, expr string, amount int64) string {
	n := strconv.FormatInt(amount, 10)
	switch c.class {
	case timeClass:
		// One second more, because it prints milliseconds.
		return "strftime('%Y-%m-%d %H:%M:%f', " + expr + ", '-" + strconv.FormatInt(amount+1, 10) + " seconds')"
	case dateClass:
		return "date(" + expr + ", '-" + n + " days')"
	case integerClass, decimalClass, floatClass, textClass, otherClass:
	}
	return "CAST(" + expr + " - " + n + " AS TEXT)"
}

func (d sqlite) endless(c Column) string {
	if c.class != floatClass && c.class != decimalClass {
		return ""
	}
	return c.in(d) + " IN (9e999, -9e999)" // it stores NaN as NULL
}

func (sqlite) bytewise(expr string) string { return "CAST(" + expr + " AS BLOB)" }

func (sqlite) moment(c Column, t time.Time) string { return momentText(c, t) }

func (d sqlite) landed(c Column) landing {
	name := d.quote(c.Name)
	text := func(duck string) landing {
		return landing{
			expr: "CASE typeof(" + name + ") WHEN 'real' THEN printf('%!.17g', " + name + ") ELSE CAST(" + name + " AS TEXT) END",
			how:  asText, duck: duck,
		}
	}
	switch c.class {
	case integerClass:
		return text("BIGINT")
	case decimalClass:
		return text(decimal(c.Type, plainDecimal))
	case floatClass:
		return text("DOUBLE")
	case dateClass:
		return text("DATE")
	case timeClass:
		return text("TIMESTAMP")
	case textClass, otherClass:
	}
	switch upper := strings.ToUpper(c.Type); {
	case strings.Contains(upper, "BOOL"):
		return text("BOOLEAN")
	case strings.Contains(upper, "BLOB"):
		return landing{expr: "+" + name, how: asBytes, duck: "BLOB"}
	}
	return text("VARCHAR")
}
