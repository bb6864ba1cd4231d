// Package page is the codec of the ledger: sorted entries, packed into pages
// of a few thousand, front-coded, column by column, compressed with zstd and
// named by the hash of their bytes, so that two versions of a ledger share
// every page that is the same.
package page

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/klauspost/compress/zstd"

	"dogear/engine"
)

// Size is how many entries a full page holds (measured: data-path.md 3.4).
const Size = 4096

// Ref points at a page from the root of a ledger.
type Ref struct {
	ID          string
	First, Last string // keys
	N           int64
	Bytes       int64 // summed sizes of the objects that count as read
	Read        int64 // how many of them count as read
}

// The first byte of a page says what it holds and in which layout.
const (
	entriesV1 = 1
	refsV1    = 2
	// entriesV2 is entriesV1 with one more text, the range of a table. Both are
	// only read any more.
	entriesV2 = 3
	// entriesV3 says of each column of texts how it is written.
	entriesV3 = 4
)

// Both are safe for use by many at once and cost much to make.
var (
	encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1))
	decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
)

// ID names a page by its bytes.
func ID(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:16])
}

// Encode packs entries, which are sorted by key and unique.
func Encode(entries []engine.Entry) []byte {
	w := &writer{buf: make([]byte, 0, 64*len(entries))}
	w.uvarint(uint64(len(entries)))
	w.column(entries, texts[0])
	var mod, inode int64
	for _, e := range entries {
		w.varint(e.ModNS - mod)
		mod = e.ModNS
	}
	for _, e := range entries {
		w.uvarint(uint64(e.Size))
	}
	for _, e := range entries {
		w.varint(int64(e.Inode) - inode)
		inode = int64(e.Inode)
	}
	for _, e := range entries {
		w.buf = append(w.buf, byte(e.State))
	}
	for _, column := range texts[1:] {
		w.column(entries, column)
	}
	return encoder.EncodeAll(w.buf, []byte{entriesV3})
}

// Decode unpacks what Encode packed.
func Decode(body []byte) ([]engine.Entry, error) { return new(Decoder).Decode(body) }

// Decoder unpacks one page after the other in the same memory.
type Decoder struct {
	entries []engine.Entry
	raw     []byte // the page, decompressed
	ends    []int  // where the texts of a column end
	texts   []byte // a column
	// alike says of each column what all entries before its count hold in it,
	// where that is one text: the next page mostly has the same, and then nothing
	// is written.
	alike [columns]alikeText
}

type alikeText struct {
	text  string
	count int
}

// Decode unpacks what Encode packed. The slice is good until the next call;
// its texts stay.
func (d *Decoder) Decode(body []byte) ([]engine.Entry, error) {
	column, kind := d.column, byte(entriesV3)
	if len(body) > 0 && (body[0] == entriesV1 || body[0] == entriesV2) {
		column, kind = d.shared, body[0]
	}
	r, err := open(body, kind, d.raw)
	if err != nil {
		return nil, err
	}
	d.raw = r.buf[:0]
	n := int(r.count())
	if cap(d.entries) < n {
		d.entries, d.alike = make([]engine.Entry, n), [columns]alikeText{}
	}
	entries := d.entries[:n]
	column(r, entries, 0)
	var mod, inode int64
	for i := range entries {
		mod += r.varint()
		entries[i].ModNS = mod
	}
	for i := range entries {
		entries[i].Size = int64(r.uvarint())
	}
	for i := range entries {
		inode += r.varint()
		entries[i].Inode = uint64(inode)
	}
	for i := range entries {
		entries[i].State = engine.EntryState(r.byte())
	}
	for i := 1; i < columns; i++ {
		if kind == entriesV1 && i == columns-1 { // it has no ranges
			d.fill(entries, i, "")
			continue
		}
		column(r, entries, i)
	}
	return entries, r.end()
}

// Keep returns e with texts of its own, so that keeping it does not keep the
// page that it was read from.
func Keep(e engine.Entry) engine.Entry {
	e.Key, e.ETag, e.VersionID, e.Range = strings.Clone(e.Key), strings.Clone(e.ETag), strings.Clone(e.VersionID), strings.Clone(e.Range)
	e.Run, e.Hash, e.Note = engine.ID(strings.Clone(string(e.Run))), strings.Clone(e.Hash), strings.Clone(e.Note)
	return e
}

