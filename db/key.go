package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"dogear/engine"
)

// keyWord is sealed with the key of the servers, in the place of a secret of
// this name.
const keyWord = "key of the servers"

// CheckKey refuses a server whose secret key is not the one with which the
// secrets of the database were sealed: what one server seals another must be
// able to open. With forget, for a key that is lost, it removes those secrets
// instead; but not from under servers that work with them.
func (s *Store) CheckKey(ctx context.Context, forget bool) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		var sealed []byte
		err := tx.Conn.QueryRowContext(ctx, s.bind(`SELECT sealed FROM secret WHERE object_id = ?`), keyWord).Scan(&sealed)
		if errors.Is(err, sql.ErrNoRows) { // a database from before this check has secrets, perhaps
			err = tx.Conn.QueryRowContext(ctx, `SELECT sealed FROM secret LIMIT 1`).Scan(&sealed)
		}
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return fmt.Errorf("read the key of the servers: %w", err)
		case s.keys.Opens(sealed):
		case !forget:
			return engine.Errorf(engine.Invalid, "The secrets of this database were sealed with another key. Start with that key: --secret-key, or its file. If it is lost, start once with --forget-secrets; then type the secrets of the connections again, and make those of the event triggers that take calls anew.")
		default:
			if err := s.forgetSecrets(ctx, tx); err != nil {
				return err
			}
		}
		if sealed, err = s.keys.Seal([]byte(keyWord), keyWord); err != nil {
			return err
		}
		return s.exec(ctx, tx, "keep the key of the servers", `INSERT INTO secret (object_id, sealed, at) VALUES (?, ?, `+s.clock()+`)
ON CONFLICT (object_id) DO UPDATE SET sealed = excluded.sealed, at = excluded.at`, keyWord, sealed)
	})
}

func (s *Store) forgetSecrets(ctx context.Context, tx bun.Conn) error {
	var others int
	if err := tx.Conn.QueryRowContext(ctx, `SELECT count(*) FROM replica WHERE expires > `+s.clock()).Scan(&others); err != nil {
		return fmt.Errorf("count the servers: %w", err)
	}
	if s.Shared() && others > 0 {
		return engine.Errorf(engine.Conflict, "Other servers of this database work with its secrets. Stop them first, or start this one with their key.")
	}
	return s.exec(ctx, tx, "forget the secrets", `DELETE FROM secret`)
}
