package engine_test

import (
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

// TestPlaceholdersAreFilledInOrRefusedWithTheirPlace: in the defaults of a workflow.
func TestPlaceholdersAreFilledInOrRefusedWithTheirPlace(t *testing.T) {
	t.Parallel()
	at := engine.Moment{Run: "01R", Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Zone: time.UTC}
	tests := map[string]struct{ text, want, wrong string }{
		"none":                  {"plain } { text", "plain } { text", ""},
		"all":                   {"{{due.date}} {{ due.time }} {{run.id}} {{run.started}}", "2026-03-01 2026-03-01T12:00:00Z 01R 2026-03-01T12:00:00Z", ""},
		"in the midst":          {"dt={{due.date}}/x", "dt=2026-03-01/x", ""},
		"an unknown one":        {"né {{due.day}}", "", "The property Day uses {{due.day}}, which does not exist, at character 4."},
		"one without its end":   {"né={{due.date", "", "The property Day has {{ at character 4 without the }} that ends it."},
		"the second is not one": {"{{due.date}} {{due.date}", "", "The property Day has {{ at character 14 without the }} that ends it."},
		"nested":                {"{{ {{due.date}} }}", "", "has {{ at character 1 without"},
		"an empty one":          {"{{}}", "", "uses {{}}, which does not exist"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := engine.ResolveProperties(map[string]string{"Day": tt.text}, nil, at)
			checked := engine.CheckProperties(map[string]string{"Day": tt.text})

			if tt.wrong == "" && (err != nil || checked != nil || got["Day"] != tt.want) {
				t.Errorf("%q = %q, %v, %v; want %q", tt.text, got["Day"], err, checked, tt.want)
			}
			for _, err := range []error{err, checked} {
				if tt.wrong != "" && (engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), tt.wrong)) {
					t.Errorf("%q: %v, want %q", tt.text, err, tt.wrong)
				}
			}
		})
	}
}

// TestG05AGivenValueIsNeverATemplate, and one that looks like one is refused, so that
// nobody takes it for filled in.
func TestG05AGivenValueIsNeverATemplate(t *testing.T) {
	t.Parallel()
	for value, wrong := range map[string]string{
		"2026-03-01":      "",
		`{"a": {"b": 1}}`: "",
		"dé={{due.date}}": "The property Day holds {{due.date}} at character 4.",
		"{{due.date":      "The property Day holds {{ at character 1.",
		"{{ 7*7 }}":       "The property Day holds {{ 7*7 }} at character 1.",
	} {
		err := engine.CheckGiven(map[string]string{"A": "plain", "Day": value})

		if wrong == "" && err != nil || wrong != "" && (engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), wrong)) {
			t.Errorf("%q: %v, want %q", value, err, wrong)
		}
	}
}
