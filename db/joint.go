package db

import (
	"strconv"
	"strings"
	"sync"
)

// maxJoint bounds how many rows are written by one joint statement: there are few
// different ones then, and each is planned once.
const maxJoint = 12

// joint is one statement for PostgreSQL made of several, each of which would cost
// as much as a few rows. All of them see what stood before the first, so none may
// ask what another one writes.
type joint struct {
	writes, conditions []string // with ? for each argument
	changed            int      // of the writes, the first so many must find their row
	written, asked     []any    // the arguments of the writes and of the conditions
}

// change adds a write that must return one row. All changes come first.
func (j *joint) change(statement string, args ...any) {
	j.write(statement, args...)
	j.changed++
}

// write adds a write.
func (j *joint) write(statement string, args ...any) {
	j.writes = append(j.writes, statement)
	j.written = append(j.written, args...)
}

// condition adds an expression that must be 1, and else is 0.
func (j *joint) condition(expression string, args ...any) {
	j.conditions = append(j.conditions, expression)
	j.asked = append(j.asked, args...)
}

// args are the arguments of the text.
func (j *joint) args() []any { return append(j.written, j.asked...) }

// jointTexts keeps the texts that were made, by what they were made of.
var jointTexts sync.Map

// text is the statement, which divides by zero where a condition does not hold.
func (j *joint) text() string {
	key := strings.Join(j.writes, ";") + strconv.Itoa(j.changed) + strings.Join(j.conditions, ";")
	if text, ok := jointTexts.Load(key); ok {
		return text.(string)
	}
	var with, holds []string
	for i, w := range j.writes {
		name := "w" + strconv.Itoa(i)
		with = append(with, name+" AS ("+w+")")
		if i < j.changed {
			holds = append(holds, "(SELECT count(*) FROM "+name+")")
		}
	}
	for _, c := range j.conditions {
		holds = append(holds, "("+c+")")
	}
	text := numbered("WITH " + strings.Join(with, ", ") + " SELECT 1 / (" + strings.Join(holds, " * ") + ")")
	jointTexts.Store(key, text)
	return text
}
