// Package dbtest is the one suite that both databases must pass. It drives a
// store through its own methods only.
package dbtest

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/secret"
	"dogear/engine"
)

// Noon is the time at which stories of this suite begin.
var Noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Open opens a store at address that is closed with the test.
func Open(t *testing.T, address string) *db.Store {
	t.Helper()
	key, err := secret.New(make([]byte, 32))
	must(t, err)
	store, err := db.Open(context.Background(), address, key)
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	return store
}

// SQLite opens a new store in a file of its own.
func SQLite(t *testing.T) *db.Store {
	t.Helper()
	return Open(t, t.TempDir()+"/dogear.db")
}

// Postgres opens a new store on PostgreSQL, for what only several servers do.
func Postgres(t *testing.T) *db.Store {
	t.Helper()
	return Open(t, newDatabase(t))
}

// PostgresAddress is the address of a new, empty database on PostgreSQL.
func PostgresAddress(t *testing.T) string {
	t.Helper()
	return newDatabase(t)
}

// PostgresEnv names the variable with the address of a PostgreSQL server on
// which tests may make databases.
const PostgresEnv = "DOGEAR_TEST_POSTGRES"

// Databases runs test on SQLite and on PostgreSQL, on a new store each. That
// no PostgreSQL is there fails, for a suite that skips half of itself proves
// nothing; make test starts one.
func Databases(t *testing.T, test func(t *testing.T, store *db.Store)) {
	t.Helper()
	Addresses(t, func(t *testing.T, address string) {
		t.Helper()
		test(t, Open(t, address))
	})
}

// Addresses runs test with the address of a new, empty database of each kind.
func Addresses(t *testing.T, test func(t *testing.T, address string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, t.TempDir()+"/dogear.db")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, newDatabase(t))
	})
}

// Exec says a statement to a database past its store.
func Exec(t *testing.T, address, statement string) {
	t.Helper()
	driver := "sqlite3"
	if strings.HasPrefix(address, "postgres") {
		driver = "pgx"
	}
	raw, err := sql.Open(driver, address)
	must(t, err)
	_, err = raw.ExecContext(context.Background(), statement)
	must(t, err)
	must(t, raw.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newDatabase makes an empty database that goes with the test.
func newDatabase(t *testing.T) string {
	t.Helper()
	server := os.Getenv(PostgresEnv)
	if server == "" {
		t.Fatalf("%s is not set; run the tests with: make test", PostgresEnv)
	}
	return createDatabase(t, server, "t"+string(engine.NewID(time.Now())))
}
