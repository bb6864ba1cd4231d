package run

import (
	"slices"
	"strings"

	"dogear/engine"
	"dogear/views/show"
)

// mostUnmet is how many conditions are said one by one.
const mostUnmet = 4

// whySkipped says which conditions kept a node from running, and how what they watch
// ended; "" where it is skipped for no condition.
func (n Node) whySkipped() string {
	if n.Attempt.State != engine.Skipped || n.Attempt.PassedOver() || n.Attempt.Copied != "" {
		return ""
	}
	var reasons []string
	for i := range n.View.Run.Body.Triggers {
		t := &n.View.Run.Body.Triggers[i]
		if !n.View.dead(t.ID) || !slices.ContainsFunc(t.Actions, func(a engine.Action) bool { return a.Ref == n.Ref }) {
			continue
		}
		for _, c := range t.Predicate.Conditions {
			if reason := n.View.unmet(c); reason != "" && !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	if more := len(reasons) - mostUnmet; more > 0 {
		reasons = append(reasons[:mostUnmet], show.Many(int64(more), "more condition")+" not met")
	}
	return "It was not started: " + strings.Join(reasons, "; ") + "."
}

// dead reports a trigger that could no longer fire.
func (v View) dead(id engine.ID) bool {
	return slices.ContainsFunc(v.Triggers, func(t engine.TriggerRun) bool { return t.Trigger == id && !t.DeadAt.IsZero() })
}

// unmet says what c waited for and what came instead; "" where it was met.
func (v View) unmet(c engine.Condition) string {
	lasts := map[int]engine.NodeRun{} // the last attempt of each start
	for _, n := range v.Nodes {
		if n.Ref == c.Ref && n.Attempt >= lasts[n.Start].Attempt {
			lasts[n.Start] = n
		}
	}
	for _, n := range lasts {
		if c.Meets(n.As()) {
			return ""
		}
	}
	n, ok := v.newest(c.Ref)
	if !ok {
		return ""
	}
	return n.Name + " was to " + awaitedWord(c.State) + " and " + endedWord(&n)
}

// awaitedWord is what a condition waits for.
func awaitedWord(state engine.State) string {
	switch state {
	case engine.Succeeded:
		return "succeed"
	case engine.Failed:
		return "fail"
	case engine.TimedOut:
		return "time out"
	case engine.Stopped:
		return "be stopped"
	default:
		return "end"
	}
}

// endedWord is how n ended.
func endedWord(n *engine.NodeRun) string {
	word := strings.ToLower(show.OfState(n.State).Word)
	if n.State == engine.Skipped || n.State == engine.Stopped {
		return "was " + word
	}
	return word
}
