package cli

import (
	"testing"

	"dogear/engine"
)

func TestAVersionIsWrittenAsListsShowIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"3": 3, "v3": 3, "v0": 0, "": -1, "v": -1, "vx": -1, "-1": -1, "v-1": -1, "3.0": -1} {
		var e edition
		err := e.UnmarshalText([]byte(text))
		if (want < 0) != (engine.CodeOf(err) == engine.Invalid) || err == nil && int(e) != want {
			t.Errorf("%q is read as %d (%v), want %d, -1 being refused", text, e, err, want)
		}
	}
}
