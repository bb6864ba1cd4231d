package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"dogear/engine"
)

func TestNearOffersWhatAMisspeltNameMayStandFor(t *testing.T) {
	t.Parallel()
	columns := []string{"id", "Name", "amount", "amount_eur", "day", "created_at"}
	tests := map[string][]string{
		"nmae":      {"Name"},
		"NAME":      {"Name"},
		"amuont":    {"amount"},
		"amount_eu": {"amount_eur", "amount"},
		"created":   {"created_at"},
		"di":        nil,
		"region":    nil,
		"":          nil,
	}
	for name, want := range tests {
		if got := engine.Near(name, columns); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("Near(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestLackingNamesWhatThereIs(t *testing.T) {
	t.Parallel()
	if got, want := engine.Lacking("s", "nmae", []string{"id", "name"}), "s has no column nmae. Did you mean name? It has id, name."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := engine.Lacking("s", "region", nil), "s has no column region. It has none."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	many := strings.Fields(strings.Repeat("column ", 2000))
	if got := engine.Lacking("s", "x", many); len(got) > 500 || !strings.Contains(got, "…") {
		t.Errorf("2000 columns make %d bytes, want a list that is cut", len(got))
	}
}

func TestUnnamedSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		names []string
		want  string
	}{
		{"nihgtly", []string{"daily", "nightly"}, `There is no workflow named "nihgtly". Did you mean nightly?`},
		{"x", []string{"daily", "nightly"}, `There is no workflow named "x". There is daily, nightly.`},
		{"x", nil, `There is no workflow named "x". There is none yet.`},
	} {
		err := engine.Unnamed("workflow", tt.name, tt.names)
		if engine.CodeOf(err) != engine.NotFound || engine.MessageOf(err) != tt.want {
			t.Errorf("%q of %q: %v, want %s", tt.name, tt.names, err, tt.want)
		}
	}
}
