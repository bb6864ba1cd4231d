// Package db is the memory of Dogear: rows and queries over SQLite or
// PostgreSQL. It speaks the engine's words and hides its rows.
package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"
	"github.com/mattn/go-sqlite3"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/migrate"

	"dogear/db/migrations"
	"dogear/engine"
	"dogear/engine/failpoint"
)

// Store reads and writes everything that Dogear remembers. It is safe for use
// by many goroutines.
type Store struct {
	// write has one connection on SQLite, so that no writer ever meets another
	// one inside the database; read is a pool that cannot write.
	write *bun.DB
	read  *bun.DB
	keys  Keys
	path  string // of the file, on SQLite
	words words  // for other servers
	hot   *hot   // nil where SQLite has another owner
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
	store.keys = keys
	if err := store.migrate(ctx); err != nil {
		return nil, errors.Join(store.damaged(err), store.Close())
	}
	return store, nil
}

// liteDriver is the driver of SQLite with what its address cannot say.
const liteDriver = "dogear_sqlite"

// checkpointPages is how many pages the log of SQLite takes (8 MB) until they are
// moved into the file. The commit that does it takes ten times as long as others
// and so does the next: with the 1,000 of SQLite that are more than one of a
// hundred transitions. What was never moved is read from the log after a crash,
// in some ten milliseconds.
const checkpointPages = 2000

func init() {
	sql.Register(liteDriver, &sqlite3.SQLiteDriver{ConnectHook: func(conn *sqlite3.SQLiteConn) error {
		_, err := conn.Exec(fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", checkpointPages), nil)
		return err
	}})
}

// openSQLite sets what SQLite needs to lose nothing and never to be "locked":
// WAL, full synchronisation, one writer that takes its lock at BEGIN.
func openSQLite(path string) (*Store, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the database: %w", err)
	}
	address := func(extra string) string {
		// The statements of a transition are few and always the same: prepared
		// once, they cost half.
		options := "?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=10000&_foreign_keys=on&_stmt_cache_size=64" + extra
		return (&url.URL{Scheme: "file", Opaque: url.PathEscape(absolute)}).String() + options
	}
	write, err := sql.Open(liteDriver, address(""))
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	write.SetMaxOpenConns(1)
	read, err := sql.Open("sqlite3", address("&_query_only=on"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the database for reading: %w", err), write.Close())
	}
	read.SetMaxOpenConns(8)
	read.SetMaxIdleConns(8)
	return &Store{write: bun.NewDB(write, sqlitedialect.New()), read: bun.NewDB(read, sqlitedialect.New()), path: absolute}, nil
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
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, fmt.Sprintf("SET idle_in_transaction_session_timeout = %d", hangs.Milliseconds()))
		return err
	}))
	pool.SetMaxOpenConns(16)
	pool.SetMaxIdleConns(16)
	both := bun.NewDB(pool, pgdialect.New())
	return &Store{write: both, read: both, hot: newHot(true)}, nil
}

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
	migrator := migrate.NewMigrator(s.write, steps, migrate.WithMarkAppliedOnSuccess(true))
	if err := migrator.Init(ctx); err != nil {
		return fmt.Errorf("prepare the database: %w", err)
	}
	known := map[string]bool{}
	for _, step := range steps.Sorted() {
		known[step.Name] = true
	}
	applied, err := migrator.AppliedMigrations(ctx)
	if err != nil {
		return fmt.Errorf("read what was done to the database: %w", err)
	}
	for _, step := range applied {
		if !known[step.Name] {
			return engine.Errorf(engine.Invalid, "The database was written by a newer Dogear (it knows the step %s). Start that version, or restore a backup.", step.Name)
		}
	}
	if _, err := migrator.Migrate(ctx); err != nil {
		return fmt.Errorf("bring the database up to date: %w", err)
	}
	return nil
}

// Close closes the store.
func (s *Store) Close() error {
	if s.read == s.write {
		return s.write.Close()
	}
	return errors.Join(s.read.Close(), s.write.Close())
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.read.PingContext(ctx) }

func (s *Store) postgres() bool { return s.write.Dialect().Name() == dialect.PG }

