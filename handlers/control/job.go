package control

import (
	"net/http"

	"dogear/engine"
	"dogear/engine/exec"
)

// StartJob asks for a run of one job alone.
type StartJob struct {
	Job        string            `json:"job"`
	Properties map[string]string `json:"properties,omitempty"`
	// Token is a text of the caller's own for this one start: asked again with
	// it, the same run is the answer (exec.Order).
	Token string `json:"token,omitempty"`
	// Pick are files to read again beside the bookmark; nothing else is read.
	Pick engine.Selection `json:"pick,omitzero"`
}

// jobs answers GET /jobs.
func (c *control) jobs(w http.ResponseWriter, r *http.Request) error {
	jobs, err := c.Store.Jobs(r.Context())
	if err != nil {
		return err
	}
	return answer(w, jobs)
}

// startJob answers POST /job with the run that was started.
func (c *control) startJob(w http.ResponseWriter, r *http.Request) error {
	start, err := read[StartJob](w, r)
	if err != nil {
		return err
	}
	job, err := c.Store.JobNamed(r.Context(), start.Job)
	if err != nil {
		return err
	}
	by, err := c.byCommand(r.Context())
	if err != nil {
		return err
	}
	var pick *engine.Selection
	if !start.Pick.Empty() {
		pick = &start.Pick
	}
	run, err := c.Exec.Start(r.Context(), exec.Order{
		Kind: engine.RunJob, Object: job.ID, Properties: start.Properties, Pick: pick, By: by, Token: start.Token,
	})
	if err != nil {
		return err
	}
	return c.answerRun(w, r, run)
}
