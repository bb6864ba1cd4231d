package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
)

// objectRow is a workflow, job, crawler or connection: its published version
// and, where one is open, its draft.
type objectRow struct {
	bun.BaseModel `bun:"table:object"`

	ID        string `bun:"id,pk"`
	Kind      string
	Name      string
	Version   int
	Body      string
	Draft     sql.NullString
	DraftSeq  int64
	MadeAt    int64
	At        int64
	By        string
	DeletedAt int64
	// What every start of a published job asks for, beside its body.
	MaxRuns, Priority int
	Pool              string
}

type objectVersionRow struct {
	bun.BaseModel `bun:"table:object_version"`

	ObjectID string `bun:",pk"`
	Version  int    `bun:",pk"`
	Name     string
	Body     string
	At       int64
	By       string
}

func (r *objectRow) head() engine.Head {
	return engine.Head{ID: engine.ID(r.ID), Name: r.Name, Version: r.Version, At: instant(r.At), By: r.By}
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("db: %T cannot be written as JSON: %v", v, err)) // our own types always can
	}
	return string(text)
}

func decode[T any](text string) (T, error) {
	var v T
	if text == "" {
		return v, nil
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return v, fmt.Errorf("read a stored %T: %w", v, err)
	}
	return v, nil
}

// rowReader is a connection or a pool.
type rowReader interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// object reads a row by id, or NotFound. Every node run that starts asks for
// its job, so the statement is plain text.
func (s *Store) object(ctx context.Context, on rowReader, kind engine.Kind, id engine.ID, lock bool) (objectRow, error) {
	query := `SELECT id, kind, name, version, body, draft, draft_seq, made_at, at, "by", deleted_at, max_runs, priority, pool FROM object WHERE id = ? AND kind = ? AND deleted_at = 0`
	if lock && s.postgres() {
		query += ` FOR UPDATE`
	}
	var r objectRow
	err := on.QueryRowContext(ctx, s.bind(query), string(id), string(kind)).
		Scan(&r.ID, &r.Kind, &r.Name, &r.Version, &r.Body, &r.Draft, &r.DraftSeq, &r.MadeAt, &r.At, &r.By, &r.DeletedAt, &r.MaxRuns, &r.Priority, &r.Pool)
	if errors.Is(err, sql.ErrNoRows) {
		return r, engine.Errorf(engine.NotFound, "There is no %s with the id %s.", kind, id)
	}
	if err != nil {
		return r, fmt.Errorf("read %s %s: %w", kind, id, err)
	}
	return r, nil
}

func (s *Store) objectNamed(ctx context.Context, kind engine.Kind, name string) (objectRow, error) {
	var row objectRow
	err := s.read.NewSelect().Model(&row).Where("kind = ? AND name = ? AND deleted_at = 0", string(kind), name).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return row, s.unnamed(ctx, kind, name)
	}
	if err != nil {
		return row, fmt.Errorf("read %s %q: %w", kind, name, err)
	}
	return row, nil
}

// unnamed says that there is nothing of that name.
func (s *Store) unnamed(ctx context.Context, kind engine.Kind, name string) error {
	var names []string
	err := s.read.NewSelect().Model((*objectRow)(nil)).Column("name").Where("kind = ? AND deleted_at = 0", string(kind)).Order("name").Scan(ctx, &names)
	if err != nil {
		return fmt.Errorf("list %ss: %w", kind, err)
	}
	return engine.Unnamed(string(kind), name, names)
}

func (s *Store) objects(ctx context.Context, kind engine.Kind) ([]objectRow, error) {
	var rows []objectRow
	err := s.read.NewSelect().Model(&rows).Where("kind = ? AND deleted_at = 0", string(kind)).Order("name").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list %ss: %w", kind, err)
	}
	return rows, nil
}

// collect turns rows into domain values by make.
func collect[R, T any](rows []R, err error, domain func(*R) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	values := make([]T, len(rows))
	for i := range rows {
		if values[i], err = domain(&rows[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// insertObject makes an object that nobody has published yet: version 0 with
// its body as a draft.
func (s *Store) insertObject(ctx context.Context, kind engine.Kind, id engine.ID, name string, draft any, by string, now time.Time) error {
	row := objectRow{
		ID: string(id), Kind: string(kind), Name: name, Body: "", Draft: sql.NullString{String: encode(draft), Valid: true},
		MadeAt: micros(now), At: micros(now), By: by,
	}
	_, err := s.write.NewInsert().Model(&row).Exec(ctx)
	if isUnique(err) {
		return nameTaken(kind, name)
	}
	if err != nil {
		return diskFull(fmt.Errorf("make %s %q: %w", kind, name, err))
	}
	return nil
}

func nameTaken(kind engine.Kind, name string) error {
	return engine.Errorf(engine.Conflict, "There is already a %s named %q. Choose another name.", kind, name)
}

// RenameObject changes the name of an object and nothing else.
func (s *Store) RenameObject(ctx context.Context, kind engine.Kind, id engine.ID, name string) error {
	if err := engine.CheckName(string(kind), name); err != nil {
		return err
	}
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		result, err := tx.NewUpdate().Model((*objectRow)(nil)).Set("name = ?", name).
			Where("id = ? AND kind = ? AND deleted_at = 0", string(id), string(kind)).Exec(ctx)
		if isUnique(err) {
			return nameTaken(kind, name)
		}
		if err != nil {
			return fmt.Errorf("rename %s %s: %w", kind, id, err)
		}
		if n, err := result.RowsAffected(); err == nil && n == 0 {
			return engine.Errorf(engine.NotFound, "There is no %s with the id %s.", kind, id)
		}
		return nil
	})
}

// Versions lists the published versions of an object, newest first, without
// their bodies.
func (s *Store) Versions(ctx context.Context, id engine.ID) ([]engine.Head, error) {
	var rows []objectVersionRow
	err := s.read.NewSelect().Model(&rows).Column("object_id", "version", "name", "at", "by").
		Where("object_id = ?", string(id)).Order("version DESC").Scan(ctx)
	return collect(rows, err, func(r *objectVersionRow) (engine.Head, error) {
		return engine.Head{ID: engine.ID(r.ObjectID), Name: r.Name, Version: r.Version, At: instant(r.At), By: r.By}, nil
	})
}

// versionBody reads the body of one version of an object.
func versionBody[T any](ctx context.Context, on rowReader, query string, id engine.ID, version int) (engine.Head, T, error) {
	var name, text, by string
	var at int64
	var none T
	err := on.QueryRowContext(ctx, query, string(id), version).Scan(&name, &text, &at, &by)
	if errors.Is(err, sql.ErrNoRows) {
		return engine.Head{}, none, engine.Errorf(engine.NotFound, "There is no version %d.", version)
	}
	if err != nil {
		return engine.Head{}, none, fmt.Errorf("read version %d of %s: %w", version, id, err)
	}
	body, err := decode[T](text)
	return engine.Head{ID: id, Name: name, Version: version, At: instant(at), By: by}, body, err
}

const selectVersion = `SELECT name, body, at, "by" FROM object_version WHERE object_id = ? AND version = ?`
