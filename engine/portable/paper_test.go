package portable_test

import (
	"os"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/portable"
)

func TestTheExampleOfThePaperCanBeImported(t *testing.T) {
	t.Parallel()
	paper, err := os.ReadFile("../../docs/workflow-yaml.md")
	must(t, err)
	_, rest, found := strings.Cut(string(paper), "```yaml\n")
	example, _, ended := strings.Cut(rest, "```\n")
	if !found || !ended {
		t.Fatal("docs/workflow-yaml.md holds no example")
	}
	lake := engine.Connection{Head: engine.Head{ID: engine.NewID(noon), Name: "lake"}}

	d, err := portable.Parse([]byte(example))
	must(t, err)
	set, err := portable.Resolve(d, portable.Here{Connections: []engine.Connection{lake}, Pools: map[string]int{"warehouse": 2}}, noon)
	must(t, err)

	if got := set.Jobs[0].Body.SQL.Sources[0].Connection; got != lake.ID {
		t.Errorf("got connection %q, want %q", got, lake.ID)
	}
}
