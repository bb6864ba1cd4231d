// Package form holds the fields that every form is made of. Each shows what was
// typed and, beside it, what is wrong with it.
package form

import (
	"encoding/json"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"dogear/engine"
)

// Errors says what is wrong, by the name of the field.
type Errors map[string]string

// Typed is what was sent of a form that comes back, by the names that its fields
// have then. What could not be read is shown again as it was typed, beside what is
// wrong with it. Of a form that nobody has sent it is nil.
type Typed map[string]string

// TypedOf is what values hold of the fields.
func TypedOf(values url.Values) Typed {
	t := Typed{}
	for field := range values {
		t[field] = strings.TrimSpace(values.Get(field))
	}
	return t
}

// Text is what was typed in a field, or value where nothing was.
func (t Typed) Text(field, value string) string {
	if typed, ok := t[field]; ok {
		return typed
	}
	return value
}

// Number is what was typed in a field, or n where nothing was.
func (t Typed) Number(field string, n int) string { return t.Text(field, Number(n)) }

// Move gives the fields whose names begin with from the names that begin with to:
// a part that was removed leaves a gap, and those behind it move up.
func (t Typed) Move(from, to string) {
	if from == to {
		return
	}
	for field, text := range maps.Clone(t) {
		if rest, ok := strings.CutPrefix(field, from); ok {
			delete(t, field)
			t[to+rest] = text
		}
	}
}

// Choice is one entry of a select: the value that is sent and the word for it.
type Choice [2]string

// Value is what is sent.
func (c Choice) Value() string { return c[0] }

// Word is what people read.
func (c Choice) Word() string { return c[1] }

// Connections are the places that a path may lie in: this machine first.
func Connections(list []engine.Connection) []Choice {
	choices := []Choice{{"", "This machine or AWS"}}
	for _, c := range list {
		choices = append(choices, Choice{string(c.ID), c.Name})
	}
	return choices
}

// Number writes n, and nothing where the default holds.
func Number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// asking tells the path picker which field asks.
func asking(field string) string {
	text, err := json.Marshal(map[string]string{"for": field})
	if err != nil {
		return "{}" // a text always encodes
	}
	return string(text)
}
