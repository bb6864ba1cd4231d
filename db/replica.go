package db

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
)

// forever is the end of a lease that needs no renewal: of the one server of an
// SQLite file, which a lock of the file guarantees (Own).
const forever = math.MaxInt64

// Shared reports whether other servers may work on this database as well.
func (s *Store) Shared() bool { return s.postgres() }

// clock is the time of the database in microseconds. Leases are measured by no
// other one, for the clocks of servers differ.
func (s *Store) clock() string {
	if s.postgres() {
		return `CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`
	}
	return `CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)`
}

// Join gives a server its lease for ttl. On SQLite every server before it is
// gone, and the lease never ends.
func (s *Store) Join(ctx context.Context, r engine.Replica, ttl time.Duration) error {
	expires := s.clock() + ` + ?`
	until := ttl.Microseconds()
	if !s.Shared() {
		expires, until = `?`, forever
	}
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		if !s.Shared() {
			if err := s.exec(ctx, tx, "end the leases before", `UPDATE replica SET expires = 0`); err != nil {
				return err
			}
		}
		if err := s.exec(ctx, tx, "forget servers that are long gone", `DELETE FROM replica WHERE expires < `+s.clock()+` - ?`, keptReplicas.Microseconds()); err != nil {
			return err
		}
		return s.exec(ctx, tx, "join the servers of the database", `INSERT INTO replica (id, host, process, address, started, expires, seen) VALUES (?, ?, ?, ?, ?, `+expires+`, `+s.clock()+`)`,
			string(r.ID), r.Host, encode(r.Process), r.Address, micros(r.Started), until)
	})
}

// Renew extends a lease to ttl from now. It is a Conflict where the lease has
// run out: then others may have taken the work of its holder.
func (s *Store) Renew(ctx context.Context, id engine.ID, ttl time.Duration) error {
	if !s.Shared() {
		return nil
	}
	result, err := s.write.DB.ExecContext(ctx, s.bind(`UPDATE replica SET expires = `+s.clock()+` + ?, seen = `+s.clock()+` WHERE id = ? AND expires > `+s.clock()), ttl.Microseconds(), string(id))
	if err != nil {
		return fmt.Errorf("renew the lease: %w", err)
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		return engine.Errorf(engine.Conflict, "The lease of this server has run out.")
	}
	return err
}

// Leave ends the lease of a server that works on nothing any more, or of one
// that is known to be dead.
func (s *Store) Leave(ctx context.Context, id engine.ID) error {
	_, err := s.write.DB.ExecContext(ctx, s.bind(`UPDATE replica SET expires = 0 WHERE id = ?`), string(id))
	if err != nil {
		return fmt.Errorf("end the lease: %w", err)
	}
	return nil
}

// keptReplicas is how long a server whose lease ran out stays in the list, so
// that people see what became of it. One that left in order is gone at once.
const keptReplicas = 10 * time.Minute

// Replicas lists the servers whose lease holds or ran out within the last ten
// minutes: those that hold first, then the oldest.
func (s *Store) Replicas(ctx context.Context) ([]engine.Replica, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT id, host, process, address, started, expires - `+s.clock()+`, CASE seen WHEN 0 THEN -1 ELSE `+s.clock()+` - seen END FROM replica
WHERE expires > `+s.clock()+` - ? ORDER BY CASE WHEN expires > `+s.clock()+` THEN 0 ELSE 1 END, id`), keptReplicas.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("list the servers: %w", err)
	}
	defer rows.Close()
	var all []engine.Replica
	for rows.Next() {
		var r engine.Replica
		var process string
		var started, left, silent int64
		if err := rows.Scan(&r.ID, &r.Host, &process, &r.Address, &started, &left, &silent); err != nil {
			return nil, fmt.Errorf("list the servers: %w", err)
		}
		if r.Process, err = decode[engine.Process](process); err != nil {
			return nil, err
		}
		r.Started = instant(started)
		r.Left = time.Duration(min(left, math.MaxInt64/1000)) * time.Microsecond
		r.Silent = time.Duration(silent) * time.Microsecond
		all = append(all, r)
	}
	return all, rows.Err()
}

func (s *Store) orphans() string {
	return ` WHERE ` + s.underWay() + ` AND owner NOT IN (SELECT id FROM replica WHERE expires > ` + s.clock() + `)` + inOrder
}

// Orphans lists the node runs under way whose server is gone.
func (s *Store) Orphans(ctx context.Context) ([]engine.NodeRun, error) {
	return queryNodes(ctx, s.read.DB, selectNode+s.orphans())
}

// Held lists the node runs under way that a server works on.
func (s *Store) Held(ctx context.Context, owner engine.ID) ([]engine.NodeRun, error) {
	return queryNodes(ctx, s.read.DB, s.bind(selectNode+` WHERE `+s.underWay()+` AND owner = ?`), string(owner))
}

func (s *Store) readyNodes() string {
	return ` WHERE ` + s.openNodes() + ` AND state = 'ready' ORDER BY priority DESC, run_id, ready_at LIMIT ?`
}

// ReadyNodes lists up to limit node runs that wait for a server, in the order
// in which they have their turn.
func (s *Store) ReadyNodes(ctx context.Context, limit int) ([]engine.NodeRun, error) {
	return queryNodes(ctx, s.read.DB, s.bind(selectNode+s.readyNodes()), limit)
}
