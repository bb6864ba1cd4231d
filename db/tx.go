package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/mattn/go-sqlite3"
	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/failpoint"
)

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
func broken(conn *sql.Conn) bool { return status(conn) == 'E' }

// status is I where a connection has no transaction open, T where it has, E where
// that one has failed, and 0 where nobody knows.
func status(conn *sql.Conn) (is byte) {
	_ = conn.Raw(func(of any) error {
		if session, ok := of.(*stdlib.Conn); ok {
			is = session.Conn().PgConn().TxStatus()
		}
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
