package engine_test

import (
	"testing"

	"dogear/engine"
)

func TestANameOfAPoolHasNoBlanksAtItsEnds(t *testing.T) {
	t.Parallel()
	for name, field := range map[string]string{"warehouse": "", "a b": "", " p": "name", "p ": "name", "\u00a0p": "name", "": "name"} {
		faults := (&engine.Pool{Name: name, Places: 1}).Faults()
		got := ""
		if len(faults) > 0 {
			got = faults[0].Field
		}
		if got != field || len(faults) > 1 {
			t.Errorf("Faults of %q = %v, want field %q", name, faults, field)
		}
	}
}
