// Package sample makes the pipeline that `dogear serve --sample` begins with:
// two months of shop orders as CSV files, with the flaws that real files have,
// and the workflow that works on them.
package sample

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dogear/engine"
)

// Days is how many days of orders there are before the first run, and
// RowsPerDay about how many orders a day has: a million in all.
const (
	Days       = 60
	RowsPerDay = 16_700
)

// Files writes the files of the sample into a folder.
type Files struct {
	Dir string // raw/sales below the folder of the server's files
}

const header = "order_id,ordered_at,customer_id,country,product,quantity,unit_price,note,updated_at\n"

var (
	countries = []string{"DE", "FR", "ES", "IT", "NL", "PL", "SE", "AT"}
	products  = []string{"espresso machine", "grinder", "kettle", "scale", "filter papers, 100", `"barista" apron`, "beans 1 kg", "cup"}
	prices    = []int{34900, 12950, 5490, 3995, 499, 2450, 1890, 790} // cents
	// notes hold what breaks careless readers: a comma, quotes, a line break.
	notes = []string{"", "", "", "", "", "gift", "leave with neighbour, 2nd floor", `said "ring twice"`, "fragile\nplease call first"}
)

// Fill writes the files of the days before today that are not there yet, each
// with the time at which it would have arrived.
func (f Files) Fill(today time.Time) error {
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return fmt.Errorf("make the sample's folder: %w", err)
	}
	for i := Days; i >= 1; i-- {
		day := today.AddDate(0, 0, -i)
		if err := f.write(name(day), day, whole, arrival(day, today)); err != nil {
			return err
		}
	}
	return nil
}

func name(day time.Time) string { return day.Format(time.DateOnly) + ".csv" }

// arrival is two in the morning after a day, or a while ago where that is still
// to come.
func arrival(day, now time.Time) time.Time {
	at := day.Truncate(24 * time.Hour).Add(26 * time.Hour)
	if soon := now.Add(-10 * time.Minute); at.After(soon) {
		return soon
	}
	return at
}

// Added is what AddNextDay did, in the words of a page.
type Added struct {
	New     string // the file of the next day
	Late    string // a file that belongs to an earlier day
	Changed string // a file that was rewritten in place
}

// AddNextDay adds the files of the day after the newest one, as a shop would
// send them: the day itself, the late orders of a branch that was offline four
// days before, and a corrected file of the week before, in place.
func (f Files) AddNextDay(now time.Time) (Added, error) {
	newest, err := f.newest()
	if err != nil {
		return Added{}, err
	}
	day := newest.AddDate(0, 0, 1)
	late, old := day.AddDate(0, 0, -4), day.AddDate(0, 0, -7)
	added := Added{New: name(day), Late: strings.TrimSuffix(name(late), ".csv") + "_late.csv"}
	if err := f.write(added.New, day, whole, now); err != nil {
		return added, err
	}
	if err := f.write(added.Late, late, lateOnes, now); err != nil {
		return added, err
	}
	if _, err := os.Stat(filepath.Join(f.Dir, name(old))); err == nil {
		added.Changed = name(old)
		err := os.Remove(filepath.Join(f.Dir, added.Changed))
		return added, errors.Join(err, f.write(added.Changed, old, corrected, now))
	}
	return added, nil
}

// newest is the newest day that has a file.
func (f Files) newest() (time.Time, error) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return time.Time{}, engine.Errorf(engine.NotFound, "The sample's folder %s is gone: %w", f.Dir, err)
	}
	for _, entrie := range slices.Backward(entries) {
		if day, err := time.Parse(time.DateOnly+".csv", entrie.Name()); err == nil {
			return day, nil
		}
	}
	return time.Time{}, engine.Errorf(engine.NotFound, "There is no file of the sample left in %s.", f.Dir)
}

// The kinds of files of one day: all its orders, a few late ones, or all of
// them with quantities corrected.
const (
	whole     = 0
	lateOnes  = 1
	corrected = 2
)

// write makes one file, complete or not at all. One that is there is left.
func (f Files) write(name string, day time.Time, kind int, arrived time.Time) error {
	path := filepath.Join(f.Dir, name)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.CreateTemp(f.Dir, ".sample-*")
	if err != nil {
		return fmt.Errorf("write the sample: %w", err)
	}
	defer os.Remove(file.Name())
	w := bufio.NewWriterSize(file, 1<<20)
	rows(w, day, kind)
	err = errors.Join(w.Flush(), file.Chmod(0o644), file.Close(), os.Chtimes(file.Name(), arrived, arrived))
	if err != nil {
		return fmt.Errorf("write the sample: %w", err)
	}
	return os.Rename(file.Name(), path)
}

// rows writes the orders of a day. The same day and kind gives the same rows.
func rows(w *bufio.Writer, day time.Time, kind int) {
	days := day.Unix() / 86400
	r := rand.New(rand.NewPCG(uint64(days), 7))
	n := RowsPerDay + r.IntN(2000) - 1000
	first := days * 100_000
	if kind == lateOnes {
		n, first = 300, first+90_000
	}
	fmt.Fprint(w, header) // Flush reports what went wrong
	for i := range int64(n) {
		p := r.IntN(len(products))
		quantity := 1 + r.IntN(4)
		at := day.Truncate(24 * time.Hour).Add(time.Duration(r.IntN(86400)) * time.Second)
		updated := at.Add(time.Hour)
		if kind == corrected && i%50 == 0 {
			quantity, updated = quantity+1, updated.Add(7*24*time.Hour)
		}
		fmt.Fprintf(w, "%d,%s,C%05d,%s,%s,%d,%d.%02d,%s,%s\n", first+i, at.Format("2006-01-02 15:04:05"), r.IntN(40_000),
			countries[r.IntN(len(countries))], quoted(products[p]), quantity, prices[p]/100, prices[p]%100,
			quoted(notes[r.IntN(len(notes))]), updated.Format("2006-01-02 15:04:05"))
	}
}

func quoted(text string) string {
	if !strings.ContainsAny(text, ",\"\n") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}
