package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/flow"
)

var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
)

// pack writes a document that may name a hundred thousand files.
func pack(v any) []byte { return packer.EncodeAll([]byte(encode(v)), nil) }

func unpack[T any](blob []byte) (T, error) {
	var v T
	text, err := unpacker.DecodeAll(blob, nil)
	if err != nil {
		return v, fmt.Errorf("unpack a stored %T: %w", v, err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return v, fmt.Errorf("read a stored %T: %w", v, err)
	}
	return v, nil
}

// putBatch makes a batch, giving it the next number of its job, or writes its
// new state and manifest.
func (s *Store) putBatch(ctx context.Context, tx bun.Conn, b *engine.Batch) error {
	if b.Number != 0 {
		return s.send(ctx, tx, "write a batch", `UPDATE batch SET state = ?, manifest = ? WHERE id = ?`, string(b.State), pack(b.Manifest), string(b.ID))
	}
	row := tx.Conn.QueryRowContext(ctx, s.bind(`SELECT coalesce(max(number), 0) + 1 FROM batch WHERE job_id = ?`), string(b.Job))
	if err := row.Scan(&b.Number); err != nil {
		return fmt.Errorf("number a batch: %w", err)
	}
	return s.exec(ctx, tx, "make a batch", `INSERT INTO batch (id, run_id, ref, start, attempt, job_id, number, state, plan, manifest, body, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		string(b.ID), string(b.Node.Run), b.Node.Ref.String(), b.Node.Start, b.Node.Attempt, string(b.Job), b.Number, string(b.State),
		pack(b.Plan), pack(b.Manifest), encode(b.Body), micros(b.At))
}

// Batch returns a batch with its plan and manifest.
func (s *Store) Batch(ctx context.Context, id engine.ID) (engine.Batch, error) {
	var b engine.Batch
	var run, ref, job, state, body string
	var plan, manifest []byte
	var at int64
	err := s.read.DB.QueryRowContext(ctx, s.bind(`SELECT run_id, ref, start, attempt, job_id, number, state, plan, manifest, body, at FROM batch WHERE id = ?`), string(id)).
		Scan(&run, &ref, &b.Node.Start, &b.Node.Attempt, &job, &b.Number, &state, &plan, &manifest, &body, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return b, engine.Errorf(engine.NotFound, "There is no batch with the id %s.", id)
	}
	if err != nil {
		return b, fmt.Errorf("read batch %s: %w", id, err)
	}
	b.ID, b.Node.Run, b.Job, b.State, b.At = id, engine.ID(run), engine.ID(job), engine.BatchState(state), instant(at)
	var errs [4]error
	b.Node.Ref, errs[0] = engine.ParseRef(ref)
	b.Plan, errs[1] = unpack[engine.Plan](plan)
	b.Manifest, errs[2] = unpack[engine.Manifest](manifest)
	b.Body, errs[3] = decode[engine.JobBody](body)
	return b, errors.Join(errs[:]...)
}

// Finalized returns those of ids whose batches are finalized.
func (s *Store) Finalized(ctx context.Context, ids []engine.ID) ([]engine.ID, error) {
	var ended []engine.ID
	err := s.read.NewSelect().Table("batch").Column("id").
		Where("id IN (?)", bun.List(ids)).Where("state = ?", string(engine.BatchFinalized)).Scan(ctx, &ended)
	if err != nil {
		return nil, fmt.Errorf("ask which batches are finalized: %w", err)
	}
	return ended, nil
}

// siblingsAsked is how many numbers of batches are asked for at once.
const siblingsAsked = 500

// Siblings returns the tags of the batches of a job, of the numbers that are
// asked for; the job is that of batch.
func (s *Store) Siblings(ctx context.Context, batch engine.ID, numbers []int64) (map[int64]string, error) {
	tags := map[int64]string{}
	for chunk := range slices.Chunk(numbers, siblingsAsked) {
		var rows []struct {
			ID     engine.ID
			Number int64
		}
		err := s.read.NewSelect().Table("batch").Column("id", "number").
			Where("job_id = (SELECT job_id FROM batch WHERE id = ?)", string(batch)).Where("number IN (?)", bun.List(chunk)).Scan(ctx, &rows)
		if err != nil {
			return nil, fmt.Errorf("look for batches of one job: %w", err)
		}
		for _, row := range rows {
			b := engine.Batch{ID: row.ID}
			tags[row.Number] = b.Tag()
		}
	}
	return tags, nil
}

// Manifests returns what batches that were planned since then have committed,
// the newest of them first, at most limit.
func (s *Store) Manifests(ctx context.Context, since time.Time, limit int) ([]engine.Manifest, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT manifest FROM batch WHERE id > ? AND state IN (?, ?) ORDER BY id DESC LIMIT ?`),
		string(engine.NewID(since)), string(engine.BatchCommitted), string(engine.BatchFinalized), limit)
	if err != nil {
		return nil, fmt.Errorf("list manifests: %w", err)
	}
	defer rows.Close()
	var all []engine.Manifest
	for rows.Next() {
		var blob []byte
		if err := rows.Scan(&blob); err != nil {
			return nil, fmt.Errorf("read a manifest: %w", err)
		}
		m, err := unpack[engine.Manifest](blob)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, rows.Err()
}

// Inputs lists what was ever read in a context of a job, newest batch first.
func (s *Store) Inputs(ctx context.Context, job engine.ID, name string, limit int) ([]flow.Input, error) {
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT i.batch_id, i.root, i.files, i.bytes FROM batch_input i JOIN batch b ON b.id = i.batch_id
WHERE b.job_id = ? AND i.ctx = ? ORDER BY b.number DESC LIMIT ?`), string(job), name, limit)
	if err != nil {
		return nil, fmt.Errorf("list what was read: %w", err)
	}
	defer rows.Close()
	var all []flow.Input
	for rows.Next() {
		in := flow.Input{Ctx: name}
		if err := rows.Scan((*string)(&in.Batch), &in.Root, &in.Files, &in.Bytes); err != nil {
			return nil, fmt.Errorf("list what was read: %w", err)
		}
		all = append(all, in)
	}
	return all, rows.Err()
}
