// Package form holds the fields that every form is made of. Each shows what was
// typed and, beside it, what is wrong with it.
package form

import (
	"encoding/json"
	"strconv"

	"dogear/engine"
)

// Errors says what is wrong, by the name of the field.
type Errors map[string]string

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
