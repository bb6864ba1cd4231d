package table

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"dogear/engine"
)

var mysqlTypes = map[string]string{
	"BOOLEAN": "boolean", "TINYINT": "tinyint", "SMALLINT": "smallint", "INTEGER": "int", "BIGINT": "bigint",
	"UTINYINT": "tinyint unsigned", "USMALLINT": "smallint unsigned", "UINTEGER": "int unsigned", "UBIGINT": "bigint unsigned", "HUGEINT": "decimal(38,0)", "UHUGEINT": "decimal(39,0)",
	"FLOAT": "float", "DOUBLE": "double", "DECIMAL": "decimal", "DATE": "date", "TIMESTAMP": "datetime(6)", "TIMESTAMP WITH TIME ZONE": "datetime(6)",
	"TIME": "time(6)", "BLOB": "longblob", "UUID": "char(36)", "JSON": "json",
}

func (mysqlDialect) typeFor(duck string, key bool) string {
	if typ, ok := baseType(mysqlTypes, duck); ok {
		return typ
	}
	if key {
		return "varchar(255)" // a text without a length cannot be a key
	}
	return "longtext"
}

func (mysqlDialect) makeStage(stage, target string, columns []string) string {
	return postgres{}.makeStage(stage, target, columns)
}

func (mysqlDialect) makeBatches(name string) string {
	return postgres{}.makeBatches(name) + " ENGINE = InnoDB"
}

func (mysqlDialect) dropTable(name string) string                   { return postgres{}.dropTable(name) }
func (mysqlDialect) outgoing(c engine.Column, quoted string) string { return duckText(c, quoted) }

func (mysqlDialect) load(ctx context.Context, db *DB, stage string, columns []engine.Column, rows *sql.Rows) (int64, error) {
	return insertRows(ctx, db, stage, columns, rows, 500, 60000)
}

// lock takes a lock of the session, which ends with its connection.
func (mysqlDialect) lock(ctx context.Context, tx *sql.Tx, target, _ string) error {
	var got sql.NullInt64
	err := tx.QueryRowContext(ctx, "SELECT GET_LOCK(?, 600)", lockName(target)).Scan(&got)
	if err == nil && got.Int64 != 1 {
		err = errors.New("another batch has been writing for more than ten minutes")
	}
	return err
}

func (mysqlDialect) same(a, b string) string { return a + " <=> " + b }

func (mysqlDialect) update(target, stage string, set []string, on string) string {
	return "UPDATE " + target + " AS t JOIN " + stage + " AS s ON " + on + " SET " + assignments("t.", set)
}

var sqliteTypes = map[string]string{
	"BOOLEAN": "BOOLEAN", "TINYINT": "INTEGER", "SMALLINT": "INTEGER", "INTEGER": "INTEGER", "BIGINT": "INTEGER",
	"UTINYINT": "INTEGER", "USMALLINT": "INTEGER", "UINTEGER": "INTEGER", "FLOAT": "REAL", "DOUBLE": "REAL",
	"DATE": "DATE", "TIMESTAMP": "TIMESTAMP", "TIMESTAMP WITH TIME ZONE": "TIMESTAMP", "BLOB": "BLOB",
}

// typeFor makes text of decimals: SQLite would keep them in floating point.
func (sqlite) typeFor(duck string, _ bool) string {
	if typ, ok := sqliteTypes[duck]; ok {
		return typ
	}
	return "TEXT"
}

func (sqlite) makeStage(stage, target string, columns []string) string {
	return postgres{}.makeStage(stage, target, columns)
}

func (sqlite) makeBatches(name string) string                 { return postgres{}.makeBatches(name) }
func (sqlite) dropTable(name string) string                   { return postgres{}.dropTable(name) }
func (sqlite) outgoing(c engine.Column, quoted string) string { return duckText(c, quoted) }

func (sqlite) load(ctx context.Context, db *DB, stage string, columns []engine.Column, rows *sql.Rows) (int64, error) {
	return insertRows(ctx, db, stage, columns, rows, 100, 900)
}

// lock begins the transaction with a write, so that it has the file's lock
// before it reads anything it will rely on.
func (sqlite) lock(ctx context.Context, tx *sql.Tx, _, batches string) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM "+batches+" WHERE 1 = 0")
	return err
}

func (sqlite) same(a, b string) string { return a + " IS " + b }

func (sqlite) update(target, stage string, set []string, on string) string {
	return postgres{}.update(target, stage, set, on)
}

var sqlserverTypes = map[string]string{
	"BOOLEAN": "bit", "TINYINT": "smallint", "SMALLINT": "smallint", "INTEGER": "int", "BIGINT": "bigint",
	"UTINYINT": "tinyint", "USMALLINT": "int", "UINTEGER": "bigint", "UBIGINT": "decimal(20,0)", "HUGEINT": "decimal(38,0)",
	"FLOAT": "real", "DOUBLE": "float", "DECIMAL": "decimal", "DATE": "date", "TIMESTAMP": "datetime2(6)", "TIMESTAMP WITH TIME ZONE": "datetime2(6)",
	"TIME": "time(6)", "BLOB": "varbinary(max)", "UUID": "uniqueidentifier",
}

func (sqlserver) typeFor(duck string, key bool) string {
	if typ, ok := baseType(sqlserverTypes, duck); ok {
		return typ
	}
	if key {
		return "nvarchar(450)" // as long as a key may be
	}
	return "nvarchar(max)"
}

func (sqlserver) makeStage(stage, target string, columns []string) string {
	return "SELECT " + strings.Join(columns, ", ") + " INTO " + stage + " FROM " + target + " WHERE 1 = 0"
}

func (sqlserver) makeBatches(name string) string {
	return "IF OBJECT_ID('" + strings.ReplaceAll(name, "'", "''") + "') IS NULL CREATE TABLE " + name +
		" (batch varchar(64) PRIMARY KEY, target nvarchar(255) NOT NULL, row_count bigint NOT NULL, written_at datetime2 DEFAULT SYSUTCDATETIME())"
}

func (sqlserver) dropTable(name string) string                   { return "DROP TABLE IF EXISTS " + name }
func (sqlserver) outgoing(c engine.Column, quoted string) string { return duckText(c, quoted) }

func (sqlserver) load(ctx context.Context, db *DB, stage string, columns []engine.Column, rows *sql.Rows) (int64, error) {
	return insertRows(ctx, db, stage, columns, rows, 1000, 2000)
}

func (sqlserver) lock(ctx context.Context, tx *sql.Tx, target, _ string) error {
	_, err := tx.ExecContext(ctx, "DECLARE @got int; EXEC @got = sp_getapplock @Resource = @p1, @LockMode = 'Exclusive', @LockOwner = 'Transaction', @LockTimeout = 600000; IF @got < 0 THROW 50000, 'another batch has been writing for more than ten minutes', 1", lockName(target))
	return err
}

func (sqlserver) same(a, b string) string {
	return "EXISTS (SELECT " + a + " INTERSECT SELECT " + b + ")"
}

func (sqlserver) update(target, stage string, set []string, on string) string {
	return "UPDATE t SET " + assignments("", set) + " FROM " + target + " AS t JOIN " + stage + " AS s ON " + on
}
