package table_test

import (
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/table"
	"dogear/engine/table/tabletest"
)

func TestThePrimaryKeyIsTheKeyOnlyIfItRisesWithoutGaps(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ table, rows, want string }{
		"no gap":          {"id INTEGER PRIMARY KEY", "(5), (6), (7)", ""},
		"a gap":           {"id INTEGER PRIMARY KEY", "(5), (7)", "its primary key id has gaps (2 rows in a span of 3)"},
		"several columns": {"id INTEGER, b INTEGER DEFAULT 1, PRIMARY KEY (id, b)", "(5)", "its primary key (id, b) has several columns"},
		"a text":          {"id VARCHAR(10) PRIMARY KEY", "('a')", "its primary key id is not a whole number"},
		"none":            {"id INTEGER", "(5)", "it has no primary key"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
				b.Do(t, "CREATE TABLE k ("+tt.table+")", "INSERT INTO k (id) VALUES "+tt.rows)
				r := newReader(t, b, "k")
				_, err := r.survey()
				if tt.want != "" {
					if err == nil || !strings.Contains(err.Error(), tt.want) {
						t.Errorf("got %v, want %q", err, tt.want)
					}
					return
				}
				same(t, "first run", r.run(), "5", "6", "7")
				// A gap that comes later does not stop what has begun.
				b.Do(t, "INSERT INTO k VALUES (9)")
				same(t, "second run", r.run(), "9")
			})
		})
	}
}

func TestASettleLagLeavesWhatIsTooYoung(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		typ           string
		rows          string
		lag           int64
		closed        string
		first, second []string
		young         int64
	}{
		"numbers":     {typ: "INTEGER", rows: "(1, 1), (2, 95), (3, 100)", lag: 5, first: []string{"1", "2"}, second: nil, young: 1},
		"seconds":     {typ: "TIMESTAMP NULL", rows: "(1, '2026-03-02 11:59:00'), (2, '2026-03-02 11:59:51')", lag: 10, first: []string{"1"}, second: []string{"2"}, young: 1},
		"closed hour": {typ: "TIMESTAMP NULL", rows: "(1, '2026-03-02 11:59:59'), (2, '2026-03-02 12:00:00')", closed: "hour", first: []string{"1"}, second: nil, young: 1},
		"days":        {typ: "DATE", rows: "(1, '2026-02-28'), (2, '2026-03-01')", lag: 2, first: []string{"1"}, second: nil, young: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
				b.Do(t, "CREATE TABLE y (id INTEGER PRIMARY KEY, k "+tt.typ+")", "INSERT INTO y VALUES "+tt.rows)
				r := newReader(t, b, "y", "k")
				r.source.Options.Table.Lag, r.source.Options.Table.Closed = tt.lag, tt.closed
				same(t, "first run", r.run(), tt.first...)
				if r.found.Young != tt.young {
					t.Errorf("young: got %d, want %d", r.found.Young, tt.young)
				}
				r.now = noon.Add(time.Minute)
				same(t, "a minute later", r.run(), tt.second...)
			})
		})
	}
}

func TestAMarkOfTheLargestNumbersIsExact(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		// In floating point these three are one number.
		b.Do(t, "CREATE TABLE big (id INTEGER PRIMARY KEY, k BIGINT)", "INSERT INTO big VALUES (1, 9223372036854775805), (2, 9223372036854775806)")
		r := newReader(t, b, "big", "k")
		same(t, "first run", r.run(), "1", "2")
		b.Do(t, "INSERT INTO big VALUES (3, 9223372036854775807)")
		same(t, "second run", r.run(), "3")
		same(t, "third run", r.run())
	})
}

func TestTextThatIsNoUTF8IsRefusedNotLost(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		if b.Config.Kind != engine.ConnectionSQLite {
			t.Skip("the other databases check it themselves")
		}
		b.Do(t, "CREATE TABLE bad (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO bad VALUES (1, CAST(x'ff' AS TEXT))")
		r := newReader(t, b, "bad", "id")
		found, err := r.survey()
		tabletest.Must(t, err)
		snapshot, err := table.OpenSnapshot(t.Context(), b.Config)
		tabletest.Must(t, err)
		defer snapshot.Close()
		stream, err := snapshot.Read(t.Context(), table.Select{Config: b.Config, Table: "bad", Columns: found.Columns, Ranges: found.New})
		tabletest.Must(t, err)
		defer stream.Close()

		_, err = stream.Fill(&collector{}, 10)

		if err == nil || !strings.Contains(err.Error(), `The column v of bad holds text that is not UTF-8`) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAConnectionThatFailsTellsNoSecret(t *testing.T) {
	t.Parallel()
	for _, kind := range []engine.ConnectionType{engine.ConnectionPostgres, engine.ConnectionMySQL, engine.ConnectionSQLServer} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			c := table.Config{Kind: kind, Host: "127.0.0.1", Port: 1, Database: "shop", User: "reader", Password: "s3cret-word", TLS: engine.TLSOff}
			_, err := table.Open(t.Context(), c)
			if err == nil || !strings.Contains(err.Error(), "shop on 127.0.0.1:1 cannot be reached") || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v", err)
			}
		})
	}
}
