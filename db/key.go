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
// instead, but not from under servers that work with them, and says whose they were.
func (s *Store) CheckKey(ctx context.Context, forget bool) (gone []Forgotten, err error) {
	err = s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
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
			if gone, err = s.forgetSecrets(ctx, tx); err != nil {
				return err
			}
		}
		if sealed, err = s.keys.Seal([]byte(keyWord), keyWord); err != nil {
			return err
		}
		return s.exec(ctx, tx, "keep the key of the servers", `INSERT INTO secret (object_id, sealed, at) VALUES (?, ?, `+s.clock()+`)
ON CONFLICT (object_id) DO UPDATE SET sealed = excluded.sealed, at = excluded.at`, keyWord, sealed)
	})
	return gone, err
}

// Forgotten is whose secret was removed: a connection, or an event trigger of a
// workflow, which takes calls.
type Forgotten struct {
	Kind engine.Kind // KindConnection or KindWorkflow
	Name string      // "" of a workflow in which the trigger is not published yet
	// Trigger is the name of the trigger within the workflow.
	Trigger string
}

func (s *Store) forgetSecrets(ctx context.Context, tx bun.Conn) ([]Forgotten, error) {
	var others int
	if err := tx.Conn.QueryRowContext(ctx, `SELECT count(*) FROM replica WHERE expires > `+s.clock()).Scan(&others); err != nil {
		return nil, fmt.Errorf("count the servers: %w", err)
	}
	if s.Shared() && others > 0 {
		return nil, engine.Errorf(engine.Conflict, "Other servers of this database work with its secrets. Stop them first, or start this one with their key.")
	}
	gone, err := s.secretsOf(ctx, tx)
	if err != nil {
		return nil, err
	}
	return gone, s.exec(ctx, tx, "forget the secrets", `DELETE FROM secret`)
}

// secretsOf is who has a secret, by kind and name.
func (s *Store) secretsOf(ctx context.Context, tx bun.Conn) ([]Forgotten, error) {
	var rows []struct {
		Kind, Name, Body, ID string
	}
	err := tx.NewRaw(`SELECT COALESCE(o.kind, ?) AS kind, COALESCE(o.name, '') AS name, COALESCE(o.body, '{}') AS body, s.object_id AS id FROM secret s
LEFT JOIN event_trigger t ON t.trigger_id = s.object_id
LEFT JOIN object o ON o.id = COALESCE(t.workflow_id, s.object_id)
WHERE s.object_id <> ? ORDER BY 1, 2, 4`, string(engine.KindWorkflow), keyWord).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("list the secrets: %w", err)
	}
	list := make([]Forgotten, len(rows))
	for i, row := range rows {
		list[i] = Forgotten{Kind: engine.Kind(row.Kind), Name: row.Name}
		if list[i].Kind != engine.KindWorkflow {
			continue
		}
		body, err := decode[engine.WorkflowBody](row.Body)
		if err != nil {
			return nil, err
		}
		for _, t := range body.Triggers {
			if string(t.ID) == row.ID {
				list[i].Trigger = t.Name
			}
		}
	}
	return list, nil
}
