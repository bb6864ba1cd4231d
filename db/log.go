package db

import (
	"context"
	"fmt"

	"dogear/engine"
)

// PutLog keeps a piece of an attempt's log, which begins at offset. Only who
// works on the attempt may: it is Conflict where its fence has moved on, or a
// server that hung would write over what another one added.
func (s *Store) PutLog(ctx context.Context, key engine.NodeKey, fence, offset int64, text []byte) error {
	result, err := s.write.DB.ExecContext(ctx, s.bind(`INSERT INTO log_chunk (run_id, ref, start, attempt, at_byte, body)
SELECT run_id, ref, start, attempt, ?, ? FROM node_run WHERE run_id = ? AND ref = ? AND start = ? AND attempt = ? AND fence = ?
ON CONFLICT (run_id, ref, start, attempt, at_byte) DO UPDATE SET body = excluded.body`),
		offset, text, string(key.Run), key.Ref.String(), key.Start, key.Attempt, fence)
	if err != nil {
		return fmt.Errorf("keep a piece of a log: %w", err)
	}
	if n, err := result.RowsAffected(); err == nil && n == 0 {
		return engine.Errorf(engine.Conflict, "This attempt has been taken over; its log is written by another server.")
	}
	return nil
}

// LogText returns up to limit bytes of an attempt's log from offset, and how
// long it is.
func (s *Store) LogText(ctx context.Context, key engine.NodeKey, offset, limit int64) (text []byte, size int64, err error) {
	where := ` FROM log_chunk WHERE run_id = ? AND ref = ? AND start = ? AND attempt = ?`
	args := []any{string(key.Run), key.Ref.String(), key.Start, key.Attempt}
	err = s.read.DB.QueryRowContext(ctx, s.bind(`SELECT coalesce(max(at_byte + length(body)), 0)`+where), args...).Scan(&size)
	if err != nil || size <= offset {
		return nil, size, err
	}
	rows, err := s.read.DB.QueryContext(ctx, s.bind(`SELECT at_byte, body`+where+` AND at_byte + length(body) > ? AND at_byte < ? ORDER BY at_byte`),
		append(args, offset, offset+limit)...)
	if err != nil {
		return nil, 0, fmt.Errorf("read a log: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var at int64
		var body []byte
		if err := rows.Scan(&at, &body); err != nil {
			return nil, 0, fmt.Errorf("read a log: %w", err)
		}
		from := max(0, offset+int64(len(text))-at)
		if from < int64(len(body)) {
			text = append(text, body[from:]...)
		}
	}
	return text[:min(int64(len(text)), limit)], size, rows.Err()
}
