package run_test

import (
	"strings"
	"testing"

	"dogear/views/run"
)

func TestE15LogsShowWhatATerminalWould(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ line, want, class string }{
		"colour":              {"\x1b[31mERROR\x1b[0m boom", "ERROR boom", "c1"},
		"bright and bold":     {"\x1b[1;92mok\x1b[m", "ok", "a1 c2"},
		"a progress bar":      {" 10%\r 50%\r100%", "100%", ""},
		"colour before a bar": {"\x1b[33m 10%\r100%", "100%", "c3"},
		"a line end of DOS":   {"text\r", "text", ""},
		"bad bytes":           {"bad \xff\xfe byte", "bad \uFFFD\uFFFD byte", ""},
		"a title":             {"\x1b]0;title\aafter title", "after title", ""},
		"markup":              {"<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>", ""},
		"cleared":             {"\x1b[2Jcleared", "cleared", ""},
		"cut sequence":        {"end\x1b[3", "end", ""},
		"lone escape":         {"end\x1b", "end", ""},
		"bell and null":       {"a\a\x00b\tc", "ab\tc", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spans := run.Spans(tt.line)

			var text strings.Builder
			for _, s := range spans {
				text.WriteString(s.Text)
			}
			if text.String() != tt.want {
				t.Errorf("Spans(%q) = %q, want %q", tt.line, text.String(), tt.want)
			}
			if len(spans) > 0 && spans[0].Class != tt.class {
				t.Errorf("Spans(%q) begins in class %q, want %q", tt.line, spans[0].Class, tt.class)
			}
		})
	}
}
