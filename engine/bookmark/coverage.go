package bookmark

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
)

// Unit is how long the periods of a coverage are.
type Unit string

// The units.
const (
	ByDay   Unit = "day"
	ByMonth Unit = "month"
	ByYear  Unit = "year"
)

// Coverage compares, period by period, what a source has with what a target
// got of it.
type Coverage struct {
	Unit  Unit
	Table string // of the catalog
	Cells []Cell // without a break, the oldest first
}

// Cell is one period. A file belongs to the one that its key names, else to the
// one in which it was last written.
type Cell struct {
	At        time.Time // its beginning, in UTC
	Read      engine.Tally
	Waiting   engine.Tally // new, changed or to be read again
	Held      engine.Tally
	Partition bool  // the target has one
	Rows      int64 // in it, where somebody counted
	// Keys are those of the files that were read, cellKeys at most; Cut says
	// that there are more.
	Keys []string
	Cut  bool
}

// Gap reports files that were read and of which the target has nothing.
func (c *Cell) Gap() bool { return c.Read.Files > 0 && !c.Partition }

const (
	maxCells = 120 // the newest are kept
	cellKeys = 200
)

// Coverage lays what the ledger of a bookmark and its source say beside the
// partitions of a table. ok is false where the partitions name no date.
func (s *Service) Coverage(ctx context.Context, id engine.ID, table engine.Table, partitions []engine.Partition) (c Coverage, ok bool, err error) {
	unit, ok := unitOf(table.Keys, partitions)
	if !ok {
		return c, false, nil
	}
	mark, err := s.Store.Bookmark(ctx, id)
	if err != nil {
		return c, true, err
	}
	part, err := s.Waiting(ctx, id)
	if err != nil {
		return c, true, err
	}
	m := coverage{unit: unit, cells: map[time.Time]*Cell{}}
	for _, p := range partitions {
		if at, ok := partitionDate(table.Keys, p.Values); ok {
			cell := m.at(at)
			cell.Partition, cell.Rows = true, cell.Rows+p.Rows
		}
	}
	for e, err := range Entries(ctx, s.Store, mark.Root) {
		if err != nil {
			return c, true, err
		}
		if e.State == engine.EntryRead {
			m.read(e.Object)
		}
	}
	for _, o := range slices.Concat(part.Taken, part.Exceptions) {
		switch o.Reason {
		case engine.ReasonNew, engine.ReasonChanged, engine.ReasonReopened, engine.ReasonTooYoung, engine.ReasonOverBound:
			add(&m.at(objectDate(o.Object)).Waiting, o.Object)
		case engine.ReasonHeld, engine.ReasonUnreadable:
			add(&m.at(objectDate(o.Object)).Held, o.Object)
		case engine.ReasonTouched, engine.ReasonAlreadyRead, engine.ReasonOutside, engine.ReasonFiltered, engine.ReasonGone:
		}
	}
	return Coverage{Unit: unit, Table: table.FullName(), Cells: m.row()}, true, nil
}

func add(t *engine.Tally, o engine.Object) { t.Files, t.Bytes = t.Files+1, t.Bytes+o.Size }

// coverage gathers cells by the beginning of their period.
type coverage struct {
	unit  Unit
	cells map[time.Time]*Cell
}

func (m *coverage) at(date time.Time) *Cell {
	at := m.unit.begin(date)
	if m.cells[at] == nil {
		m.cells[at] = &Cell{At: at}
	}
	return m.cells[at]
}

func (m *coverage) read(o engine.Object) {
	cell := m.at(objectDate(o))
	add(&cell.Read, o)
	if len(cell.Keys) < cellKeys {
		cell.Keys = append(cell.Keys, o.Key)
	} else {
		cell.Cut = true
	}
}

// row is the newest cells in order, with those between them of which nothing is
// known.
func (m *coverage) row() []Cell {
	if len(m.cells) == 0 {
		return nil
	}
	var last time.Time
	first := time.Unix(1<<40, 0)
	for at := range m.cells {
		if at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	if oldest := m.unit.next(last, 1-maxCells); first.Before(oldest) {
		first = oldest
	}
	var row []Cell
	for at := first; !at.After(last); at = m.unit.next(at, 1) {
		if cell := m.cells[at]; cell != nil {
			row = append(row, *cell)
		} else {
			row = append(row, Cell{At: at})
		}
	}
	return row
}

// begin is the beginning of the period that holds at.
func (u Unit) begin(at time.Time) time.Time {
	y, mon, d := at.UTC().Date()
	switch u {
	case ByYear:
		mon, d = 1, 1
	case ByMonth:
		d = 1
	case ByDay:
	}
	return time.Date(y, mon, d, 0, 0, 0, 0, time.UTC)
}

// next is the beginning of the nth period after the one that begins at.
func (u Unit) next(at time.Time, n int) time.Time {
	switch u {
	case ByYear:
		return at.AddDate(n, 0, 0)
	case ByMonth:
		return at.AddDate(0, n, 0)
	default:
		return at.AddDate(0, 0, n)
	}
}

// unitOf is how long the periods are that partitions stand for.
func unitOf(keys []engine.Column, partitions []engine.Partition) (Unit, bool) {
	named := map[string]bool{}
	for _, k := range keys {
		named[strings.ToLower(k.Name)] = true
	}
	switch {
	case named["year"] && named["month"] && named["day"]:
		return ByDay, true
	case named["year"] && named["month"]:
		return ByMonth, true
	case named["year"]:
		return ByYear, true
	}
	for _, p := range partitions {
		if _, ok := partitionDate(keys, p.Values); ok {
			return ByDay, true
		}
	}
	return "", false
}

// partitionDate is the day that the values of a partition name: by columns
// year, month and day, or by one that holds a date.
func partitionDate(keys []engine.Column, values []string) (time.Time, bool) {
	parts := map[string]int{"month": 1, "day": 1}
	for i, k := range keys {
		if i >= len(values) {
			break
		}
		if n, err := strconv.Atoi(values[i]); err == nil {
			parts[strings.ToLower(k.Name)] = n
		}
		if at, err := time.Parse(time.DateOnly, values[i]); err == nil {
			return at, true
		}
	}
	if parts["year"] == 0 {
		return time.Time{}, false
	}
	return date(parts["year"], parts["month"], parts["day"])
}

// dated finds a date in a key: 2026-11-28, 20261128, 2026/11/28 or
// year=2026/month=11/day=28.
var dated = regexp.MustCompile(`(?:^|[^0-9])(?:year=)?((?:19|20)[0-9]{2})(?:[-_/.]|/?)(?:month=)?(0[1-9]|1[0-2])(?:[-_/.]|/?)(?:day=)?(0[1-9]|[12][0-9]|3[01])(?:[^0-9]|$)`)

// objectDate is the day that the key of an object names last, else the one on
// which it was last written.
func objectDate(o engine.Object) time.Time {
	all := dated.FindAllStringSubmatch(o.Key, -1)
	if len(all) == 0 {
		return o.Mod()
	}
	found := all[len(all)-1]
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(found[i+1]) // the pattern takes digits alone
	}
	if at, ok := date(n[0], n[1], n[2]); ok {
		return at
	}
	return o.Mod()
}

// date refuses days that no month has.
func date(y, m, d int) (time.Time, bool) {
	at, err := time.Parse(time.DateOnly, fmt.Sprintf("%04d-%02d-%02d", y, m, d))
	return at, err == nil
}
