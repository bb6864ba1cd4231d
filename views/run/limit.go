package run

import (
	"fmt"
	"slices"
	"strconv"

	"dogear/engine"
)

// Limit is one limit of an attempt and who set it.
type Limit struct{ Name, Value, From string }

// LimitsOf are the limits that hold for the attempt of a job: those of the
// trigger that started it, else the job's own. A nil job was deleted, and what
// it said is not known.
func (n Node) LimitsOf(job *engine.JobBody) []Limit {
	timeout, retries := Limit{Name: "Timeout"}, Limit{Name: "Retries"}
	if job != nil {
		timeout.Value, timeout.From = minutes(job.Timeout), "of the job"
		if job.Timeout <= 0 {
			timeout.Value, timeout.From = minutes(engine.DefaultTimeout), "because the job says none"
		}
		retries.Value, retries.From = strconv.Itoa(job.Retries), "of the job"
	}
	if t, a := n.started(); a != nil {
		if a.Timeout > 0 {
			timeout.Value, timeout.From = minutes(a.Timeout), instead(t, timeout)
		}
		if a.Retries != nil {
			retries.Value, retries.From = strconv.Itoa(*a.Retries), instead(t, retries)
		}
	}
	return slices.DeleteFunc([]Limit{timeout, retries}, func(l Limit) bool { return l.Value == "" })
}

// started is the trigger that started the attempt, and how; nil for a job alone.
func (n Node) started() (*engine.Trigger, *engine.Action) {
	t := n.View.Run.Body.Trigger(n.Attempt.By)
	if t == nil {
		return nil, nil
	}
	i := slices.IndexFunc(t.Actions, func(a engine.Action) bool { return a.Ref == n.Ref })
	if i < 0 {
		return t, nil
	}
	return t, &t.Actions[i]
}

// instead says that the trigger has set a limit over own.
func instead(t *engine.Trigger, own Limit) string {
	if own.Value == "" {
		return "set by the trigger " + t.Name
	}
	return fmt.Sprintf("set by the trigger %s, instead of %s", t.Name, own.Value)
}

func minutes(m engine.Minutes) string { return fmt.Sprintf("%d min", m) }
