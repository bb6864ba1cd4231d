package page

import (
	"maps"
	"net/url"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/views/editor"
)

// starts are the starts of jobs that the draft draws and want chooses. A
// crawler goes by its own limits and is left out.
func (d *desk) starts(want func(t *engine.Trigger, of engine.Ref) bool) []editor.Start {
	var found []editor.Start
	for i := range d.draft.Body.Triggers {
		t := &d.draft.Body.Triggers[i]
		for _, a := range t.Actions {
			if a.Ref.Kind == engine.KindJob && want(t, a.Ref) {
				found = append(found, editor.NewStart(*t, a, d.names.Of(a.Ref), d.job(a.Ref.ID)))
			}
		}
	}
	return found
}

// job is a job as it is being edited; nil for one that was deleted.
func (d *desk) job(id engine.ID) *engine.JobBody {
	for i := range d.jobs {
		if d.jobs[i].ID == id {
			return &d.jobs[i].Body
		}
	}
	return nil
}

// seeStarts is for a form that somebody else's change has refused.
func seeStarts(starts []editor.Start) {
	for i := range starts {
		starts[i].See()
	}
}

// startOps are the operations that make the starts what the form says, or what
// is wrong by field. The starts then hold what was typed.
func startOps(starts []editor.Start, values url.Values) (ops []draft.Op, wrong map[string]string) {
	wrong = map[string]string{}
	for i := range starts {
		starts[i].Read(values)
		op, faults := starts[i].Op()
		maps.Copy(wrong, faults)
		if op != nil {
			ops = append(ops, *op)
		}
	}
	return ops, wrong
}
