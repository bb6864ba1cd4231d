package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// TableOptions are the options of a table source. Amounts are in the unit of
// the first key column: seconds for a time, days for a date, and plain numbers.
type TableOptions struct {
	// Descending says that new rows have smaller keys (Glue's
	// jobBookmarkKeysSortOrder "desc").
	Descending bool `json:"descending,omitempty"`
	// Lag is how far behind the newest key a run stays, so that rows which are
	// committed late are still above the mark. For a time it is measured from
	// the database's clock.
	Lag int64 `json:"lag,omitempty"`
	// Overlap is how far before the mark a run begins to read again. Its target
	// must merge by key, or rows stand twice.
	Overlap int64 `json:"overlap,omitempty"`
	// Closed reads only what lies before the hour or day that is still open by
	// the database's clock, in UTC: "hour", "day", or "".
	Closed string `json:"closed,omitempty"`
	// MaxRows is about how many rows a run reads at most; rows with the key of
	// the last one are read with it. 0 is no limit.
	MaxRows int64 `json:"max_rows,omitempty"`
	// NullKeys says what happens to rows without a key: "" counts and reports
	// them, "read" reads them each time, "fail" fails the run, "coalesce" takes
	// the value of another column, Instead, for the key (B16).
	NullKeys string `json:"null_keys,omitempty"`
	// Instead is that column, of the same type as the key, which then has one
	// column. A row without a value in both has no key.
	Instead string `json:"instead,omitempty"`
	// Compare counts the rows up to the mark at each plan and reports how many
	// are missing or more than were read.
	Compare bool `json:"compare,omitempty"`
}

// KeyValue is one part of a key: exactly the text that the database printed,
// and the database's name of its type, by which it is compared.
type KeyValue struct {
	Text string `json:"text"`
	Type string `json:"type"`
}

// KeyRange is a stretch of a table by its key: the rows after Low, up to and
// with High. A range without Keys is the whole table.
type KeyRange struct {
	Keys []string   `json:"keys,omitempty"`
	Desc bool       `json:"desc,omitempty"`
	Low  []KeyValue `json:"low,omitempty"` // nil: from the first row
	High []KeyValue `json:"high,omitempty"`
	// From, where an overlap is read again, is where reading begins: at this
	// key and with it, before Low.
	From []KeyValue `json:"from,omitempty"`
	// Nulls are the rows that have no key, instead of a stretch.
	Nulls bool `json:"nulls,omitempty"`
	// Instead is the column whose value stands in for a key that has none.
	Instead string `json:"instead,omitempty"`
	Rows    int64  `json:"rows"` // after Low
	// AtHigh is how many rows had the key High: more of them later came late.
	AtHigh int64 `json:"at_high,omitempty"`
	// Compared is set where rows were found by comparing all of them: they lie
	// anywhere in the table, and there is no stretch.
	Compared *Compared `json:"compared,omitempty"`
}

// Text packs r for an Object.
func (r KeyRange) Text() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // it holds only texts and numbers
	}
	return string(text)
}

// KeyRange unpacks the range of a table that o stands for; ok is false for a
// file.
func (o Object) KeyRange() (r KeyRange, ok bool) {
	if o.Range == "" {
		return r, false
	}
	return r, json.Unmarshal([]byte(o.Range), &r) == nil
}

// Words writes r for people: "id: 3 … 7".
func (r KeyRange) Words() string {
	names := strings.Join(r.Keys, ", ")
	switch {
	case r.Compared != nil:
		return names + ": " + r.Compared.Words()
	case len(r.Keys) == 0:
		return "the whole table"
	case r.Nulls:
		return names + ": no value"
	case r.Low == nil:
		return fmt.Sprintf("%s: up to %s", names, KeyWords(r.High))
	}
	return fmt.Sprintf("%s: %s … %s", names, KeyWords(r.Low), KeyWords(r.High))
}

// KeyWords writes a key for people.
func KeyWords(key []KeyValue) string {
	texts := make([]string, len(key))
	for i, v := range key {
		texts[i] = v.Text
	}
	return strings.Join(texts, ", ")
}

// TableSurvey is what a look at a table by its bookmark found.
type TableSurvey struct {
	Columns []Column // in DuckDB's words
	// New are the ranges that the next run reads: one by key, and another of
	// rows without a key where they are read each time.
	New []KeyRange
	// Over and Young count rows beyond the mark that the run leaves: above its
	// limit, and not settled yet.
	Over, Young int64
	Nulls       int64    // rows without a key
	Endless     int64    // those of them whose key is infinity or NaN
	Keys        []string // the columns of the key
	Notices     []string // what a person should know, in sentences
}

// TableQuestion is what a survey is asked.
type TableQuestion struct {
	Source Source
	Mark   *KeyRange // the newest range of the ledger; nil where none is
	Seen   int64     // rows that the ledger counts as read, by key
	Now    time.Time
	Whole  bool // the whole table, whatever the ledger says
	// Uncounted leaves its rows uncounted, for a sample.
	Uncounted bool
	// UpTo, where it is set, asks for the range from the first row to this key
	// and with it, whatever the ledger says: the texts of its columns.
	UpTo []string
	// Compare asks for nothing but the columns and the key: what is new is
	// found by comparing every row.
	Compare bool
}

// TableColumn is a column of a table as its database declares it.
type TableColumn struct {
	Name     string
	Type     string
	Nullable bool
	Key      int // place in the primary key, from 1; 0 is none
}
