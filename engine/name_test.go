package engine_test

import (
	"strings"
	"testing"

	"dogear/engine"
)

func TestANameHoldsNothingThatIsNotSeen(t *testing.T) {
	t.Parallel()
	for _, r := range []rune{0, '\t', '\n', 0x7f, 0x85, 0x2028, 0x202a, 0x202e, 0x2066, 0x2069} {
		name := "pay" + string(r) + "roll"

		err := engine.CheckName("job", name)

		if engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), "holds the control character U+") {
			t.Errorf("CheckName(%q) = %v, want it refused", name, err)
		}
	}
	for _, name := range []string{"a/b \"c\" <e> ☃ 🦊", "отчёт", "דוח", "👩\u200d🚀", "a{b}[c]"} {
		if err := engine.CheckName("job", name); err != nil {
			t.Errorf("CheckName(%q) = %v, want it taken", name, err)
		}
	}
}
