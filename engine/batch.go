package engine

import (
	"fmt"
	"strings"
)

// tagLength is how many characters of a batch's id its files carry.
const tagLength = 8

// Tag is the end of the batch's id, which is random: enough of it that the
// files of two jobs in one folder never have one name.
func (b *Batch) Tag() string {
	text := strings.ToLower(string(b.ID))
	return text[max(0, len(text)-tagLength):]
}

// PartName is how the names of the files begin that a batch of this number and
// tag writes into one sink of its job. People see by it which run wrote a file,
// and recovery which upload nobody will complete.
func PartName(number int64, tag string, sink int) string {
	return fmt.Sprintf("part-%06d-%s-%d-", number, tag, sink)
}
