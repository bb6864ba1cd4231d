package duck

import (
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

// DuckDB does not count the long texts that it makes, so only the system keeps
// them from taking the machine's memory.
func TestMemoryThatDuckDBDoesNotCountIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, sql := range []string{
		"SELECT length(repeat('x', 3000000000))",
		"SELECT sum(length(repeat('x', 40000000) || range::VARCHAR)) FROM range(200)",
	} {
		began := time.Now()
		_, err := b.query(sql)

		if f := failure(t, err); f.Kind != FailMemory || engine.CodeOf(err) != engine.LimitHit {
			t.Errorf("%s: got %v, want that memory was too small", sql, err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s: it took %v to be refused", sql, took)
		}
	}
}

func TestASpillBeyondItsLimitIsAClearFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	limits := b.limits()
	const sql = "SELECT count(h) FROM (SELECT md5(range::VARCHAR) AS h FROM range(12000000) ORDER BY h OFFSET 10)"

	limits.SpillMB = 50
	_, err := b.Do(t.Context(), Request{Limits: limits, Query: &Query{SQL: sql, MaxRows: 1}})

	if f := failure(t, err); f.Kind != FailMemory || engine.CodeOf(err) != engine.LimitHit || !strings.Contains(f.Message, "50 MB") {
		t.Errorf("got %v, want that it may spill no more than 50 MB", err)
	}
	limits.SpillMB = 0
	if _, err := b.Do(t.Context(), Request{Limits: limits, Query: &Query{SQL: sql, MaxRows: 1}}); err != nil {
		t.Errorf("with the default: got %v, want a result", err)
	}
}
