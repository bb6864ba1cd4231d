package table

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"dogear/engine"
)

// Rows yields every row of a source that has a key, as a print, in the order of
// the bytes of its key. They come from one snapshot and are not held.
func (d *Databases) Rows(ctx context.Context, src engine.Source, columns []engine.Column, keys []string) iter.Seq2[engine.RowPrint, error] {
	return func(yield func(engine.RowPrint, error) bool) {
		config, err := d.Config(ctx, src.Connection)
		if err == nil {
			err = prints(ctx, Select{
				Config: config, Table: src.Table, Columns: columns, Picked: &Picked{Keys: keys, Instead: src.Options.Table.Instead},
			}, yield)
		}
		if err != nil {
			yield(engine.RowPrint{}, err)
		}
	}
}

// prints reads what Rows yields. It sends the very query that reads the rows
// later: the same value in another form would look changed.
func prints(ctx context.Context, sel Select, yield func(engine.RowPrint, error) bool) error {
	snapshot, err := OpenSnapshot(ctx, sel.Config)
	if err != nil {
		return err
	}
	defer func() { _ = snapshot.Close() }() // it has only read
	stream := &Stream{config: sel.Config, table: sel.Table}
	if err := snapshot.begin(ctx, snapshot.dialect(), sel, stream); err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	for {
		cells, err := stream.row()
		if err != nil || cells == nil {
			return sel.Config.explain(err, "broke off while "+sel.Table+" was compared")
		}
		print, err := stream.prints.print(cells)
		if err != nil {
			return err
		}
		if !yield(print, nil) {
			return nil
		}
	}
}

// query selects all rows that have a key, with the texts of the key behind the
// columns, in the order of its bytes. It has no parameters: with some, a
// database may send its values in another form.
func (p *Picked) query(d dialect, name Name, columns []Column, selected []string, stream *Stream) (string, []any, error) {
	keys, err := keyColumns(columns, p.Keys, p.Instead)
	if err != nil {
		return "", nil, err
	}
	stream.prints = newPrinter(stream.table, stream.Columns, keys)
	w := &conditions{d: d}
	var by []string
	for _, c := range keys {
		text := d.printed(c)
		selected = append(selected, text)
		by = append(by, d.bytewise(text))
		if c.Nullable {
			w.add(c.in(d) + " IS NOT NULL")
		}
	}
	return "SELECT " + strings.Join(selected, ", ") + " FROM " + name.in(d) + w.text() + " ORDER BY " + strings.Join(by, ", "), nil, nil
}

// printer makes the prints of rows. What it makes is kept in ledgers: another
// way of making it would make every row look changed.
type printer struct {
	table string
	heads [][]byte // the name of each column and a zero; nil for one of the key
	keys  int
	last  string // the key before
	begun bool
	key   []byte
	value []byte
}

func newPrinter(table string, columns []Landed, keys []Column) *printer {
	p := &printer{table: table, keys: len(keys), heads: make([][]byte, len(columns))}
	for i, c := range columns {
		if !slices.ContainsFunc(keys, func(k Column) bool { return strings.EqualFold(k.Name, c.Name) }) || keys[0].instead != "" {
			p.heads[i] = append([]byte(c.Name), 0)
		}
	}
	return p
}

// width is how many cells of a row belong to its key.
func (p *printer) width() int {
	if p == nil {
		return 0
	}
	return p.keys
}

// print makes the print of a row. The hashes of its values are summed, so that
// neither the order of the columns counts nor one that is new and empty.
func (p *printer) print(cells [][]byte) (engine.RowPrint, error) {
	var print engine.RowPrint
	p.key = p.key[:0]
	for i, part := range cells[len(p.heads):] {
		if i > 0 {
			p.key = append(p.key, engine.KeyMark...)
		}
		p.key = append(p.key, part...)
	}
	print.Key = string(p.key)
	if err := p.follows(print.Key); err != nil {
		return print, err
	}
	for i, head := range p.heads {
		if v := cells[i]; v != nil && head != nil {
			p.value = append(append(p.value[:0], head...), v...)
			print.Hash += xxhash.Sum64(p.value)
		}
	}
	return print, nil
}

// follows refuses a key that does not tell its row from the one before.
func (p *printer) follows(key string) error {
	last, first := p.last, !p.begun
	p.last, p.begun = key, true
	switch words := engine.RowKeyWords(key); {
	case !utf8.ValidString(key):
		return engine.Errorf(engine.Invalid, "%s has the key %q, which is not UTF-8. Correct it, or choose another key.", p.table, words)
	case first || last < key:
		return nil
	case last == key:
		return engine.Errorf(engine.Invalid, "Two rows of %s have the key %s. A full compare needs a key that tells every row from the others: add a column to the key.", p.table, words)
	default:
		return fmt.Errorf("the rows of %s do not come in the order of their keys: %q after %q", p.table, words, engine.RowKeyWords(last))
	}
}
