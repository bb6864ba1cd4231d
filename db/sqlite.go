package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/mattn/go-sqlite3"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"golang.org/x/sys/unix"
)

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

// lengthenLog gives the log of SQLite the length that it has before a checkpoint.
// Where a commit makes a file longer, its flush also waits for what the file system
// writes of the file itself: that is twice the time (ADR 46). What follows the last
// commit in the log is no frame to SQLite, and is written over. Where the disk has no
// room for it, the log grows as it is needed.
func (s *Store) lengthenLog(ctx context.Context) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error { // nobody else writes the log meanwhile
		var page int64
		if err := tx.QueryRowContext(ctx, "PRAGMA page_size").Scan(&page); err != nil {
			return fmt.Errorf("ask for the size of a page: %w", err)
		}
		log, err := os.OpenFile(s.path+"-wal", os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("open the log of the database: %w", err)
		}
		defer func() { _ = log.Close() }() // what counts was flushed
		const header, frame = 32, 24       // bytes before all frames and before the page of each
		return lengthen(log, header+checkpointPages*(frame+page))
	})
}

// lengthen fills a file with zeros up to a length, or leaves it as it is where there
// is no room for that.
func lengthen(file *os.File, length int64) error {
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil || end >= length {
		return err
	}
	if _, err = file.Write(make([]byte, length-end)); err == nil {
		err = file.Sync()
	}
	if err != nil {
		if shorter := file.Truncate(end); shorter != nil || !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
			return fmt.Errorf("lengthen the log of the database: %w", errors.Join(err, shorter))
		}
	}
	return nil
}
