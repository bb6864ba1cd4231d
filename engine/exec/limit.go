package exec

import (
	"fmt"
	"time"

	"dogear/engine"
)

// jobLimit is how long an attempt at a job may take, and what is said of one
// that took longer.
func jobLimit(p *pin, n *engine.NodeRun, job *engine.Job) (limit time.Duration, overtime string) {
	if own := p.action(n); own != nil && own.Timeout > 0 {
		by := fmt.Sprintf(", which trigger %s sets for this start instead of the job's,", p.graph.Trigger(n.By).Name)
		return limited(own.Timeout, by, "Give this start more time there, or let it read less at once.")
	}
	return limited(job.Timeout, "", "Give the job more time, or let it read less at once.")
}

// limited is a limit that by, which may be empty, has set; more says what to do
// about it.
func limited(timeout engine.Minutes, by, more string) (limit time.Duration, overtime string) {
	if timeout <= 0 {
		timeout = engine.DefaultTimeout
	}
	limit = timeout.Duration()
	return limit, fmt.Sprintf("It ran longer than its limit of %s%s and was ended. %s", limit, by, more)
}
