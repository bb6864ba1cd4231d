package table_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"dogear/engine"
	"dogear/engine/table/tabletest"
)

// row is a row of the oracle: a key of two numbers, either of which may be
// missing, and an id.
type row struct {
	a, b *int
	id   int
}

func (r row) keyed() bool { return r.a != nil && r.b != nil }

// oracle knows what a source should read, by sorting in Go what the database
// compares in SQL.
type oracle struct {
	rows []row
	desc bool
	max  int
}

func (o *oracle) compare(x, y [2]int) int {
	c := cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
	if o.desc {
		return -c
	}
	return c
}

// next is what the next run reads beyond mark, and the mark after it.
func (o *oracle) next(mark *[2]int) (ids []int, after *[2]int) {
	var beyond []row
	for _, r := range o.rows {
		if r.keyed() && (mark == nil || o.compare([2]int{*r.a, *r.b}, *mark) > 0) {
			beyond = append(beyond, r)
		}
	}
	slices.SortFunc(beyond, func(x, y row) int { return o.compare([2]int{*x.a, *x.b}, [2]int{*y.a, *y.b}) })
	if len(beyond) == 0 {
		return nil, mark
	}
	last := beyond[len(beyond)-1]
	if o.max > 0 && len(beyond) > o.max {
		last = beyond[o.max-1]
	}
	after = &[2]int{*last.a, *last.b}
	for _, r := range beyond {
		if o.compare([2]int{*r.a, *r.b}, *after) <= 0 {
			ids = append(ids, r.id)
		}
	}
	return ids, after
}

func TestWhatIsReadIsWhatAnOracleSays(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		histories := map[engine.ConnectionType]int{engine.ConnectionSQLite: 150}[b.Config.Kind] + 40
		if testing.Short() {
			histories = 10
		}
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		for n := range histories {
			history(t, b, random, fmt.Sprintf("h%d", n))
			if t.Failed() {
				t.Fatalf("history %d of seed %d", n, seed)
			}
		}
	})
}

// history is one life of a table: rows come, go and change, runs read, and
// somebody rewinds.
func history(t *testing.T, b tabletest.Base, random *rand.Rand, name string) {
	t.Helper()
	b.Do(t, "CREATE TABLE "+name+" (id INTEGER PRIMARY KEY, a BIGINT NULL, b DECIMAL(12,3) NULL)")
	defer b.Do(t, "DROP TABLE "+name)
	r := newReader(t, b, name, "a", "b")
	o := &oracle{desc: random.IntN(3) == 0, max: random.IntN(3) * 2}
	r.source.Options.Table.Descending, r.source.Options.Table.MaxRows = o.desc, int64(o.max)
	marks := []*[2]int{nil} // after each run; the ledger has as many ranges less one
	text := func(n *int) string {
		if n == nil {
			return "NULL"
		}
		return strconv.Itoa(*n)
	}
	value := func() *int {
		// Numbers whose order as text is another, and some that come twice.
		n := []int{-1, 0, 9, 10, 99, 100, 9999, 10000}[random.IntN(8)]
		if random.IntN(12) == 0 {
			return nil
		}
		return &n
	}
	var told []string // for the report of a failure
	for id := range 4 + random.IntN(12) {
		switch what := random.IntN(10); {
		case what < 5:
			for more := range 1 + random.IntN(3) {
				fresh := row{value(), value(), id*10 + more}
				o.rows = append(o.rows, fresh)
				b.Do(t, fmt.Sprintf("INSERT INTO %s VALUES (%d, %s, %s)", name, fresh.id, text(fresh.a), text(fresh.b)))
				told = append(told, fmt.Sprintf("insert %d (%s, %s)", fresh.id, text(fresh.a), text(fresh.b)))
			}
		case what < 6 && len(o.rows) > 0:
			at := random.IntN(len(o.rows))
			b.Do(t, fmt.Sprintf("DELETE FROM %s WHERE id = %d", name, o.rows[at].id))
			told = append(told, fmt.Sprintf("delete %d", o.rows[at].id))
			o.rows = slices.Delete(o.rows, at, at+1)
		case what < 7:
			keep := random.IntN(len(marks))
			marks, r.ledger = marks[:keep+1], r.ledger[:keep]
			told = append(told, fmt.Sprintf("rewind to %d", keep))
		default:
			want, mark := o.next(marks[len(marks)-1])
			before := len(r.ledger)
			got := r.run()
			told = append(told, fmt.Sprintf("run reads %v", got))
			slices.Sort(want)
			texts := make([]string, len(want))
			for i, n := range want {
				texts[i] = strconv.Itoa(n)
			}
			same(t, fmt.Sprintf("%v", told), got, texts...)
			if len(r.ledger) > before {
				marks = append(marks, mark)
				if planned := r.ledger[before].Rows; planned != int64(len(got)) {
					t.Errorf("%v: the plan said %d rows and %d were read", told, planned, len(got))
				}
			}
			nulls := 0
			for _, kept := range o.rows {
				if !kept.keyed() {
					nulls++
				}
			}
			if r.found.Nulls != int64(nulls) {
				t.Errorf("%v: got %d rows without a key, want %d", told, r.found.Nulls, nulls)
			}
		}
	}
}
