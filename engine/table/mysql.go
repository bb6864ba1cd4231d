package table

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"dogear/engine"
)

// mysqlDialect is MySQL and MariaDB.
type mysqlDialect struct{}

func (mysqlDialect) name() string         { return "MySQL" }
func (mysqlDialect) versionQuery() string { return "SELECT version()" }

func (mysqlDialect) quote(name string) string { return doubled(name, "`", "`") }
func (mysqlDialect) param(int) string         { return "?" }

// tuples: they are understood, and scan the whole index (data-path.md 4).
func (mysqlDialect) tuples() bool { return false }

func (mysqlDialect) open(c Config) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName = c.User, c.Password, "tcp", c.address(), c.Database
	cfg.Timeout = patience
	cfg.Logger = &mysql.NopLogger{}
	var err error
	if cfg.TLS, err = tlsConfig(c); err != nil {
		return nil, err
	}
	// A value that does not fit is refused, never cut, and moments are in UTC.
	cfg.Params = map[string]string{"time_zone": "'+00:00'", "sql_mode": "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, c.explain(err, "cannot be opened")
	}
	return sql.OpenDB(connector), nil
}

func (mysqlDialect) snapshot() *sql.TxOptions {
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

func (mysqlDialect) limit(query string, offset int64) string { return postgres{}.limit(query, offset) }
func (mysqlDialect) top(query string, n int64) string        { return postgres{}.top(query, n) }

func (mysqlDialect) tablesQuery() string {
	return `SELECT table_schema, table_name, table_type LIKE '%VIEW%' FROM information_schema.tables
WHERE table_schema = coalesce(database(), table_schema) AND table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys') ORDER BY 1, 2`
}

func (mysqlDialect) columns(ctx context.Context, q querier, n Name) ([]Column, error) {
	rows, err := q.QueryContext(ctx, `SELECT c.column_name, c.column_type, c.is_nullable = 'YES', coalesce(s.seq_in_index, 0)
FROM information_schema.columns c LEFT JOIN information_schema.statistics s
  ON s.table_schema = c.table_schema AND s.table_name = c.table_name AND s.column_name = c.column_name AND s.index_name = 'PRIMARY'
WHERE c.table_schema = coalesce(nullif(?, ''), database()) AND c.table_name = ? ORDER BY c.ordinal_position`, n.Schema, n.Table)
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
		c.class = mysqlClass(c.Type)
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

// mysqlBase is the first word of a type: "bigint" of "bigint(20) unsigned".
func mysqlBase(typ string) string {
	base, _, _ := strings.Cut(bare(typ), " ")
	return base
}

func mysqlClass(typ string) class {
	switch mysqlBase(typ) {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "year":
		return integerClass
	case "decimal":
		return decimalClass
	case "float", "double":
		return floatClass
	case "date":
		return dateClass
	case "datetime", "timestamp":
		return timeClass
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "uuid":
		return textClass
	}
	return otherClass
}

func (d mysqlDialect) printed(c Column) string { return "CAST(" + c.in(d) + " AS CHAR)" }
func (mysqlDialect) typeOf(c Column) string    { return "'" + strings.ReplaceAll(c.Type, "'", "''") + "'" }

func (mysqlDialect) typed(c Column, _ string) string { return c.Type }

// bound casts every number and time: left alone, MySQL compares a number with
// a text as floating point, in which large keys are equal to their neighbours.
// A text keeps the collation of the column it is compared with.
func (mysqlDialect) bound(c Column, v engine.KeyValue, param string) (string, any) {
	as := ""
	switch c.class {
	case integerClass:
		as = "SIGNED"
		if strings.Contains(c.Type, "unsigned") || mysqlBase(c.Type) == "year" {
			as = "UNSIGNED"
		}
	case decimalClass:
		as = "DECIMAL" + modifier.FindString(c.Type)
	case floatClass:
		as = "DOUBLE"
	case dateClass:
		as = "DATE"
	case timeClass:
		as = "DATETIME(6)"
	case textClass, otherClass:
		return param, v.Text
	}
	return "CAST(" + param + " AS " + as + ")", v.Text
}

func (mysqlDialect) minus(c Column, expr string, amount int64) string {
	n := strconv.FormatInt(amount, 10)
	switch c.class {
	case timeClass:
		expr = "(" + expr + " - INTERVAL " + n + " SECOND)"
	case dateClass:
		expr = "(" + expr + " - INTERVAL " + n + " DAY)"
	case integerClass, decimalClass, floatClass, textClass, otherClass:
		expr = "(CAST(" + expr + " AS DECIMAL(65,20)) - " + n + ")"
		if c.class == integerClass {
			expr = "CAST(" + expr + " AS SIGNED)"
		}
	}
	return "CAST(" + expr + " AS CHAR)"
}

func (mysqlDialect) endless(Column) string { return "" }

func (mysqlDialect) bytewise(expr string) string { return "CAST(" + expr + " AS BINARY)" }

func (mysqlDialect) moment(c Column, t time.Time) string { return momentText(c, t) }

func (d mysqlDialect) landed(c Column) landing {
	unsigned := ""
	if strings.Contains(c.Type, "unsigned") {
		unsigned = "U"
	}
	text := landing{how: asText, duck: "VARCHAR"}
	switch mysqlBase(c.Type) {
	case "tinyint":
		text.duck = unsigned + "TINYINT"
	case "smallint", "year":
		text.duck = unsigned + "SMALLINT"
	case "mediumint", "int":
		text.duck = unsigned + "INTEGER"
	case "bigint":
		text.duck = unsigned + "BIGINT"
	case "decimal":
		text.duck = decimal(c.Type, "DECIMAL(10,0)")
	case "float":
		text.duck = "FLOAT"
	case "double":
		text.duck = "DOUBLE"
	case "date":
		text.duck = "DATE"
	case "datetime":
		text.duck = "TIMESTAMP"
	case "timestamp":
		text.duck = "TIMESTAMP WITH TIME ZONE"
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bit", "geometry":
		return landing{how: asBytes, duck: "BLOB"}
	}
	return text
}
