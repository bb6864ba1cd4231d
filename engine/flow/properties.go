package flow

import (
	"maps"
	"slices"
	"strings"
	"time"

	"dogear/engine"
)

// SetProperties lays change over the properties of an open run. Attempts that
// were claimed before keep what they were told.
func SetProperties(run engine.Run, change map[string]string, by string, now time.Time) (Writes, error) {
	if !run.Open() {
		return Writes{}, engine.Errorf(engine.Conflict, "This run has ended already, so nothing would read the properties.")
	}
	changed, err := engine.ChangeProperties(run.Properties, change)
	if err != nil {
		return Writes{}, err
	}
	run.Properties = changed
	s := newStep(nil, nil, run, now)
	s.event(engine.Event{Kind: "run", State: "properties", Text: by + " set " + strings.Join(slices.Sorted(maps.Keys(change)), ", ")})
	s.w.Properties = &ChangedBy{By: by, At: now}
	return s.w, nil
}
