package draft_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dogear/engine/draft"
)

// written puts lines down as a person would read them.
func written(lines []draft.Line) string {
	var text strings.Builder
	for _, l := range lines {
		if l.Fold > 0 {
			fmt.Fprintf(&text, "%s%d\n", l.Mark, l.Fold)
		} else {
			text.WriteString(string(l.Mark) + l.Text + "\n")
		}
	}
	return text.String()
}

func TestATextIsComparedLineByLine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ from, to, want string }{
		"one line":                {"a", "b", ""},
		"a line in the middle":    {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "…2\n 3\n 4\n-5\n+five\n 6\n 7\n…2\n"},
		"two that are far apart":  {"a\n1\n2\n3\n4\n5\n6\nb", "A\n1\n2\n3\n4\n5\n6\nB", "-a\n+A\n 1\n 2\n…2\n 5\n 6\n-b\n+B\n"},
		"a text that is new":      {"", "a\nb", "+a\n+b\n"},
		"a text that goes":        {"a\nb\n", "", "-a\n-b\n"},
		"lines of another system": {"a\r\nb\r\n", "a\r\nc\r\n", " a\n-b\n+c\n"},
		"a line after the last":   {"a\nb", "a\nb\nc", " a\n b\n+c\n"},
		"a last line that ends":   {"a\nb", "a\nb\n", " a\n-b\n+b\n"},
		"a letter with an umlaut": {"ä\nb", "ö\nb", "-ä\n+ö\n b\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := written(draft.Field{From: tt.from, To: tt.to}.Lines()); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func TestALongDifferenceIsCut(t *testing.T) {
	t.Parallel()
	lines := draft.Field{From: strings.Repeat("a\n", 1000), To: strings.Repeat("b\n", 1000)}.Lines()

	if last := lines[len(lines)-1]; len(lines) != 401 || last.Mark != draft.LinesMore || last.Fold != 1600 {
		t.Errorf("got %d lines, the last %+v; want 400 and one for 1600 more", len(lines), last)
	}
}

// What is kept, removed and folded makes up the text before; with what is added in
// place of what is removed, the text after.
func TestNoLineIsLost(t *testing.T) {
	t.Parallel()
	texts := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 2, 30).Draw(t, "lines"), "\n")
	})
	rapid.Check(t, func(t *rapid.T) {
		f := draft.Field{From: texts.Draw(t, "from"), To: texts.Draw(t, "to")}
		if f.From == f.To {
			return
		}
		from, to := strings.Split(strings.TrimSuffix(f.From, "\n"), "\n"), strings.Split(strings.TrimSuffix(f.To, "\n"), "\n")
		for _, l := range f.Lines() {
			take := func(lines *[]string, n int) {
				if len(*lines) < n || l.Fold == 0 && (*lines)[0] != l.Text {
					t.Fatalf("%+v does not fit %q", l, *lines)
				}
				*lines = (*lines)[n:]
			}
			if n := max(1, l.Fold); l.Mark != draft.LineAdded {
				take(&from, n)
			}
			if n := max(1, l.Fold); l.Mark != draft.LineRemoved {
				take(&to, n)
			}
		}
		if strings.Join(from, "") != "" || strings.Join(to, "") != "" {
			t.Fatalf("left over: %q, %q", from, to)
		}
	})
}
