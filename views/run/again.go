package run

import (
	"slices"
	"strconv"

	"dogear/engine"
)

// OnceMore is the form on which somebody has a run done once more.
type OnceMore struct {
	PropertiesForm
	Version int // of the workflow, that the new run takes
	Works   []OnceMoreWork
}

// OnceMoreWork is what the new run does with one job or crawler.
type OnceMoreWork struct {
	Name, Does string
	Doubles    bool // whether rows that were written before may be written again beside them
}

// OnceMoreOfJob is what a run does with a job that an earlier one has done.
func OnceMoreOfJob(name string, job *engine.JobBody, pick *engine.Selection) OnceMoreWork {
	w := OnceMoreWork{Name: name}
	switch {
	case job.Kind == engine.JobPython:
		w.Does = "Runs its script again, from the beginning."
		return w
	case pick != nil:
		w.Does = "Reads again: " + pick.Words() + "."
	case job.Bookmark != engine.BookmarkOff && !readsWhole(job):
		w.Does = "Reads what is new since its bookmark, and nothing that was read before."
		return w
	default:
		w.Does = "Reads its sources again, also what was read before."
		if job.Bookmark != engine.BookmarkOff && !job.ReadsAll() {
			w.Does = "Reads some of its sources again as a whole, and of the others what is new."
		}
	}
	w.Doubles = job.SQL != nil && slices.ContainsFunc(job.SQL.Sinks, func(s engine.Sink) bool { return s.Mode == engine.Append || s.Mode == "" })
	return w
}

// readsWhole reports a source of which each run reads all.
func readsWhole(job *engine.JobBody) bool {
	return job.SQL != nil && slices.ContainsFunc(job.SQL.Sources, func(s engine.Source) bool { return s.Read == engine.ReadAll })
}

// does says what is done as a whole.
func (a OnceMore) does() string {
	words := "A new run does all of this once more, also what has succeeded"
	if a.View.Run.Kind == engine.RunWorkflow && a.Version > 0 {
		words += ", as it is published now, v" + strconv.Itoa(a.Version)
	}
	return words + "."
}

// named are those that the question names; of many the first, and those that may write
// rows twice before the others.
func (a OnceMore) named() (list []OnceMoreWork, more int) {
	const most = 6
	list = slices.Clone(a.Works)
	slices.SortStableFunc(list, func(x, y OnceMoreWork) int { return rank(y.Doubles) - rank(x.Doubles) })
	if len(list) <= most {
		return list, 0
	}
	return list[:most-1], len(list) - most + 1
}

func rank(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
