package place

import (
	"regexp"
	"strings"

	"dogear/engine"
)

// Glob matches keys, the names of objects relative to the root of a place.
// "*" and "?" stay within one part of the key, "**" crosses parts, "[a-z]" is
// one character of a set and "{a,b}" one of several texts.
type Glob struct {
	text string
	re   *regexp.Regexp
}

// ParseGlob reads a glob. The empty glob matches every key.
func ParseGlob(text string) (*Glob, error) {
	if text == "" {
		return &Glob{}, nil
	}
	pattern, err := translate(text)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "The pattern %q is not a glob: a set in brackets is wrong.", text)
	}
	return &Glob{text: text, re: re}, nil
}

// Match reports whether key fits the glob as a whole.
func (g *Glob) Match(key string) bool { return g.re == nil || g.re.MatchString(key) }

// String returns the glob as it was written.
func (g *Glob) String() string { return g.text }

// translate writes a glob as a regular expression over the whole key.
func translate(text string) (string, error) {
	var out strings.Builder
	out.WriteString(`(?s)\A`)
	depth := 0
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch c := text[i]; {
		case strings.HasPrefix(rest, "**/"):
			out.WriteString(`(?:.*/)?`)
			i += 2
		case strings.HasPrefix(rest, "**"):
			out.WriteString(`.*`)
			i++
		case c == '*':
			out.WriteString(`[^/]*`)
		case c == '?':
			out.WriteString(`[^/]`)
		case c == '[':
			set, length := bracket(rest)
			if length == 0 {
				return "", engine.Errorf(engine.Invalid, "The pattern %q opens a bracket at character %d and never closes it.", text, i+1)
			}
			out.WriteString(set)
			i += length - 1
		case c == '{':
			depth++
			out.WriteString(`(?:`)
		case c == '}' && depth > 0:
			depth--
			out.WriteString(`)`)
		case c == ',' && depth > 0:
			out.WriteString(`|`)
		case c >= 0x80:
			// A byte of a longer character: it stands for itself.
			out.WriteByte(c)
		default:
			out.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	if depth > 0 {
		return "", engine.Errorf(engine.Invalid, "The pattern %q opens a brace and never closes it.", text)
	}
	out.WriteString(`\z`)
	return out.String(), nil
}

// bracket translates the set that text begins with and returns its length in
// text, 0 where it has no end.
func bracket(text string) (set string, length int) {
	body := text[1:]
	not := ""
	if strings.HasPrefix(body, "!") || strings.HasPrefix(body, "^") {
		not, body = "^", body[1:]
	}
	end := strings.IndexByte(body, ']')
	if end == 0 { // "[]a]" holds a bracket
		if next := strings.IndexByte(body[1:], ']'); next >= 0 {
			end = next + 1
		} else {
			end = -1
		}
	}
	if end < 0 {
		return "", 0
	}
	escaped := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(body[:end])
	return "[" + not + escaped + "]", len(text) - len(body) + end + 1
}
