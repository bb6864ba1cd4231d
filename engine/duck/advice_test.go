package duck

import (
	"errors"
	"strings"
	"testing"

	"dogear/engine"
)

// TestWhatDuckDBSaysHasANextStep: its own advice names settings that nobody can
// make here.
func TestWhatDuckDBSaysHasANextStep(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tests := map[string]struct {
		do   func() error
		want string
	}{
		"a line of 3 MB": {func() error {
			in := csvInput("s", b.file("long.csv", "id,v\n1,"+strings.Repeat("z", 3_000_000)+"\n2,b\n"))
			_, err := b.run(Run{Inputs: []Input{in}, Outputs: []Output{{Sink: engine.Sink{From: "s"}, Stage: b.stage("lines")}}, Batch: 1, Tag: "t"})
			return err
		}, "longer than the 2 MB"},
		"SQL nested 2000 deep": {func() error {
			_, err := b.query("SELECT " + strings.Repeat("(", 2000) + "1" + strings.Repeat("+1)", 2000))
			return err
		}, "Break the SQL up into steps"},
		"a partition of 300 characters": {func() error {
			_, err := b.write("stage", engine.Sink{PartitionBy: []string{"p"}}, "SELECT 1 AS id, repeat('x', 300) AS p")
			return err
		}, "too long for the name of a folder"},
	}
	for name, tt := range tests {
		err := tt.do()
		f, ok := errors.AsType[*Failure](err)
		if !ok {
			t.Errorf("%s: got %v, want a failure", name, err)
			continue
		}

		if !strings.Contains(f.Message, tt.want) {
			t.Errorf("%s: got %q, want %q", name, f.Message, tt.want)
		}
	}
}
