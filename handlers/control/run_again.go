package control

import (
	"net/http"

	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/exec"
)

// Again asks for a run that does the work of an earlier one once more.
type Again struct {
	ID         engine.ID         `json:"id"`
	Properties map[string]string `json:"properties,omitempty"` // laid over those of the earlier run
	Token      string            `json:"token,omitempty"`      // as in StartJob
}

// again answers POST /again with the run that was started.
func (c *control) again(w http.ResponseWriter, r *http.Request) error {
	ask, err := read[Again](w, r)
	if err != nil {
		return err
	}
	id, err := c.runID(r.Context(), string(ask.ID))
	if err != nil {
		return err
	}
	old, err := c.Store.Run(r.Context(), id)
	if err != nil {
		return err
	}
	by, err := c.byCommand(r.Context())
	if err != nil {
		return err
	}
	ordered := exec.Order{Kind: old.Kind, Object: old.Object, Pick: old.Pick, Again: old.ID, By: by, Token: ask.Token}
	if ordered.Properties, err = arrival.Again(old.Properties, ask.Properties); err != nil {
		return err
	}
	if old.Kind == engine.RunWorkflow {
		now, err := c.Store.Workflow(r.Context(), old.Object)
		if err != nil {
			return err
		}
		ordered.Trigger = now.StartLike(old.Trigger)
	}
	run, err := c.Exec.Start(r.Context(), ordered)
	if err != nil {
		return err
	}
	return c.answerRun(w, r, run)
}