// EncodeRefs packs the root of a ledger.
func EncodeRefs(refs []Ref) []byte {
	w := &writer{}
	w.uvarint(uint64(len(refs)))
	last := ""
	for _, ref := range refs {
		id, err := hex.DecodeString(ref.ID)
		if err != nil || len(id) != 16 {
			panic(fmt.Sprintf("page: %q is not the id of a page", ref.ID))
		}
		w.buf = append(w.buf, id...)
		w.shared(last, ref.First)
		w.shared(ref.First, ref.Last)
		last = ref.Last
		w.uvarint(uint64(ref.N))
		w.uvarint(uint64(ref.Bytes))
		w.uvarint(uint64(ref.Read))
	}
	return encoder.EncodeAll(w.buf, []byte{refsV1})
}

// DecodeRefs unpacks what EncodeRefs packed.
func DecodeRefs(body []byte) ([]Ref, error) {
	r, err := open(body, refsV1, nil)
	if err != nil {
		return nil, err
	}
	refs := make([]Ref, r.count())
	last := ""
	for i := range refs {
		refs[i].ID = hex.EncodeToString(r.take(16))
		refs[i].First = r.shared(last)
		refs[i].Last = r.shared(refs[i].First)
		last = refs[i].Last
		refs[i].N = int64(r.uvarint())
		refs[i].Bytes = int64(r.uvarint())
		refs[i].Read = int64(r.uvarint())
	}
	return refs, r.end()
}

type writer struct{ buf []byte }

func (w *writer) uvarint(v uint64) { w.buf = binary.AppendUvarint(w.buf, v) }
func (w *writer) varint(v int64)   { w.buf = binary.AppendVarint(w.buf, v) }

// shared writes text as the length it has in common with last, and the rest.
func (w *writer) shared(last, text string) {
	n := 0
	for n < len(last) && n < len(text) && last[n] == text[n] {
		n++
	}
	w.uvarint(uint64(n))
	w.uvarint(uint64(len(text) - n))
	w.buf = append(w.buf, text[n:]...)
}

// errBroken is what every unreadable page gives: its bytes are not what was
// written, for the hash of a page is its name.
var errBroken = errors.New("a page of the ledger is broken")

// reader keeps the first failure and gives zeros after it.
type reader struct {
	buf []byte
	bad bool
}

// open decompresses a page of that layout into the memory of into.
func open(body []byte, kind byte, into []byte) (*reader, error) {
	if len(body) == 0 || body[0] != kind {
		return nil, errBroken
	}
	raw, err := decoder.DecodeAll(body[1:], into)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	return &reader{buf: raw}, nil
}

// count reads a number of items, each of which takes at least one byte.
func (r *reader) count() uint64 {
	n := r.uvarint()
	if n > uint64(len(r.buf)) {
		r.bad = true
		return 0
	}
	return n
}

func (r *reader) uvarint() uint64 {
	if len(r.buf) > 0 && r.buf[0] < 0x80 { // nearly all of them
		v := r.buf[0]
		r.buf = r.buf[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.buf)
	return advance(r, v, n)
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.buf)
	return advance(r, v, n)
}

func advance[T any](r *reader, v T, n int) T {
	if n <= 0 {
		r.bad = true
		r.buf = nil
		var zero T
		return zero
	}
	r.buf = r.buf[n:]
	return v
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.buf)) {
		r.bad = true
		r.buf = nil
		return make([]byte, n&0xff)
	}
	taken := r.buf[:n]
	r.buf = r.buf[n:]
	return taken
}

func (r *reader) byte() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) shared(last string) string {
	n, rest := r.uvarint(), r.uvarint()
	if n > uint64(len(last)) {
		r.bad = true
		return ""
	}
	if rest == 0 && n == uint64(len(last)) {
		return last
	}
	return last[:n] + string(r.take(rest))
}

func (r *reader) end() error {
	if r.bad || len(r.buf) != 0 {
		return errBroken
	}
	return nil
}
