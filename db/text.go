package db

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

func (s *Store) exec(ctx context.Context, tx bun.Conn, what, query string, args ...any) error {
	if _, err := tx.Conn.ExecContext(ctx, s.bind(query), args...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// bind writes the placeholders of query as the database wants them.
func (s *Store) bind(query string) string {
	if !s.postgres() {
		return query
	}
	return numbered(query)
}

// numbered writes the placeholders of query as PostgreSQL wants them.
func numbered(query string) string {
	if !strings.Contains(query, "?") {
		return query
	}
	var b strings.Builder
	n := 0
	for _, r := range query {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

// micros is the stored form of a time; 0 is never.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// instant reads what micros wrote.
func instant(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
