package run

import (
	"strings"
	"unicode/utf8"
)

// Span is a piece of a log line in one style. Text is plain: it is escaped
// when it is written like any other text.
type Span struct {
	Class string
	Text  string
}

// Spans reads a line as a terminal would show it: colours become classes, other
// escape sequences disappear, a carriage return begins the line again, and
// bytes that are no UTF-8 become the replacement character.
func Spans(line string) []Span {
	if i := strings.LastIndexByte(strings.TrimRight(line, "\r"), '\r'); i >= 0 {
		line = colours(line[:i]) + line[i+1:]
	}
	line = strings.ToValidUTF8(escapeInvalid(line), "\uFFFD")
	var spans []Span
	var style style
	for line != "" {
		text, rest, found := strings.Cut(line, "\x1b")
		if text = printable(text); text != "" {
			spans = append(spans, Span{Class: style.class(), Text: text})
		}
		if !found {
			break
		}
		line = style.sequence(rest)
	}
	return spans
}

// escapeInvalid replaces every bad byte by itself, as terminals do;
// strings.ToValidUTF8 would replace a run of them by one character.
func escapeInvalid(line string) string {
	if utf8.ValidString(line) {
		return line
	}
	var b strings.Builder
	for _, r := range line { // a bad byte ranges as U+FFFD
		b.WriteRune(r)
	}
	return b.String()
}

// colours keeps the colour sequences of a part that is overwritten: they still
// hold for what follows.
func colours(text string) string {
	var kept strings.Builder
	for {
		_, rest, found := strings.Cut(text, "\x1b[")
		if !found {
			return kept.String()
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return kept.String()
		}
		if rest[end] == 'm' {
			kept.WriteString("\x1b[" + rest[:end+1])
		}
		text = rest[end+1:]
	}
}

// printable drops control characters but tabs.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, text)
}

// style is what the colour sequences so far say.
type style struct {
	colour          string
	bold, dim, line bool
}

func (s *style) class() string {
	var classes []string
	if s.bold {
		classes = append(classes, "a1")
	}
	if s.dim {
		classes = append(classes, "a2")
	}
	if s.line {
		classes = append(classes, "a4")
	}
	if s.colour != "" {
		classes = append(classes, "c"+s.colour)
	}
	return strings.Join(classes, " ")
}

// sequence takes what follows an escape character and returns what follows the
// sequence.
func (s *style) sequence(text string) string {
	switch {
	case strings.HasPrefix(text, "["):
		end := strings.IndexFunc(text[1:], func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return ""
		}
		if text[1+end] == 'm' {
			s.apply(text[1 : 1+end])
		}
		return text[2+end:]
	case strings.HasPrefix(text, "]"): // a title: up to BEL or ESC \
		end := strings.IndexAny(text, "\a\x1b")
		if end < 0 {
			return ""
		}
		return strings.TrimPrefix(text[end+1:], "\\")
	case text == "":
		return ""
	default:
		_, size := utf8.DecodeRuneInString(text)
		return text[size:]
	}
}

func (s *style) apply(codes string) {
	for code := range strings.SplitSeq(codes, ";") {
		switch {
		case code == "" || code == "0":
			*s = style{}
		case code == "1":
			s.bold = true
		case code == "2":
			s.dim = true
		case code == "4":
			s.line = true
		case code == "22":
			s.bold, s.dim = false, false
		case code == "24":
			s.line = false
		case code == "39":
			s.colour = ""
		case len(code) == 2 && (code[0] == '3' || code[0] == '9') && code[1] >= '0' && code[1] <= '7':
			s.colour = code[1:]
		}
	}
}
