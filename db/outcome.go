package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"dogear/engine"
)

// unsure is the error of a COMMIT whose answer never came: the transaction may
// stand or not.
type unsure struct {
	xid string // of the transaction, as PostgreSQL numbers it
	err error
}

func (u *unsure) Error() string { return "commit a transaction: " + u.err.Error() }
func (u *unsure) Unwrap() error { return u.err }

// away reports whether err says that the database could not be asked, and
// nothing about what it was asked for.
func away(err error) bool {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch said.Code[:2] {
		case "08", "53": // a broken connection, no room
			return true
		case "57":
			return strings.HasPrefix(said.Code, "57P") // it shuts down, crashed or starts
		case "25":
			return said.Code == "25P03" // this server hung within a transaction, and has lost it
		}
		return false
	}
	_, network := errors.AsType[net.Error](err)
	_, connect := errors.AsType[*pgconn.ConnectError](err)
	return network || connect || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err) || err != nil && strings.Contains(err.Error(), "conn closed")
}

// Broken reports whether an error of this store says that the line to the database
// broke, and nothing about what was asked.
func (s *Store) Broken(err error) bool { return s.postgres() && err != nil && away(err) }

// Explain puts an error into words that says that the line to the database broke, and
// leaves any other as it is.
func (s *Store) Explain(err error) error {
	if engine.CodeOf(err) != engine.Internal || !s.Broken(err) {
		return err
	}
	return engine.Errorf(engine.Away, "The database does not answer. Look again in a minute, and whether what you asked for was done.")
}

// collided reports whether err is of two transactions that got in each other's
// way, of which one may simply be done again.
func collided(err error) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	return said.Code == "40P01" || said.Code == "40001" || said.Code == "23505" && said.ConstraintName == "batch_number"
}

// awayPoll is how often a database that does not answer is asked again.
const awayPoll = 100 * time.Millisecond

// outcome finds out whether a transaction stands whose COMMIT had no answer. It
// asks until the database says so, or until ctx ends.
func (s *Store) outcome(ctx context.Context, xid string) (stands bool, err error) {
	tick := time.NewTicker(awayPoll)
	defer tick.Stop()
	for {
		var status *string
		err := s.write.DB.QueryRowContext(ctx, `SELECT pg_xact_status($1::xid8)`, xid).Scan(&status)
		switch {
		case err == nil && status == nil:
			return false, errors.New("the database has forgotten what became of a transaction")
		case err == nil && *status != "in progress":
			return *status == "committed", nil
		}
		select {
		case <-ctx.Done():
			return false, engine.Errorf(engine.Away, "The database does not answer, and it is not known whether the change was made. Look again when it does.")
		case <-tick.C:
		}
	}
}
