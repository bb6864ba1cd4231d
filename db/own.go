package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

// ownKey names the lock that the one server of a PostgreSQL database holds.
const ownKey = 0x646f67656172 // "dogear"

// ownPoll is how often a server looks whether it still holds its database.
const ownPoll = 5 * time.Second

// Own makes this the one server of its database, or says that there is another.
// The ownership goes with the process, however it ends, or with release. Where
// it is lost before, because the connection that holds it broke and another
// server was faster, lost is called once: this server must then write nothing
// more.
func (s *Store) Own(ctx context.Context, lost func(error)) (release func(), err error) {
	if !s.postgres() {
		return s.ownFile()
	}
	conn, err := s.ownSession(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.watch(ctx, conn, lost)
	}()
	return func() {
		cancel()
		<-done
	}, nil
}

// ownSession takes the lock on a session of its own.
func (s *Store) ownSession(ctx context.Context) (*sql.Conn, error) {
	conn, err := s.write.DB.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("reach the database: %w", err)
	}
	var mine bool
	if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, int64(ownKey)).Scan(&mine); err != nil {
		return nil, errors.Join(fmt.Errorf("take the lock of the database: %w", err), conn.Close())
	}
	if !mine {
		return nil, errors.Join(engine.Errorf(engine.Conflict, "Another Dogear server works on this database. Stop it first; two at once would tear each other's work away."), conn.Close())
	}
	return conn, nil
}

// watch keeps the session that holds the lock, and takes the lock again where
// the session broke.
func (s *Store) watch(ctx context.Context, conn *sql.Conn, lost func(error)) {
	tick := time.NewTicker(ownPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			end(conn)
			return
		case <-tick.C:
		}
		if conn.PingContext(ctx) == nil || ctx.Err() != nil {
			continue
		}
		end(conn)
		again, err := s.ownSession(ctx)
		for err != nil && engine.CodeOf(err) != engine.Conflict && ctx.Err() == nil {
			select { // the database is away: what waits for it waits
			case <-ctx.Done():
			case <-tick.C:
			}
			again, err = s.ownSession(ctx)
		}
		if err != nil {
			if ctx.Err() == nil {
				lost(err)
			}
			return
		}
		conn = again
	}
}

// end gives the lock back and ends its session. The server notices the end of a
// session only some time later, and given back to the pool it would keep its
// lock. A session that is broken already has lost it.
func end(conn *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, int64(ownKey))
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
}

// ownFile locks a file beside an SQLite database.
func (s *Store) ownFile() (release func(), err error) {
	file, err := os.OpenFile(s.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the database: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, engine.Errorf(engine.Conflict, "Another Dogear server works on the database %s. Stop it first.", s.path)
	}
	return func() { _ = file.Close() }, nil
}
