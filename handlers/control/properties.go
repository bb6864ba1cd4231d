package control

import (
	"net/http"

	"dogear/engine"
)

// SetProperties asks to change properties of a run that goes on.
type SetProperties struct {
	ID         engine.ID         `json:"id"`
	Properties map[string]string `json:"properties"`
}

// setProperties answers POST /properties with the run. Properties that are not
// named stay as they are.
func (c *control) setProperties(w http.ResponseWriter, r *http.Request) error {
	ask, err := read[SetProperties](w, r)
	if err != nil {
		return err
	}
	id, err := c.runID(r.Context(), string(ask.ID))
	if err != nil {
		return err
	}
	by, err := c.byCommand(r.Context())
	if err != nil {
		return err
	}
	run, err := c.Exec.SetProperties(r.Context(), id, ask.Properties, by)
	if err != nil {
		return err
	}
	return c.answerRun(w, r, run)
}
