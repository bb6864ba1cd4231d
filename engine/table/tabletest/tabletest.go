// Package tabletest gives tests databases of their own: a SQLite file, and a
// new database on each server that the environment names.
package tabletest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/place"
	"dogear/engine/table"
)

// Connection is the id under which Databases finds the test's database.
const Connection = engine.ID("shop")

// Base is one database of a test.
type Base struct {
	*table.DB

	Config    table.Config
	Databases *table.Databases
}

// Each runs a test on every kind of database that is at hand. Where the
// environment names no server, that part is skipped; `make test` names all.
func Each(t *testing.T, run func(t *testing.T, b Base)) {
	t.Helper()
	for name, open := range map[string]func(*testing.T) table.Config{"sqlite": sqliteFile, "postgres": postgresServer, "mysql": mysqlServer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, base(t, open(t)))
		})
	}
}

// Postgres is a new database on PostgreSQL.
func Postgres(t *testing.T) Base {
	t.Helper()
	return base(t, postgresServer(t))
}

// Must ends a test at an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func base(t *testing.T, c table.Config) Base {
	t.Helper()
	db, err := table.Open(t.Context(), c)
	Must(t, err)
	t.Cleanup(func() { Must(t, db.Close()) })
	roots := place.Roots{Allowed: []string{filepath.Dir(c.Database)}}
	return Base{DB: db, Config: c, Databases: table.New(roots, one{c})}
}

// one is the connection of a test.
type one struct{ config table.Config }

// Database returns it, whatever is asked for.
func (o one) Database(context.Context, engine.ID) (table.Config, error) { return o.config, nil }

// Do runs statements.
func (b Base) Do(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		for part := range strings.SplitSeq(statement, ";\n") {
			if strings.TrimSpace(part) == "" {
				continue
			}
			if _, err := b.ExecContext(t.Context(), part); err != nil {
				t.Fatalf("%s: %v", part, err)
			}
		}
	}
}

// Rows are the rows of a query as text, cells with | and rows with a space
// between them.
func (b Base) Rows(t *testing.T, query string) string {
	t.Helper()
	rows, err := b.QueryContext(t.Context(), query)
	Must(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	Must(t, err)
	var all []string
	for rows.Next() {
		cells := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		Must(t, rows.Scan(into...))
		texts := make([]string, len(columns))
		for i, cell := range cells {
			if texts[i] = cell.String; !cell.Valid {
				texts[i] = "NULL"
			}
		}
		all = append(all, strings.Join(texts, "|"))
	}
	Must(t, rows.Err())
	return strings.Join(all, " ")
}

func sqliteFile(t *testing.T) table.Config {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	Must(t, err)
	path := filepath.Join(dir, "shop.db")
	Must(t, os.WriteFile(path, nil, 0o600))
	return table.Config{Kind: engine.ConnectionSQLite, Database: path}
}

// server reads the address of a server from the environment, and makes a new
// database on it.
func server(t *testing.T, variable, drop string, kind engine.ConnectionType) table.Config {
	t.Helper()
	address := os.Getenv(variable)
	if address == "" {
		t.Skipf("%s names no server; make test runs this on one", variable)
	}
	u, err := url.Parse(address)
	Must(t, err)
	port, err := strconv.Atoi(u.Port())
	Must(t, err)
	password, _ := u.User.Password()
	c := table.Config{
		Kind: kind, Host: u.Hostname(), Port: port, Database: strings.TrimPrefix(u.Path, "/"), User: u.User.Username(), Password: password, TLS: engine.TLSOff,
	}
	name := "t" + strings.ToLower(rand.Text()[:12])
	do := func(ctx context.Context, statement string) {
		db, err := table.Open(ctx, c)
		Must(t, err)
		_, err = db.ExecContext(ctx, statement)
		Must(t, err)
		Must(t, db.Close())
	}
	do(t.Context(), "CREATE DATABASE "+name)
	t.Cleanup(func() { do(context.Background(), "DROP DATABASE "+name+drop) })
	made := c
	made.Database = name
	return made
}

func postgresServer(t *testing.T) table.Config {
	return server(t, "DOGEAR_TEST_POSTGRES", " WITH (FORCE)", engine.ConnectionPostgres)
}

func mysqlServer(t *testing.T) table.Config {
	return server(t, "DOGEAR_TEST_MYSQL", "", engine.ConnectionMySQL)
}

// Reach is the databases of a connection to another SQLite file, with the roots
// of b.
func Reach(b Base, path string) *table.Databases {
	return table.New(place.Roots{Allowed: []string{filepath.Dir(b.Config.Database)}}, one{table.Config{Kind: engine.ConnectionSQLite, Database: path}})
}

// SQLiteAt is a new SQLite file at a path.
func SQLiteAt(t *testing.T, path string) Base {
	t.Helper()
	Must(t, os.WriteFile(path, nil, 0o600))
	return base(t, table.Config{Kind: engine.ConnectionSQLite, Database: path})
}
