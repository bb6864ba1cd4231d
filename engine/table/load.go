package table

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"

	"dogear/engine"
)

// duckText is a value of DuckDB as text: of nested ones as JSON, of moments in
// UTC without their zone, of yes and no as 1 and 0.
func duckText(c engine.Column, quoted string) string {
	switch {
	case c.Type == "BLOB":
		return quoted
	case c.Type == "BOOLEAN":
		return "CAST(CAST(" + quoted + " AS TINYINT) AS VARCHAR)"
	case c.Type == "TIMESTAMP WITH TIME ZONE":
		return "CAST(CAST(" + quoted + " AS TIMESTAMP) AS VARCHAR)"
	case strings.HasSuffix(c.Type, "]") || strings.HasPrefix(c.Type, "STRUCT") || strings.HasPrefix(c.Type, "MAP"):
		return "CAST(to_json(" + quoted + ") AS VARCHAR)"
	}
	return "CAST(" + quoted + " AS VARCHAR)"
}

// baseType maps the types of DuckDB to those of a database; decimals keep their
// digits, and everything else is text.
func baseType(types map[string]string, duck string) (string, bool) {
	if digits, ok := strings.CutPrefix(duck, "DECIMAL"); ok {
		return types["DECIMAL"] + digits, true
	}
	typ, ok := types[duck]
	return typ, ok
}

var postgresTypes = map[string]string{
	"BOOLEAN": "boolean", "TINYINT": "smallint", "SMALLINT": "smallint", "INTEGER": "integer", "BIGINT": "bigint",
	"UTINYINT": "smallint", "USMALLINT": "integer", "UINTEGER": "bigint", "UBIGINT": "numeric(20,0)", "HUGEINT": "numeric(38,0)", "UHUGEINT": "numeric(39,0)",
	"FLOAT": "real", "DOUBLE": "double precision", "DECIMAL": "numeric", "DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMP WITH TIME ZONE": "timestamptz",
	"TIME": "time", "INTERVAL": "interval", "BLOB": "bytea", "UUID": "uuid", "JSON": "jsonb",
}

func (postgres) typeFor(duck string, _ bool) string {
	if typ, ok := baseType(postgresTypes, duck); ok {
		return typ
	}
	return "text"
}

func (postgres) makeStage(stage, target string, columns []string) string {
	return "CREATE TABLE " + stage + " AS SELECT " + strings.Join(columns, ", ") + " FROM " + target + " WHERE 1 = 0"
}

func (postgres) makeBatches(name string) string {
	return "CREATE TABLE IF NOT EXISTS " + name + " (batch varchar(64) PRIMARY KEY, target varchar(255) NOT NULL, row_count bigint NOT NULL, written_at timestamp DEFAULT CURRENT_TIMESTAMP)"
}

func (postgres) dropTable(name string) string { return "DROP TABLE IF EXISTS " + name }

func (postgres) outgoing(c engine.Column, quoted string) string {
	switch c.Type {
	case "BLOB":
		return `'\x' || hex(` + quoted + ")"
	case "BOOLEAN", "TIMESTAMP WITH TIME ZONE":
		return "CAST(" + quoted + " AS VARCHAR)"
	}
	return duckText(c, quoted)
}

// load sends rows by COPY, in its text form: the server reads each value by
// the rules of its own column.
func (postgres) load(ctx context.Context, db *DB, stage string, columns []engine.Column, rows *sql.Rows) (int64, error) {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = postgres{}.quote(c.Name)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }() // it goes back to the pool
	var n int64
	err = conn.Raw(func(driver any) error {
		out, in := io.Pipe()
		go func() { in.CloseWithError(copyText(in, rows, len(columns))) }()
		tag, err := driver.(*stdlib.Conn).Conn().PgConn().CopyFrom(ctx, out, "COPY "+stage+" ("+strings.Join(names, ", ")+") FROM STDIN")
		out.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // the writer, if it still writes, ends
		n = tag.RowsAffected()
		return err
	})
	return n, err
}

