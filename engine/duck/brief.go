package duck

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How many characters of a value and of a text of others a message holds. It is
// read in one glance, and stands in logs and ledgers for good.
const (
	maxValue = 60
	maxText  = 320
)

// Brief cuts a text that somebody else wrote to about 320 characters, for a message.
// It cuts in the middle, since the end often says what was wanted, and writes out
// what cannot be seen.
func Brief(text string) string {
	text = visible(text)
	if utf8.RuneCountInString(text) <= maxText {
		return text
	}
	all := []rune(text)
	const end = maxText / 4
	return string(all[:maxText-end]) + " … " + string(all[len(all)-end:])
}

// visible writes control characters and broken bytes as Go does.
func visible(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1, unicode.IsControl(r):
			quoted := strconv.Quote(text[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// secret finds names of what should not be repeated in a log.
var secret = regexp.MustCompile(`(?i)passw|passphrase|pwd|secret|token|credential|api_?key|private_?key`)

// shown writes a value of a column for a message. One that may be a secret, by the
// name of its column or by a name within it, is not written.
func shown(column, value string) string {
	if secret.MatchString(column) || strings.HasPrefix(value, "{") && secret.MatchString(value) {
		return "a value that is not shown here"
	}
	if utf8.RuneCountInString(value) > maxValue {
		value = string([]rune(value)[:maxValue]) + "…"
	}
	if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
		return visible(value) // it has quotes enough
	}
	return strconv.Quote(value)
}
