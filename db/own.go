package db

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

// ownKey names the lock under which one server at a time changes the schema.
const ownKey = 0x646f67656172 // "dogear"

// forkTime is how long the child of a killed server, which it was just starting,
// may hold the lock of its parent.
const forkTime = 500 * time.Millisecond

// Own makes this the one server of an SQLite file, or says that there is
// another. The ownership goes with the process, however it ends, or with
// release. A PostgreSQL has as many servers as there are leases (Join).
func (s *Store) Own() (release func(), err error) {
	if s.Shared() {
		return func() {}, nil
	}
	file, err := os.OpenFile(s.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the database: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	for end := time.Now().Add(forkTime); err != nil && time.Now().Before(end); err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) {
		time.Sleep(forkTime / 20)
	}
	if err != nil {
		_ = file.Close()
		return nil, engine.Errorf(engine.Conflict, "Another Dogear server works on the database %s. Stop it first; several servers need PostgreSQL (--database postgres://...).", s.path)
	}
	if err := s.lengthenLog(context.Background()); err != nil {
		_ = file.Close()
		return nil, err
	}
	s.hot = newHot(false)
	return func() {
		s.hot = nil
		_ = file.Close()
	}, nil
}

// alone waits until no other server changes the schema.
func (s *Store) alone(ctx context.Context) (unlock func(), err error) {
	conn, err := s.write.DB.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("reach the database: %w", err)
	}
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, int64(ownKey)); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("wait for another server to prepare the database: %w", err)
	}
	return func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, int64(ownKey))
		_ = conn.Close()
	}, nil
}