// escapes are the characters that COPY would take for its own.
var escapes = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// copyText writes rows as COPY reads them.
func copyText(w io.Writer, rows *sql.Rows, width int) error {
	cells := make([]sql.RawBytes, width)
	into := make([]any, width)
	for i := range cells {
		into[i] = &cells[i]
	}
	var line strings.Builder
	flush := func() error {
		_, err := io.WriteString(w, line.String())
		line.Reset()
		return err
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("read a row of the result: %w", err)
		}
		for i, cell := range cells {
			if i > 0 {
				line.WriteByte('\t')
			}
			if cell == nil {
				line.WriteString(`\N`)
			} else if _, err := escapes.WriteString(&line, string(cell)); err != nil {
				return err
			}
		}
		line.WriteByte('\n')
		if line.Len() > 64<<10 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return flush()
}

func (postgres) lock(ctx context.Context, tx *sql.Tx, target, _ string) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))", "dogear "+target)
	return err
}

func (postgres) same(a, b string) string { return a + " IS NOT DISTINCT FROM " + b }

func (postgres) update(target, stage string, set []string, on string) string {
	return "UPDATE " + target + " AS t SET " + assignments("", set) + " FROM " + stage + " AS s WHERE " + on
}

// assignments sets columns of a row to those of s.
func assignments(prefix string, set []string) string {
	parts := make([]string, len(set))
	for i, name := range set {
		parts[i] = prefix + name + " = s." + name
	}
	return strings.Join(parts, ", ")
}

// insertRows loads rows by INSERTs of several rows each, in one transaction.
func insertRows(ctx context.Context, db *DB, stage string, columns []engine.Column, rows *sql.Rows, maxRows, maxParams int) (int64, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // it has ended where all went well
	in := inserter{tx: tx, head: "INSERT INTO " + stage + " (", columns: columns, d: db.dialect, room: max(1, min(maxRows, maxParams/len(columns)))}
	for i, c := range columns {
		if i > 0 {
			in.head += ", "
		}
		in.head += db.quote(c.Name)
	}
	in.head += ") VALUES "
	n, err := in.all(ctx, rows)
	if err != nil {
		return n, err
	}
	return n, tx.Commit()
}

// inserter collects rows and inserts them together.
type inserter struct {
	tx      *sql.Tx
	d       dialect
	head    string
	columns []engine.Column
	room    int
	args    []any
	full    *sql.Stmt
}

func (in *inserter) all(ctx context.Context, rows *sql.Rows) (int64, error) {
	cells := make([]any, len(in.columns))
	into := make([]any, len(in.columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	var n int64
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return n, fmt.Errorf("read a row of the result: %w", err)
		}
		in.args = append(in.args, cells...)
		n++
		if len(in.args) == in.room*len(in.columns) {
			if err := in.flush(ctx); err != nil {
				return n, err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return n, err
	}
	return n, in.flush(ctx)
}

func (in *inserter) flush(ctx context.Context) error {
	count := len(in.args) / len(in.columns)
	if count == 0 {
		return nil
	}
	defer func() { in.args = in.args[:0] }()
	if count < in.room {
		_, err := in.tx.ExecContext(ctx, in.statement(count), in.args...)
		return err
	}
	if in.full == nil {
		var err error
		if in.full, err = in.tx.PrepareContext(ctx, in.statement(count)); err != nil {
			return err
		}
	}
	_, err := in.full.ExecContext(ctx, in.args...)
	return err
}

func (in *inserter) statement(rows int) string {
	var text strings.Builder
	text.WriteString(in.head)
	for row := range rows {
		if row > 0 {
			text.WriteString(", ")
		}
		marks := make([]string, len(in.columns))
		for i := range marks {
			marks[i] = in.d.param(row*len(in.columns) + i + 1)
		}
		text.WriteString("(" + strings.Join(marks, ", ") + ")")
	}
	return text.String()
}

// lockName is a name for a target that is short enough for every database.
func lockName(target string) string {
	sum := sha256.Sum256([]byte(target))
	return "dogear " + hex.EncodeToString(sum[:16])
}
