package table

import (
	"context"
	"database/sql"
	"net/url"
	"strconv"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"dogear/engine"
)

// sqlserver is Microsoft SQL Server. What it sends was compared with written
// examples; no server was at hand to run it.
type sqlserver struct{}

func (sqlserver) name() string         { return "SQL Server" }
func (sqlserver) versionQuery() string { return "SELECT @@VERSION" }

func (sqlserver) quote(name string) string { return doubled(name, "[", "]") }
func (sqlserver) param(n int) string       { return "@p" + strconv.Itoa(n) }
func (sqlserver) tuples() bool             { return false }

func (sqlserver) open(c Config) (*sql.DB, error) {
	q := url.Values{"database": {c.Database}, "app name": {"dogear"}, "dial timeout": {strconv.Itoa(int(patience / time.Second))}}
	switch c.TLS {
	case engine.TLSOff:
		q.Set("encrypt", "disable")
	case engine.TLSEncrypt:
		q.Set("encrypt", "true")
		q.Set("TrustServerCertificate", "true")
	case engine.TLSVerify:
		q.Set("encrypt", "true")
	}
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword(c.User, c.Password), Host: c.address(), RawQuery: q.Encode()}
	config, err := msdsn.Parse(u.String())
	if err != nil {
		return nil, c.explain(err, "cannot be opened")
	}
	// The driver's own settings stand, but for whom to believe.
	ours, err := tlsConfig(c)
	if err != nil {
		return nil, err
	}
	if ours != nil && config.TLSConfig != nil {
		config.TLSConfig.RootCAs, config.TLSConfig.ServerName = ours.RootCAs, ours.ServerName
	}
	return sql.OpenDB(mssql.NewConnectorConfig(config)), nil
}

// snapshot needs ALLOW_SNAPSHOT_ISOLATION of the database; where it is off the
// server says so.
func (sqlserver) snapshot() *sql.TxOptions { return &sql.TxOptions{Isolation: sql.LevelSnapshot} }

func (sqlserver) limit(query string, offset int64) string {
	return query + " OFFSET " + strconv.FormatInt(offset, 10) + " ROWS FETCH NEXT 1 ROWS ONLY"
}

func (sqlserver) top(query string, n int64) string {
	return strings.Replace(query, "SELECT ", "SELECT TOP ("+strconv.FormatInt(n, 10)+") ", 1)
}

func (sqlserver) tablesQuery() string {
	return "SELECT TABLE_SCHEMA, TABLE_NAME, CAST(CASE TABLE_TYPE WHEN 'VIEW' THEN 1 ELSE 0 END AS bit) FROM INFORMATION_SCHEMA.TABLES ORDER BY 1, 2"
}

