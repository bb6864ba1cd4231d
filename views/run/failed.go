package run

import (
	"slices"

	"dogear/engine"
	"dogear/views/show"
)

// failed are the nodes of a workflow's run that failed, the first to fail first. One
// that is tried again has not, and of several starts the newest counts.
func (v View) failed() []engine.NodeRun {
	var list []engine.NodeRun
	if v.Run.Kind != engine.RunWorkflow {
		return nil
	}
	for _, ref := range v.Refs() {
		if n, ok := v.newest(ref); ok && show.OfState(n.State).Hue == "bad" {
			list = append(list, n)
		}
	}
	slices.SortStableFunc(list, func(a, b engine.NodeRun) int { return a.Ended.Compare(b.Ended) })
	return list
}

// saysFailed reports a run whose outcome is that nodes of it failed: one pill then says
// both that and which.
func (v View) saysFailed() bool {
	return v.Run.Outcome == engine.RunFailed || v.Run.Outcome == engine.RunPartlyFailed
}

// failedSign names the first that failed, and says how many there are.
func (v View) failedSign(failed []engine.NodeRun) show.Sign {
	if !v.saysFailed() {
		return show.Sign{Icon: "x", Word: show.Count(int64(len(failed))) + " failed: " + failed[0].Name, Hue: "bad"}
	}
	sign := show.OfRun(v.Run)
	sign.Word += ": " + failed[0].Name
	if more := len(failed) - 1; more > 0 {
		sign.Word += " and " + show.Count(int64(more)) + " more"
	}
	return sign
}
