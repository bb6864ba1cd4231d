package table

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"dogear/engine"
)

// postgres is PostgreSQL, and whatever speaks like it.
type postgres struct{}

func (postgres) name() string         { return "PostgreSQL" }
func (postgres) versionQuery() string { return "SELECT version()" }

func (postgres) quote(name string) string { return doubled(name, `"`, `"`) }
func (postgres) param(n int) string       { return "$" + strconv.Itoa(n) }
func (postgres) tuples() bool             { return true }

// postgresConfig makes every session print values in one way, whatever the
// server, the role or this machine prefer.
func postgresConfig(c Config) (*pgx.ConnConfig, error) {
	// Given as empty, neither the password file nor the service file of the
	// machine's user is looked at.
	cfg, err := pgx.ParseConfig("host=localhost sslmode=disable passfile='' servicefile=''")
	if err != nil {
		return nil, fmt.Errorf("begin the settings of a connection: %w", err)
	}
	port := c.Port
	if port == 0 {
		port = usualPorts[c.Kind]
	}
	if port > 65535 {
		return nil, engine.Errorf(engine.Invalid, "%d is not a port.", port)
	}
	cfg.Host, cfg.Port, cfg.Database, cfg.User, cfg.Password = c.Host, uint16(port), c.Database, c.User, c.Password
	cfg.Fallbacks = nil
	if cfg.TLSConfig, err = tlsConfig(c); err != nil {
		return nil, err
	}
	cfg.ConnectTimeout = patience
	cfg.RuntimeParams = map[string]string{
		"application_name": "dogear", "TimeZone": "UTC", "DateStyle": "ISO, MDY", "IntervalStyle": "postgres",
		"standard_conforming_strings": "on", "client_encoding": "UTF8", "bytea_output": "hex", "extra_float_digits": "1",
	}
	return cfg, nil
}

func (postgres) open(c Config) (*sql.DB, error) {
	cfg, err := postgresConfig(c)
	if err != nil {
		return nil, err
	}
	return stdlib.OpenDB(*cfg), nil
}

func (postgres) snapshot() *sql.TxOptions {
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

func (postgres) limit(query string, offset int64) string {
	return query + " LIMIT 1 OFFSET " + strconv.FormatInt(offset, 10)
}

func (postgres) top(query string, n int64) string {
	return query + " LIMIT " + strconv.FormatInt(n, 10)
}

func (postgres) tablesQuery() string {
	return `SELECT n.nspname, c.relname, c.relkind IN ('v', 'm') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
AND NOT pg_is_other_temp_schema(n.oid) AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1, 2`
}

func (d postgres) columns(ctx context.Context, q querier, n Name) ([]Column, error) {
	rows, err := q.QueryContext(ctx, `SELECT a.attname, format_type(a.atttypid, a.atttypmod),
  CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod) ELSE format_type(a.atttypid, a.atttypmod) END,
  NOT a.attnotnull, coalesce(array_position(i.indkey::int2[], a.attnum) + 1, 0)
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`, n.in(d))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []Column
	for rows.Next() {
		var c Column
		var base string
		if err := rows.Scan(&c.Name, &c.Type, &base, &c.Nullable, &c.Key); err != nil {
			return nil, err
		}
		c.class, c.zoned = postgresClass(base), strings.HasSuffix(base, "with time zone") && strings.HasPrefix(base, "timestamp")
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

func postgresClass(typ string) class {
	switch base := bare(typ); base {
	case "smallint", "integer", "bigint", "oid":
		return integerClass
	case "numeric":
		return decimalClass
	case "real", "double precision":
		return floatClass
	case "date":
		return dateClass
	case "timestamp without time zone", "timestamp with time zone":
		return timeClass
	case "text", "character varying", "character", "name", "uuid":
		return textClass
	}
	return otherClass
}

// modifier is what stands in brackets after a type: numeric(10,2).
var modifier = regexp.MustCompile(`\([^)]*\)`)

// bare is a type without its modifier.
func bare(typ string) string { return strings.ToLower(modifier.ReplaceAllString(typ, "")) }

func (d postgres) printed(c Column) string { return c.in(d) + "::text" }
func (postgres) typeOf(c Column) string    { return "'" + strings.ReplaceAll(c.Type, "'", "''") + "'" }

func (postgres) typed(c Column, _ string) string { return c.Type }

func (postgres) bound(c Column, v engine.KeyValue, param string) (string, any) {
	return "CAST(" + param + "::text AS " + c.Type + ")", v.Text
}

func (postgres) minus(c Column, expr string, amount int64) string {
	n := strconv.FormatInt(amount, 10)
	if c.class == timeClass {
		return "(" + expr + " - interval '" + n + " seconds')::text"
	}
	return "(" + expr + " - " + n + ")::text"
}

func (d postgres) endless(c Column) string {
	switch c.class {
	case dateClass, timeClass:
		return "NOT isfinite(" + c.in(d) + ")"
	case floatClass, decimalClass: // as text, because a numeric is never infinite before PostgreSQL 14
		return c.in(d) + "::text IN ('NaN', 'Infinity', '-Infinity')"
	case integerClass, textClass, otherClass:
	}
	return ""
}

func (postgres) bytewise(expr string) string { return expr + ` COLLATE "C"` }

func (postgres) moment(c Column, t time.Time) string { return momentText(c, t) }

// plainDecimal is what a number without declared digits becomes: as many as
// most need on both sides of the point. One that does not fit fails the read.
const plainDecimal = "DECIMAL(38,9)"

func (d postgres) landed(c Column) landing {
	as := func(how travel, duck string) landing { return landing{how: how, duck: duck} }
	text := func(duck string) landing {
		return landing{expr: d.quote(c.Name) + "::text", how: asText, duck: duck}
	}
	switch bare(c.Type) {
	case "smallint":
		return as(asInteger, "SMALLINT")
	case "integer":
		return as(asInteger, "INTEGER")
	case "bigint":
		return as(asInteger, "BIGINT")
	case "boolean":
		return as(asInteger, "BOOLEAN")
	case "real":
		return as(asFloat, "FLOAT")
	case "double precision":
		return as(asFloat, "DOUBLE")
	case "numeric":
		return text(decimal(c.Type, plainDecimal))
	case "date":
		return as(asDays, "DATE")
	case "timestamp without time zone":
		return as(asMicros, "TIMESTAMP")
	case "timestamp with time zone":
		return as(asMicros, "TIMESTAMP WITH TIME ZONE")
	case "bytea":
		return as(asBytes, "BLOB")
	case "text", "character varying":
		return as(asText, "VARCHAR")
	}
	if strings.HasSuffix(c.Type, "[]") {
		return landing{expr: "to_json(" + d.quote(c.Name) + ")::text", how: asText, duck: "VARCHAR"}
	}
	return text("VARCHAR")
}

var digits = regexp.MustCompile(`\(\s*(\d+)\s*(?:,\s*(-?\d+)\s*)?\)`)

// decimal is the DuckDB type of a number with declared digits; more than
// DuckDB has are read as text, and none as plain.
func decimal(typ, plain string) string {
	found := digits.FindStringSubmatch(typ)
	if found == nil {
		return plain
	}
	width, _ := strconv.Atoi(found[1])
	scale, _ := strconv.Atoi(found[2])
	if width > 38 || scale < 0 || scale > width {
		return "VARCHAR"
	}
	return fmt.Sprintf("DECIMAL(%d,%d)", width, scale)
}