func (d sqlserver) columns(ctx context.Context, q querier, n Name) ([]Column, error) {
	rows, err := q.QueryContext(ctx, `SELECT c.name, t.name, c.max_length, c.precision, c.scale, c.is_nullable, coalesce(k.key_ordinal, 0)
FROM sys.columns c JOIN sys.types t ON t.user_type_id = c.system_type_id
LEFT JOIN sys.indexes i ON i.object_id = c.object_id AND i.is_primary_key = 1
LEFT JOIN sys.index_columns k ON k.object_id = c.object_id AND k.index_id = i.index_id AND k.column_id = c.column_id
WHERE c.object_id = OBJECT_ID(@p1) ORDER BY c.column_id`, n.in(d))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []Column
	for rows.Next() {
		var c Column
		var length, precision, scale int
		if err := rows.Scan(&c.Name, &c.Type, &length, &precision, &scale, &c.Nullable, &c.Key); err != nil {
			return nil, err
		}
		c.class, c.zoned = sqlserverClass(c.Type), c.Type == "datetimeoffset"
		c.Type = sqlserverType(c.Type, length, precision, scale)
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

// sqlserverType writes a type with its modifier, as CAST takes it.
func sqlserverType(name string, length, precision, scale int) string {
	switch name {
	case "decimal", "numeric":
		return name + "(" + strconv.Itoa(precision) + "," + strconv.Itoa(scale) + ")"
	case "datetime2", "datetimeoffset", "time":
		return name + "(" + strconv.Itoa(scale) + ")"
	case "nvarchar", "nchar":
		length /= 2
	case "varchar", "char", "varbinary", "binary":
	default:
		return name
	}
	if length <= 0 {
		return name + "(max)"
	}
	return name + "(" + strconv.Itoa(length) + ")"
}

func sqlserverClass(base string) class {
	switch base {
	case "tinyint", "smallint", "int", "bigint":
		return integerClass
	case "decimal", "numeric", "money", "smallmoney":
		return decimalClass
	case "real", "float":
		return floatClass
	case "date":
		return dateClass
	case "datetime", "datetime2", "smalldatetime", "datetimeoffset":
		return timeClass
	case "char", "varchar", "nchar", "nvarchar", "uniqueidentifier":
		return textClass
	}
	return otherClass
}

// printed uses the styles that keep every digit: 121 of a time, 3 of a number
// in floating point, 2 of money.
func (d sqlserver) printed(c Column) string {
	style := ""
	switch {
	case c.class == timeClass || c.class == dateClass:
		style = ", 121"
	case c.class == floatClass:
		style = ", 3"
	case bare(c.Type) == "money" || bare(c.Type) == "smallmoney":
		style = ", 2"
	}
	return "CONVERT(nvarchar(4000), " + c.in(d) + style + ")"
}

func (sqlserver) typeOf(c Column) string { return "'" + strings.ReplaceAll(c.Type, "'", "''") + "'" }

func (sqlserver) typed(c Column, _ string) string { return c.Type }

func (sqlserver) bound(c Column, v engine.KeyValue, param string) (string, any) {
	style := ""
	if c.class == timeClass || c.class == dateClass {
		style = ", 121"
	}
	return "CONVERT(" + c.Type + ", " + param + style + ")", v.Text
}

func (d sqlserver) minus(c Column, expr string, amount int64) string {
	n := strconv.FormatInt(amount, 10)
	switch c.class {
	case timeClass:
		return "CONVERT(nvarchar(4000), DATEADD(second, -" + n + ", " + expr + "), 121)"
	case dateClass:
		return "CONVERT(nvarchar(4000), DATEADD(day, -" + n + ", " + expr + "), 121)"
	case integerClass, decimalClass, floatClass, textClass, otherClass:
	}
	return "CONVERT(nvarchar(4000), " + expr + " - " + n + ")"
}

func (sqlserver) endless(Column) string { return "" }

// bytewise sorts by UTF-16 units, which is the order of bytes for all but rare
// characters; a read that meets another order says so.
func (sqlserver) bytewise(expr string) string { return expr + " COLLATE Latin1_General_BIN2" }

func (sqlserver) moment(c Column, t time.Time) string {
	if c.zoned {
		return t.UTC().Format("2006-01-02 15:04:05.000000 +00:00")
	}
	return momentText(c, t)
}

func (d sqlserver) landed(c Column) landing {
	text := func(duck string) landing { return landing{expr: d.printed(c), how: asText, duck: duck} }
	switch bare(c.Type) {
	case "tinyint":
		return text("UTINYINT")
	case "smallint":
		return text("SMALLINT")
	case "int":
		return text("INTEGER")
	case "bigint":
		return text("BIGINT")
	case "bit":
		return text("BOOLEAN")
	case "decimal", "numeric":
		return text(decimal(c.Type, plainDecimal))
	case "money", "smallmoney":
		return text("DECIMAL(19,4)")
	case "real":
		return text("FLOAT")
	case "float":
		return text("DOUBLE")
	case "date":
		return text("DATE")
	case "datetime", "datetime2", "smalldatetime":
		return text("TIMESTAMP")
	case "datetimeoffset":
		return text("TIMESTAMP WITH TIME ZONE")
	case "binary", "varbinary", "image", "rowversion", "timestamp":
		return landing{how: asBytes, duck: "BLOB"}
	case "char", "varchar", "nchar", "nvarchar", "text", "ntext":
		return landing{how: asText, duck: "VARCHAR"}
	}
	return text("VARCHAR")
}
