package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/auth"
)

type personRow struct {
	bun.BaseModel `bun:"table:person"`

	ID     string `bun:"id,pk"`
	Name   string
	Role   string
	MadeAt int64
}

func (s *Store) user(ctx context.Context, what, where string, arg any) (auth.User, error) {
	var row personRow
	err := s.read.NewSelect().Model(&row).Where(where, arg).Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return auth.User{}, engine.Errorf(engine.NotFound, "There is no %s.", what)
	}
	if err != nil {
		return auth.User{}, fmt.Errorf("read a user: %w", err)
	}
	return auth.User{ID: engine.ID(row.ID), Name: row.Name, Role: auth.Role(row.Role), At: instant(row.MadeAt)}, nil
}

// Owner returns the owner, or NotFound before the first start.
func (s *Store) Owner(ctx context.Context) (auth.User, error) {
	return s.user(ctx, "owner", "role = ?", string(auth.Owner))
}

// User returns a user by id.
func (s *Store) User(ctx context.Context, id engine.ID) (auth.User, error) {
	return s.user(ctx, "such user", "id = ?", string(id))
}

// AddUser keeps a new user. A name that is taken, and so a second owner, is a
// Conflict.
func (s *Store) AddUser(ctx context.Context, u auth.User) error {
	row := personRow{ID: string(u.ID), Name: u.Name, Role: string(u.Role), MadeAt: micros(u.At)}
	_, err := s.write.NewInsert().Model(&row).Exec(ctx)
	if isUnique(err) {
		return engine.Errorf(engine.Conflict, "There is already a user named %q.", u.Name)
	}
	if err != nil {
		return diskFull(fmt.Errorf("add a user: %w", err))
	}
	return nil
}

// AddLink keeps a sign-in link, and forgets those that have expired.
func (s *Store) AddLink(ctx context.Context, l auth.Link) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		if err := s.exec(ctx, tx, "forget old sign-in links", `DELETE FROM signin_link WHERE expires < ?`, micros(l.Expires.Add(-auth.LinkLife))); err != nil {
			return err
		}
		return s.exec(ctx, tx, "keep a sign-in link", `INSERT INTO signin_link (hash, person_id, expires) VALUES (?, ?, ?)`,
			l.Hash, string(l.User), micros(l.Expires))
	})
}

// TakeLink removes a link and returns it, in one step.
func (s *Store) TakeLink(ctx context.Context, hash string) (auth.Link, error) {
	link := auth.Link{Hash: hash}
	var expires int64
	err := s.write.DB.QueryRowContext(ctx, s.bind(`DELETE FROM signin_link WHERE hash = ? RETURNING person_id, expires`), hash).
		Scan((*string)(&link.User), &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return link, engine.Errorf(engine.NotFound, "There is no such sign-in link.")
	}
	if err != nil {
		return link, fmt.Errorf("take a sign-in link: %w", err)
	}
	link.Expires = instant(expires)
	return link, nil
}

// Session returns what is kept for a session that has not expired.
func (s *Store) Session(ctx context.Context, token string) ([]byte, error) {
	var data []byte
	err := s.read.DB.QueryRowContext(ctx, s.bind(`SELECT data FROM session WHERE token = ? AND expires > ?`), token, micros(time.Now())).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, engine.Errorf(engine.NotFound, "There is no such session.")
	}
	if err != nil {
		return nil, fmt.Errorf("read a session: %w", err)
	}
	return data, nil
}

// SaveSession keeps a session, and forgets those that have expired.
func (s *Store) SaveSession(ctx context.Context, token string, data []byte, expires time.Time) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		if err := s.exec(ctx, tx, "forget old sessions", `DELETE FROM session WHERE expires < ?`, micros(time.Now())); err != nil {
			return err
		}
		return s.exec(ctx, tx, "keep a session", `INSERT INTO session (token, data, expires) VALUES (?, ?, ?)
ON CONFLICT (token) DO UPDATE SET data = excluded.data, expires = excluded.expires`, token, data, micros(expires))
	})
}

// DeleteSession forgets a session.
func (s *Store) DeleteSession(ctx context.Context, token string) error {
	_, err := s.write.DB.ExecContext(ctx, s.bind(`DELETE FROM session WHERE token = ?`), token)
	if err != nil {
		return fmt.Errorf("forget a session: %w", err)
	}
	return nil
}
