package table_test

import (
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/table/tabletest"
)

func TestARewindToAKeyReadsWhatComesAfterIt(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, "CREATE TABLE k (id INTEGER PRIMARY KEY, day DATE)", "INSERT INTO k VALUES (9, '2026-03-01'), (10, '2026-03-02'), (11, '2026-03-02'), (100, '2026-03-03')")
		tests := map[string]struct {
			keys []string
			desc bool
			to   []string
			mark string
			rows int64
			next []string
		}{
			"a number":             {keys: []string{"id"}, to: []string{"10"}, mark: "10", rows: 2, next: []string{"11", "100"}},
			"a number between":     {keys: []string{"id"}, to: []string{"50"}, mark: "11", rows: 3, next: []string{"100"}},
			"a date":               {keys: []string{"day"}, to: []string{"2026-03-02"}, mark: "2026-03-02", rows: 3, next: []string{"100"}},
			"two columns":          {keys: []string{"day", "id"}, to: []string{"2026-03-02", "10"}, mark: "2026-03-02, 10", rows: 2, next: []string{"11", "100"}},
			"a number, falling":    {keys: []string{"id"}, desc: true, to: []string{"11"}, mark: "11", rows: 2, next: []string{"9", "10"}},
			"too few columns":      {keys: []string{"day", "id"}, to: []string{"2026-03-02"}},
			"before the first row": {keys: []string{"id"}, to: []string{"1"}},
		}
		for name, tt := range tests {
			r := newReader(t, b, "k", tt.keys...)
			r.source.Options.Table.Descending = tt.desc
			r.run()
			q := engine.TableQuestion{Source: r.source, Mark: &r.ledger[0], Now: r.now, UpTo: tt.to}

			found, err := b.Databases.Survey(t.Context(), q)

			if tt.mark == "" {
				if err == nil || !strings.Contains(err.Error(), "name a value for each") && !strings.Contains(err.Error(), "k has no row up to the key 1") {
					t.Errorf("%s: got %v", name, err)
				}
				continue
			}
			tabletest.Must(t, err)
			if got := engine.KeyWords(found.New[0].High); got != tt.mark || found.New[0].Rows != tt.rows {
				t.Errorf("%s: got the mark %s after %d rows, want %s after %d", name, got, found.New[0].Rows, tt.mark, tt.rows)
			}
			r.ledger = found.New
			same(t, name, r.run(), tt.next...)
		}
	})
}
