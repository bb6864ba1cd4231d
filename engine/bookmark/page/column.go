package page

import (
	"encoding/hex"

	"dogear/engine"
)

// text is one text of an entry.
type text = func(*engine.Entry) *string

// columns is how many texts an entry has.
const columns = 7

// texts are the columns of texts in stored order: the key, which stands before
// the numbers, and the others after them.
var texts = [columns]text{
	func(e *engine.Entry) *string { return &e.Key },
	func(e *engine.Entry) *string { return &e.ETag },
	func(e *engine.Entry) *string { return &e.VersionID },
	func(e *engine.Entry) *string { return (*string)(&e.Run) },
	func(e *engine.Entry) *string { return &e.Hash },
	func(e *engine.Entry) *string { return &e.Note },
	func(e *engine.Entry) *string { return &e.Range },
}

// The ways in which a column of texts is written.
const (
	one    = 0 // the same for all entries
	fronts = 1 // each as what it shares with the one before it, and the rest
	digits = 2 // hexadecimal digits of one length, as bytes
)

// column writes one text of all entries in the way that suits it.
func (w *writer) column(entries []engine.Entry, of text) {
	switch {
	case alike(entries, of):
		w.buf = append(w.buf, one)
		first := ""
		if len(entries) > 0 {
			first = *of(&entries[0])
		}
		w.shared("", first)
	case hexadecimal(entries, of):
		w.buf = append(w.buf, digits)
		w.uvarint(uint64(len(*of(&entries[0]))))
		for i := range entries {
			w.buf, _ = hex.AppendDecode(w.buf, []byte(*of(&entries[i]))) // looked at before
		}
	default:
		w.buf = append(w.buf, fronts)
		last := ""
		for i := range entries {
			w.shared(last, *of(&entries[i]))
			last = *of(&entries[i])
		}
	}
}

func alike(entries []engine.Entry, of text) bool {
	for i := 1; i < len(entries); i++ {
		if *of(&entries[i]) != *of(&entries[0]) {
			return false
		}
	}
	return true
}

// hexadecimal reports whether all texts are lower-case digits of one even
// length, as hashes are.
func hexadecimal(entries []engine.Entry, of text) bool {
	length := len(*of(&entries[0]))
	if length == 0 || length%2 != 0 {
		return false
	}
	for i := range entries {
		t := *of(&entries[i])
		if len(t) != length {
			return false
		}
		for _, c := range []byte(t) {
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}

// column reads what the writer's column wrote. The texts of a column lie in one
// piece of memory: a page then costs a few allocations instead of one for each
// text, and an entry that is kept for long clones its texts (Keep).
func (d *Decoder) column(r *reader, entries []engine.Entry, i int) {
	switch r.byte() {
	case one:
		_, rest := r.uvarint(), r.uvarint()
		d.fill(entries, i, string(r.take(rest)))
	case fronts:
		d.shared(r, entries, i)
	case digits:
		d.hexadecimal(r, entries, i)
	default:
		r.bad = true
	}
}

// fill makes a column hold one text in all entries.
func (d *Decoder) fill(entries []engine.Entry, i int, value string) {
	if was := &d.alike[i]; was.text != value || was.count < len(entries) {
		for k := range entries {
			*texts[i](&entries[k]) = value
		}
		*was = alikeText{value, len(entries)}
	}
}

func (d *Decoder) hexadecimal(r *reader, entries []engine.Entry, i int) {
	of := texts[i]
	d.alike[i] = alikeText{}
	length := int(r.uvarint())
	if length <= 0 || length%2 != 0 || length > 2*len(r.buf) {
		r.bad = true
		return
	}
	raw := r.take(uint64(len(entries)) * uint64(length/2))
	if r.bad {
		return
	}
	d.texts = hex.AppendEncode(d.texts[:0], raw)
	whole := string(d.texts)
	for k := range entries {
		*of(&entries[k]) = whole[k*length : (k+1)*length]
	}
}

// same marks a text that is that of the entry before it.
const same = -1

// shared reads front-coded texts.
func (d *Decoder) shared(r *reader, entries []engine.Entry, i int) {
	of := texts[i]
	d.alike[i] = alikeText{}
	ends, all := d.ends[:0], d.texts[:0]
	start := 0 // of the text before
	for range entries {
		n, rest := r.uvarint(), r.uvarint()
		if n > uint64(len(all)-start) {
			r.bad = true
			return
		}
		if rest == 0 && n == uint64(len(all)-start) {
			ends = append(ends, same)
			continue
		}
		from := len(all)
		all = append(all, all[start:start+int(n)]...)
		all = append(all, r.take(rest)...)
		start = from
		ends = append(ends, len(all))
	}
	d.ends, d.texts = ends, all
	whole, from, last := string(all), 0, ""
	for k, end := range ends {
		if end != same {
			last = whole[from:end]
			from = end
		}
		*of(&entries[k]) = last
	}
}
