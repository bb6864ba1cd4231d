package engine

import (
	"fmt"
	"strings"
)

// Compared is what a full compare of a table found. Its lists of rows lie in
// pages, as ledgers do: an entry has the text of a row's key, and in Hash the
// hash of its other columns.
type Compared struct {
	Keys []string `json:"keys,omitempty"` // of a plan: the columns of the key
	// Base is the root of the rows that counted as read before; "" is none.
	Base string `json:"base,omitempty"`
	// Took is the root of the rows that are read, each with its reason as note,
	// and of those that are gone.
	Took string `json:"took,omitempty"`
	// Rows is the root of the rows that count as read afterwards. It is known
	// only once they were read: one that changes meanwhile waits.
	Rows    string `json:"rows,omitempty"`
	New     int64  `json:"new,omitempty"`
	Changed int64  `json:"changed,omitempty"`
	// Again are rows that a person wants read once more.
	Again int64 `json:"again,omitempty"`
	Gone  int64 `json:"gone,omitempty"`
}

// Taken is how many rows are read.
func (c *Compared) Taken() int64 { return c.New + c.Changed + c.Again }

// Words writes c for people: "12 new, 3 changed, 1 gone".
func (c *Compared) Words() string {
	var parts []string
	for _, part := range []struct {
		n    int64
		word string
	}{{c.New, "new"}, {c.Changed, "changed"}, {c.Again, "to be read again"}, {c.Gone, "gone"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	if len(parts) == 0 {
		return "nothing changed"
	}
	return strings.Join(parts, ", ")
}

// RowPrint stands for a row of a table that is compared.
type RowPrint struct {
	// Key is the text of the row's key, the parts of a compound one with
	// KeyMark between them. Rows come in the order of its bytes.
	Key string
	// Hash is that of the columns beside the key which have a value.
	Hash uint64
}

// KeyMark stands between the parts of a compound key in a RowPrint. It sorts
// before every other character, as a shorter part does.
const KeyMark = "\x00"

// RowKeyWords writes the key of a RowPrint for people.
func RowKeyWords(key string) string { return strings.ReplaceAll(key, KeyMark, ", ") }
