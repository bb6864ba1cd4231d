package exec

import (
	"fmt"
	"time"

	"dogear/engine"
)

// limit is how long an attempt may take.
type limit struct {
	time.Duration
	by   string // the trigger that has set it; empty is the job or the crawler
	more string // what to do about it
}

// jobLimit is the limit of an attempt at a job.
func jobLimit(p *pin, n *engine.NodeRun, job *engine.Job) limit {
	if own := p.action(n); own != nil && own.Timeout > 0 {
		return limited(own.Timeout, p.graph.Trigger(n.By).Name, "Give this start more time there, or let it read less at once.")
	}
	return limited(job.Timeout, "", "Give the job more time, or let it read less at once.")
}

func limited(timeout engine.Minutes, by, more string) limit {
	if timeout <= 0 {
		timeout = engine.DefaultTimeout
	}
	return limit{timeout.Duration(), by, more}
}

// overtime is said of an attempt that took longer.
func (l limit) overtime() string {
	by := ""
	if l.by != "" {
		by = fmt.Sprintf(", which trigger %s sets for this start instead of the job's,", l.by)
	}
	return fmt.Sprintf("It ran longer than its limit of %s%s and was ended. %s", l.Duration, by, l.more)
}
