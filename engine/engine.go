// Package engine holds the words of Dogear and the rules that belong to no
// room of their own: workflows, triggers, jobs, crawlers, runs, bookmarks,
// plans, the states a node may be in, and the one kind of error.
//
// It is pure: it opens no file, no socket and no database, and it never asks
// for the time. Whoever calls it passes the time in.
package engine

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

// ID names an object, a run or a batch for ever. It is a ULID, so that ids
// sort by the time they were made.
type ID string

// NewID makes an id whose leading part is now.
func NewID(now time.Time) ID {
	return ID(ulid.MustNew(ulid.Timestamp(now), rand.Reader).String())
}

// Made is when an id was made, to the millisecond; zero for what is no id.
func (id ID) Made() time.Time {
	u, err := ulid.ParseStrict(string(id))
	if err != nil {
		return time.Time{}
	}
	return u.Timestamp().UTC()
}

// ageLen is how much of an id says when it was made.
const ageLen = 10

// ByAge orders ids by when they were made, to the millisecond.
func ByAge(a, b ID) int {
	return strings.Compare(string(a[:min(len(a), ageLen)]), string(b[:min(len(b), ageLen)]))
}

// ParseID returns text as an ID, or Invalid where it is not one. Every id that
// comes from outside passes here, so that no id can be a path.
func ParseID(text string) (ID, error) {
	if _, err := ulid.ParseStrict(text); err != nil {
		return "", Errorf(Invalid, "%q is not an id. One has 26 letters and digits, such as 01KBAT7W7Z8Q3M5R9V2XH4N6PC.", text)
	}
	return ID(text), nil
}

// leastPartOfID is how many letters of an id people are shown: fewer of them are
// in too many ids.
const leastPartOfID = 6

// PartOfID reports whether text, in any case, may be a part of an id.
func PartOfID(text string) bool {
	if len(text) < leastPartOfID || len(text) > ulid.EncodedSize {
		return false
	}
	return !strings.ContainsFunc(strings.ToUpper(text), func(r rune) bool { return !strings.ContainsRune(ulid.Encoding, r) })
}

// maxName is the longest name of an object in characters, as in Glue.
const maxName = 255

// CheckName refuses names that are empty, longer than 255 characters or that
// hold characters which are not seen: controls, ends of lines, and those that
// turn the direction of text and so show a name as another. Everything else is
// a name: blanks, slashes, quotes, markup and emoji too.
func CheckName(kind, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return Errorf(Invalid, "A%s needs a name.", n(kind))
	case !utf8.ValidString(name):
		return Errorf(Invalid, "The name of this %s is not valid UTF-8 text.", kind)
	case utf8.RuneCountInString(name) > maxName:
		return Errorf(Invalid, "The name of a%s has at most %d characters; this one has %d.",
			n(kind), maxName, utf8.RuneCountInString(name))
	}
	for _, r := range name {
		if unicode.IsControl(r) || hidden(r) {
			return Errorf(Invalid, "The name of a%s is one line of text; this one holds the control character U+%04X.", n(kind), r)
		}
	}
	return nil
}

// n is word as it follows "a": with the n of "an" where it needs one.
func n(word string) string {
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "n " + word
	}
	return " " + word
}

// hidden reports the characters that embed, override or isolate a direction of
// text, and the separators of lines and paragraphs.
func hidden(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
}

// Kind says what an object or a node is.
type Kind string

// The kinds of objects that have versions.
const (
	KindWorkflow   Kind = "workflow"
	KindJob        Kind = "job"
	KindCrawler    Kind = "crawler"
	KindConnection Kind = "connection"
)

// Head is what every versioned object has in common.
type Head struct {
	ID      ID        `json:"id"`
	Name    string    `json:"name"`
	Version int       `json:"version"` // 0 before the first publish
	At      time.Time `json:"at"`      // when this version was published
	By      string    `json:"by"`      // who published it
}

// Ref points at a node of a graph: a job or a crawler.
type Ref struct {
	Kind Kind `json:"kind"`
	ID   ID   `json:"id"`
}

// String is the form used in the database, in the DOM and in URLs.
func (r Ref) String() string { return string(r.Kind) + "-" + string(r.ID) }

// IsZero reports whether r points at nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// ParseRef reads the form that String writes.
func ParseRef(text string) (Ref, error) {
	kind, id, _ := strings.Cut(text, "-")
	if Kind(kind) != KindJob && Kind(kind) != KindCrawler {
		return Ref{}, Errorf(Invalid, "%q is not a node.", text)
	}
	parsed, err := ParseID(id)
	if err != nil {
		return Ref{}, err
	}
	return Ref{Kind: Kind(kind), ID: parsed}, nil
}

// Bytes writes n in the unit a person reads: 0 B, 9.8 GB. Units are powers
// of 1000, as storage is sold and as object stores bill it.
func Bytes(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, suffix := float64(n), ""
	for _, suffix = range []string{"kB", "MB", "GB", "TB", "PB"} {
		value /= unit
		if value < unit {
			break
		}
	}
	if value >= 100 {
		return fmt.Sprintf("%.0f %s", value, suffix)
	}
	return fmt.Sprintf("%.1f %s", value, suffix)
}

// Count writes n with thousands marked: 612,440.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}
