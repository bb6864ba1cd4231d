// Package db is the memory of Dogear: rows and queries over SQLite or
// PostgreSQL. It speaks the engine's words and hides its rows.
package db

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"
	"github.com/mattn/go-sqlite3"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/migrate"

	"dogear/db/migrations"
	"dogear/engine"
)

// Store reads and writes everything that Dogear remembers. It is safe for use
// by many goroutines.
type Store struct {
	// write has one connection on SQLite, so that no writer ever meets another
	// one inside the database; read is a pool that cannot write.
	write   *bun.DB
	read    *bun.DB
	keys    Keys
	path    string  // of the file, on SQLite
	words   words   // for other servers
	hot     *hot    // nil where SQLite has another owner
	watched watched // how far the watchdog has come
	steps   *migrate.Migrator
	known   map[string]bool // the steps of this version
}

// Keys seal and open secrets (package secret); Open needs one.
type Keys interface {
	Seal(plain []byte, about string) ([]byte, error)
	Open(sealed []byte, about string) ([]byte, error)
	// Opens reports whether something was sealed with this key.
	Opens(sealed []byte) bool
}

// Open opens the store at address, which is a path of an SQLite file or a
// postgres:// URL, and brings its schema up to date.
func Open(ctx context.Context, address string, keys Keys) (*Store, error) {
	open := openSQLite
	if scheme, _, ok := strings.Cut(address, "://"); ok && scheme != "postgres" && scheme != "postgresql" {
		return nil, engine.Errorf(engine.Invalid, "There is no database %s://. Give the address of a PostgreSQL, which begins with postgres://, or the path of a file for SQLite.", scheme)
	}
	if strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://") {
		open = openPostgres
	}
	store, err := open(address)
	if err != nil {
		return nil, err
	}
	store.keys, store.known = keys, map[string]bool{}
	if err := store.migrate(ctx); err != nil {
		return nil, errors.Join(store.damaged(err), store.Close())
	}
	return store, nil
}

// hangs is how long a session of PostgreSQL may do nothing within a transaction.
// Ours ask and write without a pause; of a server whose machine hangs just then
// the locks go, so that another can take its work up.
const hangs = 5 * time.Second

func openPostgres(address string) (*Store, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	pool := func(most int, settings string) *bun.DB {
		pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, fmt.Sprintf("SET idle_in_transaction_session_timeout = %d", hangs.Milliseconds())+settings)
			return err
		}))
		pool.SetMaxOpenConns(most)
		pool.SetMaxIdleConns(most)
		return bun.NewDB(pool, pgdialect.New())
	}
	return &Store{write: pool(8, byKey), read: pool(12, ""), hot: newHot(true)}, nil
}

// byKey makes PostgreSQL find the rows that a transaction changes by their keys. It
// plans a statement once, and where its tables were small then, for instance in the
// first minute of a database, it would go on to look through the whole of them.
const byKey = "; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off"

// damaged says what to do about a file that is no whole database.
func (s *Store) damaged(err error) error {
	theirs, ok := errors.AsType[sqlite3.Error](err)
	if !ok || theirs.Code != sqlite3.ErrCorrupt && theirs.Code != sqlite3.ErrNotADB {
		return err
	}
	return engine.Errorf(engine.Invalid, "The database %s is damaged, or is not one (%v). Restore it from a backup, or save what can be read with: sqlite3 %s .recover", s.path, theirs, s.path)
}

func (s *Store) migrate(ctx context.Context) error {
	steps, err := migrations.SQLite()
	if s.postgres() {
		steps, err = migrations.Postgres()
	}
	if err != nil {
		return err
	}
	if s.postgres() { // of several servers that start at once, one does it
		unlock, err := s.alone(ctx)
		if err != nil {
			return err
		}
		defer unlock()
	}
	s.steps = migrate.NewMigrator(s.write, steps, migrate.WithMarkAppliedOnSuccess(true))
	if err := s.steps.Init(ctx); err != nil {
		return fmt.Errorf("prepare the database: %w", err)
	}
	for _, step := range steps.Sorted() {
		s.known[step.Name] = true
	}
	newer, err := s.newer(ctx)
	if err != nil {
		return err
	}
	if newer != "" {
		return engine.Errorf(engine.Invalid, "The database was written by a newer Dogear (it knows the step %s). Start that version, or restore a backup.", newer)
	}
	done, err := s.steps.Migrate(ctx)
	if err != nil {
		return fmt.Errorf("bring the database up to date: %w", err)
	}
	if !done.IsZero() {
		s.tellOlder(ctx)
	}
	return nil
}

// newer is a step that somebody has done to the database and that this version does
// not know; "" where there is none.
func (s *Store) newer(ctx context.Context) (string, error) {
	applied, err := s.steps.AppliedMigrations(ctx)
	if err != nil {
		return "", fmt.Errorf("read what was done to the database: %w", err)
	}
	for _, step := range applied {
		if !s.known[step.Name] {
			return step.Name, nil
		}
	}
	return "", nil
}

// Newer is a step by which a newer version has changed the schema under this one,
// after it began; "" while none has. Nobody does that to a file, which has one server.
func (s *Store) Newer(ctx context.Context) (string, error) {
	if !s.Shared() {
		return "", nil
	}
	return s.newer(ctx)
}

// Close closes the store.
func (s *Store) Close() error {
	return errors.Join(s.read.Close(), s.write.Close())
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.read.PingContext(ctx) }

func (s *Store) postgres() bool { return s.write.Dialect().Name() == dialect.PG }
