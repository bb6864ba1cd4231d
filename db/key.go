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

// SameKey refuses a server whose secret key is not that of the other servers
// of the database: what one seals another must be able to open. A server alone
// may come with another key.
func (s *Store) SameKey(ctx context.Context) error {
	if !s.Shared() {
		return nil
	}
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		var sealed []byte
		var others int
		err := tx.Conn.QueryRowContext(ctx, `SELECT sealed FROM secret WHERE object_id = $1 FOR UPDATE`, keyWord).Scan(&sealed)
		if err == nil {
			if _, err := s.keys.Open(sealed, keyWord); err == nil {
				return nil
			}
		} else if !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("read the key of the servers: %w", err)
		}
		if err := tx.Conn.QueryRowContext(ctx, `SELECT count(*) FROM replica WHERE expires > `+s.clock()).Scan(&others); err != nil {
			return fmt.Errorf("count the servers: %w", err)
		}
		if others > 0 && len(sealed) > 0 {
			return engine.Errorf(engine.Invalid, "The other servers of this database have another secret key. Start this one with theirs: --secret-key, or the same key file.")
		}
		if sealed, err = s.keys.Seal([]byte(keyWord), keyWord); err != nil {
			return err
		}
		return s.exec(ctx, tx, "keep the key of the servers", `INSERT INTO secret (object_id, sealed, at) VALUES (?, ?, `+s.clock()+`)
ON CONFLICT (object_id) DO UPDATE SET sealed = excluded.sealed, at = excluded.at`, keyWord, sealed)
	})
}
