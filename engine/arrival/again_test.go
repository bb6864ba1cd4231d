package arrival_test

import (
	"maps"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/arrival"
)

// TestARunThatIsRunAgainIsToldOfTheSameEvents, and of what was changed.
func TestARunThatIsRunAgainIsToldOfTheSameEvents(t *testing.T) {
	t.Parallel()
	told := map[string]string{"Day": "1", "Region": "eu", arrival.EventsProperty: "[{{}}]"}
	tests := map[string]struct {
		changed, want map[string]string
		refused       string
	}{
		"as it was":       {nil, told, ""},
		"another day":     {map[string]string{"Day": "2"}, map[string]string{"Day": "2", "Region": "eu", arrival.EventsProperty: "[{{}}]"}, ""},
		"other events":    {map[string]string{arrival.EventsProperty: "[]"}, nil, "Only events that start a run set its property " + arrival.EventsProperty},
		"a placeholder":   {map[string]string{"Day": "{{due.date}}"}, nil, "taken to the letter"},
		"one more of it":  {map[string]string{"Least": "0"}, map[string]string{"Day": "1", "Region": "eu", "Least": "0", arrival.EventsProperty: "[{{}}]"}, ""},
		"nothing is told": {map[string]string{"Day": ""}, map[string]string{"Day": "", "Region": "eu", arrival.EventsProperty: "[{{}}]"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := maps.Clone(told)

			got, err := arrival.Again(told, tt.changed)

			if tt.refused != "" {
				if engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), tt.refused) {
					t.Errorf("got %v, %v, want it refused with %q", got, err, tt.refused)
				}
				return
			}
			if err != nil || !maps.Equal(got, tt.want) || !maps.Equal(told, before) {
				t.Errorf("got %v, %v, want %v, and what the run was told left alone", got, err, tt.want)
			}
		})
	}
}
