package exec

import (
	"context"
	"fmt"
	"slices"
	"time"

	"dogear/engine"
	"dogear/engine/runner"
)

// strayPatience is how long a process may outlive the end of its attempt:
// what a script leaves behind is looked for once its end is written.
const strayPatience = 10 * time.Second

// strays looks at the processes of this machine that work for attempts of this
// database. Each belongs to one that has a process on record and has not ended.
func (e *Exec) strays(ctx context.Context, now time.Time) ([]engine.Check, error) {
	recorded := engine.Check{ID: "I1", Rule: "A script runs only for an attempt that has its process on record."}
	ended := engine.Check{ID: "I12", Rule: "Nothing of a script runs after its attempt has ended."}
	if e.Processes == nil {
		return nil, nil
	}
	for _, p := range e.Processes.Marked() {
		key, err := runner.ParseMarker(p.Marker)
		if err != nil {
			continue // not ours
		}
		nodes, err := e.Store.NodeRuns(ctx, key.Run)
		if err != nil {
			return nil, err
		}
		if len(nodes) == 0 {
			continue // of another database
		}
		broken := engine.Broken{Run: key.Run, What: fmt.Sprintf("process %d (%s) of start %d, attempt %d", p.PID, p.Name, key.Start, key.Attempt)}
		i := slices.IndexFunc(nodes, func(n engine.NodeRun) bool { return n.Key() == key })
		switch {
		case i < 0 || nodes[i].Process.PID == 0:
			recorded.Broken = append(recorded.Broken, broken)
		case nodes[i].State.Done() && now.Sub(nodes[i].Ended) > strayPatience:
			broken.What += fmt.Sprintf(" still runs; %s has %s", nodes[i].Name, nodes[i].State)
			ended.Broken = append(ended.Broken, broken)
		}
	}
	return []engine.Check{recorded, ended}, nil
}
