package bookmark_test

import (
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
)

// covered lays the ledger of w beside partitions with the given values.
func covered(t *testing.T, w *world, keys []string, values ...[]string) (bookmark.Coverage, bool) {
	t.Helper()
	table := engine.Table{Database: "lake", Name: "orders"}
	for _, name := range keys {
		table.Keys = append(table.Keys, engine.Column{Name: name, Type: "VARCHAR"})
	}
	var partitions []engine.Partition
	for _, v := range values {
		partitions = append(partitions, engine.Partition{Values: v, Rows: 10})
	}
	c, ok, err := w.service(noon.AddDate(0, 0, 9)).Coverage(t.Context(), w.mark.ID, table, partitions)
	must(t, err)
	return c, ok
}

// TestWhatTheTargetLacksIsAGap: files of 1, 2 and 3 November were read; the
// target has nothing of the second, and a file of the fifth waits.
func TestWhatTheTargetLacksIsAGap(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Merge)
	w.put("in/2026-11-05_late.csv", 5, "late", noon.AddDate(0, 0, 8))

	c, ok := covered(t, w, []string{"year", "month", "day"}, []string{"2026", "11", "01"}, []string{"2026", "11", "3"}, []string{"2026", "10", "31"})

	if !ok || c.Unit != bookmark.ByDay || c.Table != "lake.orders" || len(c.Cells) != 6 {
		t.Fatalf("got %v %+v, want the six days from 31 October", ok, c)
	}
	type look struct {
		read, waiting int64
		target, gap   bool
	}
	want := []look{{0, 0, true, false}, {1, 0, true, false}, {1, 0, false, true}, {1, 0, true, false}, {0, 0, false, false}, {0, 1, false, false}}
	for i, cell := range c.Cells {
		got := look{cell.Read.Files, cell.Waiting.Files, cell.Partition, cell.Gap()}
		if got != want[i] {
			t.Errorf("%s: %+v, want %+v", cell.At.Format(time.DateOnly), got, want[i])
		}
	}
	if keys := c.Cells[2].Keys; len(keys) != 1 || keys[0] != "in/2026/11/02/b.csv" {
		t.Errorf("the gap would be filled by %v, want b.csv", keys)
	}
}

func TestCoverageGoesByThePartitionsOfTheTarget(t *testing.T) {
	t.Parallel()
	w := readWorld(t, engine.Merge)
	for name, tt := range map[string]struct {
		keys  []string
		value []string
		unit  bookmark.Unit
		ok    bool
	}{
		"months":        {[]string{"year", "month"}, []string{"2026", "11"}, bookmark.ByMonth, true},
		"years":         {[]string{"Year"}, []string{"2026"}, bookmark.ByYear, true},
		"a date":        {[]string{"region", "dt"}, []string{"eu", "2026-11-01"}, bookmark.ByDay, true},
		"no date":       {[]string{"region"}, []string{"eu"}, "", false},
		"no partitions": {nil, nil, "", false},
	} {
		c, ok := covered(t, w, tt.keys, tt.value)
		if ok != tt.ok || c.Unit != tt.unit {
			t.Errorf("%s: %v by %q, want %v by %q", name, ok, c.Unit, tt.ok, tt.unit)
		}
	}
	if c, _ := covered(t, w, []string{"year", "month"}, []string{"2026", "11"}); len(c.Cells) != 1 || c.Cells[0].Read.Files != 3 || c.Cells[0].Rows != 10 {
		t.Errorf("by month: %+v, want one cell of three files", c.Cells)
	}
}

// TestAFileBelongsToTheDayThatItsKeyNames and not to the one on which it came.
func TestAFileBelongsToTheDayThatItsKeyNames(t *testing.T) {
	t.Parallel()
	came := time.Date(2026, 12, 24, 1, 0, 0, 0, time.UTC)
	for key, want := range map[string]string{
		"raw/2026-11-28.csv": "2026-11-28", "raw/20261128.csv": "2026-11-28", "2026/11/28/part-0.csv": "2026-11-28",
		"year=2026/month=11/day=28/a.parquet": "2026-11-28", "2025-01-01/export_2026-11-28.csv": "2026-11-28",
		"orders.csv": "2026-12-24", "2026-02-31.csv": "2026-12-24", "id_120261128999.csv": "2026-12-24",
	} {
		w := newWorld(engine.Source{Name: "src", Path: "s3://lake/", Format: engine.CSV, Ctx: "src"}, engine.Merge)
		w.put(key, 1, "e", came)
		_, _, err := w.run(t, came.AddDate(0, 0, 1), true)
		must(t, err)
		c, _ := covered(t, w, []string{"dt"}, []string{want})
		if len(c.Cells) != 1 || c.Cells[0].Read.Files != 1 {
			t.Errorf("%s is not counted for %s: %+v", key, want, c.Cells)
		}
	}
}
