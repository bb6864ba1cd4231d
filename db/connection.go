package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
)

type secretRow struct {
	bun.BaseModel `bun:"table:secret"`

	ObjectID string `bun:",pk"`
	Sealed   []byte
	At       int64
}

// Connections lists the connections by name.
func (s *Store) Connections(ctx context.Context) ([]engine.Connection, error) {
	rows, err := s.objects(ctx, engine.KindConnection)
	list, err := collect(rows, err, connection)
	if err != nil {
		return nil, err
	}
	var kept []string
	if err := s.read.NewSelect().Model((*secretRow)(nil)).Column("object_id").Scan(ctx, &kept); err != nil {
		return nil, fmt.Errorf("look for secrets: %w", err)
	}
	for i := range list {
		list[i].HasSecret = slices.Contains(kept, string(list[i].ID))
	}
	return list, nil
}

// Connection returns a connection; its secret is read by Secret alone.
func (s *Store) Connection(ctx context.Context, id engine.ID) (engine.Connection, error) {
	row, err := s.object(ctx, s.read.DB, engine.KindConnection, id, false)
	if err != nil {
		return engine.Connection{}, err
	}
	c, err := connection(&row)
	if err != nil {
		return engine.Connection{}, err
	}
	c.HasSecret, err = s.HasSecret(ctx, id)
	return c, err
}

// SaveConnection makes a connection, or the next version of the one with that
// id, and publishes it at once: a connection has no draft. secret is kept
// sealed; nil leaves the one that is there.
func (s *Store) SaveConnection(ctx context.Context, id engine.ID, name string, body engine.ConnectionBody, secret *string, by string, now time.Time) (engine.Connection, error) {
	if err := engine.CheckName(string(engine.KindConnection), name); err != nil {
		return engine.Connection{}, err
	}
	var row objectRow
	err := s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		var err error
		if row, err = s.connectionRow(ctx, tx, id, name, by, now); err != nil {
			return err
		}
		if secret != nil {
			if err := s.putSecret(ctx, tx, row.ID, *secret, now); err != nil {
				return err
			}
		}
		row.Name = name
		row.Draft = sql.NullString{String: encode(body), Valid: true}
		return s.publishText(ctx, tx, &row, by, now)
	})
	if isUnique(err) {
		return engine.Connection{}, nameTaken(engine.KindConnection, name)
	}
	if err != nil {
		return engine.Connection{}, err
	}
	return s.Connection(ctx, engine.ID(row.ID))
}

// connectionRow reads the row to change, or makes it where id is "".
func (s *Store) connectionRow(ctx context.Context, tx bun.Conn, id engine.ID, name, by string, now time.Time) (objectRow, error) {
	if id != "" {
		return s.object(ctx, tx.Conn, engine.KindConnection, id, true)
	}
	row := objectRow{ID: string(engine.NewID(now)), Kind: string(engine.KindConnection), Name: name, MadeAt: micros(now), At: micros(now), By: by}
	_, err := tx.NewInsert().Model(&row).Exec(ctx)
	return row, err
}

func (s *Store) putSecret(ctx context.Context, tx bun.Conn, id, plain string, now time.Time) error {
	if plain == "" {
		_, err := tx.NewDelete().Model((*secretRow)(nil)).Where("object_id = ?", id).Exec(ctx)
		return err
	}
	sealed, err := s.keys.Seal([]byte(plain), id)
	if err != nil {
		return err
	}
	row := secretRow{ObjectID: id, Sealed: sealed, At: micros(now)}
	_, err = tx.NewInsert().Model(&row).On("CONFLICT (object_id) DO UPDATE").
		Set("sealed = EXCLUDED.sealed").Set("at = EXCLUDED.at").Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep the secret of %s: %w", id, err)
	}
	return nil
}

// Secret opens the secret of a connection; "" where it has none.
func (s *Store) Secret(ctx context.Context, id engine.ID) (string, error) {
	var row secretRow
	err := s.read.NewSelect().Model(&row).Where("object_id = ?", string(id)).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the secret of %s: %w", id, err)
	}
	plain, err := s.keys.Open(row.Sealed, string(id))
	if err != nil {
		return "", err
	}
	return string(plain), nil
}
