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

// failedWords names the first that failed, and says how many there are.
func failedWords(failed []engine.NodeRun) string {
	return show.Count(int64(len(failed))) + " failed: " + failed[0].Name
}
