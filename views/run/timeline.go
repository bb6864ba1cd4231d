package run

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"dogear/engine"
	"dogear/views/show"
)

// barsAtOnce is how many attempts the timeline shows before it is asked for more.
const barsAtOnce = 200

// tally counts the nodes by what people want to know of them.
type tally struct {
	hue, icon, word string
	n               int
}

func (v View) tallies() []tally {
	all := []tally{
		{"ok", "check", "done", 0},
		{"acc", "hand", "marked", 0},
		{"run", "loader-circle", "running", 0},
		{"bad", "x", "failed", 0},
		{"idle", "square", "stopped or skipped", 0},
		{"idle", "circle-dashed", "waiting", 0},
	}
	for _, ref := range v.Refs() {
		n, ok := v.newest(ref)
		i := 5
		switch {
		case !ok:
		case n.Marked():
			i = 1
		case n.State == engine.Succeeded:
			i = 0
		case show.OfState(n.State).Hue == "bad":
			i = 3
		case n.State.Done():
			i = 4
		case n.State != engine.Ready:
			i = 2
		}
		all[i].n++
	}
	return slices.DeleteFunc(all, func(t tally) bool { return t.n == 0 })
}

func (t tally) String() string { return strconv.Itoa(t.n) + " " + t.word }

// span is one bar of the timeline, in per cent of the run.
type span struct {
	node              engine.NodeRun
	name, href        string
	wait, left, width float64
	critical          bool
}

// spans are the bars of all attempts in the order they began.
func (v View) spans() []span {
	end := v.Run.Ended
	if end.IsZero() {
		end = v.Now
	}
	total := max(end.Sub(v.Run.Started), time.Millisecond)
	share := func(t time.Time) float64 {
		return min(max(100*float64(t.Sub(v.Run.Started))/float64(total), 0), 100)
	}
	critical, retried := v.critical(), map[engine.NodeKey]bool{}
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Attempt > 1 {
			retried[firstOf(n)] = true
		}
	}
	var out []span
	for _, n := range v.Nodes {
		if n.State == engine.Skipped || n.Copied != "" || n.ReadyAt.IsZero() && n.Started.IsZero() {
			continue
		}
		from, to := n.Started, n.Ended
		if from.IsZero() {
			from = end
		}
		if to.IsZero() {
			to = end
		}
		ready := cmp.Or(n.ReadyAt, from)
		s := span{
			node: n, name: n.Name, wait: share(ready), left: share(from), width: max(share(to)-share(from), 0), critical: critical[n.Key()],
			href: nodeHref(n, ""),
		}
		if retried[firstOf(&n)] {
			s.name += " · " + strconv.Itoa(n.Attempt)
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b span) int { return cmp.Compare(a.wait, b.wait) })
	return out
}

// firstOf is the key of the first attempt of the start of n.
func firstOf(n *engine.NodeRun) engine.NodeKey {
	key := n.Key()
	key.Attempt = 1
	return key
}

// bars are the spans that the timeline shows, and how many there are more.
func (v View) bars() (shown []span, more int) {
	all := v.spans()
	most := min(max(v.Bars, barsAtOnce), len(all))
	return all[:most], len(all) - most
}

// timelineHref is the address of the timeline with as many bars as v shows, and
// with more.
func (v View) timelineHref(more int) string {
	at := v.Href() + "/timeline"
	if bars := max(v.Bars, barsAtOnce) + more; bars > barsAtOnce {
		at += "?bars=" + strconv.Itoa(bars)
	}
	return at
}

// critical is the chain of attempts that decided how long the run took: from
// the last end back through what each one waited for.
func (v View) critical() map[engine.NodeKey]bool {
	path := map[engine.NodeKey]bool{}
	at := v.lastEnd(func(engine.NodeRun) bool { return true })
	for at != nil && !path[at.Key()] {
		path[at.Key()] = true
		node := *at
		at = v.lastEnd(func(n engine.NodeRun) bool { // an earlier attempt of the same start
			return n.Ref == node.Ref && n.Start == node.Start && n.Attempt == node.Attempt-1
		})
		if at != nil {
			continue
		}
		trigger := v.Run.Body.Trigger(node.By)
		if trigger == nil {
			break
		}
		at = v.lastEnd(func(n engine.NodeRun) bool {
			return n.State.Done() && slices.ContainsFunc(trigger.Predicate.Conditions, func(c engine.Condition) bool {
				return c.Ref == n.Ref && c.Meets(n.State)
			})
		})
	}
	return path
}

// lastEnd is the node of those that ended last, or still runs.
func (v View) lastEnd(among func(engine.NodeRun) bool) *engine.NodeRun {
	var last *engine.NodeRun
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.State == engine.Skipped || n.Copied != "" || n.Started.IsZero() || !among(*n) {
			continue
		}
		if last == nil || last.Ended.Before(n.Ended) && !last.Ended.IsZero() || n.Ended.IsZero() {
			last = n
		}
	}
	return last
}

// criticalText says how long the critical path was and what took most of it.
func (v View) criticalText() string {
	path := v.critical()
	var total, most time.Duration
	name := ""
	for _, n := range v.Nodes {
		if !path[n.Key()] {
			continue
		}
		d := show.Spent(n.Started, n.Ended, v.Now)
		if total += d; d > most {
			most, name = d, n.Name
		}
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("critical path %s · %d %% of it in %s", show.Length(total), 100*most/total, name)
}