// tx runs fn in one transaction for writing. It says BEGIN and COMMIT itself on
// a connection of its own: a transaction of database/sql that could be
// cancelled starts a goroutine for every statement, which costs more than most
// statements do. So ctx bounds the wait for the connection; what has begun goes
// to its end.
func (s *Store) tx(ctx context.Context, fn func(ctx context.Context, tx bun.Conn) error) error {
	return s.txThen(ctx, "", s.hot.other, func(ctx context.Context, tx open) error { return fn(ctx, tx.Conn) })
}

// open is a transaction under way.
type open struct {
	bun.Conn
	xid  string  // by which to ask what became of it, should the answer get lost
	sent *writes // nil on SQLite
}

// txThen is tx that may read a run with its BEGIN (pipeline.go), and that tells,
// before anybody else may write, whether the transaction stands.
func (s *Store) txThen(ctx context.Context, run engine.ID, then func(stands bool), fn func(ctx context.Context, tx open) error) error {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("wait for the database: %w", err)
	}
	defer func() { _ = conn.Close() }() // gives it back to the pool; it says only that it was closed already
	ctx = context.WithoutCancel(ctx)
	stands := false
	defer func() {
		if !stands { // after an error or a panic
			rollback(ctx, conn.Conn)
		}
		then(stands)
	}()
	tx := open{Conn: conn}
	if s.postgres() {
		ctx, tx.sent = collecting(ctx)
		tx.xid, err = s.beginPostgres(ctx, conn.Conn, run)
	} else {
		_, err = conn.Conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	}
	if err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	if err := fn(ctx, tx); err != nil {
		return diskFull(err)
	}
	failpoint.Hit("db.commit.before")
	err = s.commitTx(ctx, tx)
	failpoint.Hit("db.commit.after")
	stands = err == nil
	return diskFull(err)
}

// diskFull says what a person can do where SQLite has no more room.
func diskFull(err error) error {
	if theirs, ok := errors.AsType[sqlite3.Error](err); ok && theirs.Code == sqlite3.ErrFull {
		return engine.Errorf(engine.Away, "The disk of the database is full. Free some space there and try again; nothing was changed.")
	}
	return err
}

func (s *Store) commitTx(ctx context.Context, tx open) error {
	if !s.postgres() {
		if _, err := tx.Conn.Conn.ExecContext(ctx, "COMMIT"); err != nil {
			return fmt.Errorf("commit a transaction: %w", err)
		}
		return nil
	}
	if broken(tx.Conn.Conn) {
		return errors.New("a statement of the transaction failed and nobody noticed")
	}
	queueCommit(&tx.sent.batch)
	if err := tx.sent.flush(ctx, tx.Conn.Conn); err != nil {
		if away(err) {
			return &unsure{xid: tx.xid, err: err}
		}
		return fmt.Errorf("commit a transaction: %w", err)
	}
	return nil
}

// broken reports whether PostgreSQL has given the transaction up: it would then
// answer a COMMIT with a ROLLBACK, which is no error to the driver.
func broken(conn *sql.Conn) (is bool) {
	_ = conn.Raw(func(of any) error {
		session, ok := of.(*stdlib.Conn)
		is = ok && session.Conn().PgConn().TxStatus() == 'E'
		return nil
	})
	return is
}

// rollback ends a transaction without a trace. A connection that cannot do so
// is not used again: closing it does the same.
func rollback(ctx context.Context, conn *sql.Conn) {
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

// lock makes a read inside a transaction keep the row: SQLite's writer is
// alone anyway.
func (s *Store) lock(q *bun.SelectQuery) *bun.SelectQuery {
	if s.postgres() {
		return q.For("UPDATE")
	}
	return q
}

// isUnique reports whether err is a broken unique constraint in either
// dialect.
func isUnique(err error) bool {
	if lite, ok := errors.AsType[sqlite3.Error](err); ok {
		return lite.ExtendedCode == sqlite3.ErrConstraintUnique || lite.ExtendedCode == sqlite3.ErrConstraintPrimaryKey
	}
	return err != nil && strings.Contains(err.Error(), "SQLSTATE=23505") || err != nil && strings.Contains(err.Error(), "SQLSTATE 23505")
}

// micros is the stored form of a time; 0 is never.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// instant reads what micros wrote.
func instant(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
