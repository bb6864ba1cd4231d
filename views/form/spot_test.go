package form

import "testing"

func TestTheSpotOfASentenceIsWhereItsTextIsWrong(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sentence string
		want     Spot
	}{
		"of SQL":             {`The step out at line 2, column 6: syntax error at or near "input".`, Spot{2, 6}},
		"of a whole line":    {"The script at line 31: unindent does not match any outer indentation level.", Spot{31, 0}},
		"of the text itself": {"The step out must be one SELECT; it holds 2 statements.", Spot{}},
		"nothing":            {"", Spot{}},
	}
	for name, tt := range tests {
		got, ok := SpotOf(tt.sentence)
		if got != tt.want || ok != (tt.want != Spot{}) {
			t.Errorf("%s: %+v %t, want %+v", name, got, ok, tt.want)
		}
	}
}
