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

// barsAtOnce is how many attempts the timeline shows before it is asked for more:
// several times what is seen of it without scrolling.
const barsAtOnce = 60

// pace is when the timeline of a run under way is drawn again: as the run moves
// on, and where that is many bars at a time, every few seconds.
func (v View) pace() string {
	if len(v.Nodes) > barsAtOnce {
		return "every 3s"
	}
	return "dogear:run-changed from:body, every 5s"
}

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
	begun             time.Time // zero where it was not taken up
	stretch           stretch
	wait, left, width float64
	critical          bool
}

// stretch is the time of one attempt: until turn it waited, from then on a server
// worked on it, also where that was finding out what there is to read.
type stretch struct{ ready, turn, ended time.Time }

// soon is a time that is no tenth of a second.
const soon = 50 * time.Millisecond

// waited reports whether there is a wait to be seen: one of no time has no bar.
func (s *span) waited() bool { return s.stretch.turn.Sub(s.stretch.ready) >= soon }

// stretch is the time of n. One that was never taken up waits to its end, and one
// that has not ended goes on until now.
func (v View) stretch(n engine.NodeRun) stretch {
	s := stretch{ready: n.ReadyAt, ended: cmp.Or(n.Ended, v.end())}
	s.turn = cmp.Or(v.begun(n), s.ended)
	s.ready = cmp.Or(s.ready, s.turn)
	return s
}

// begun is when a server took n up; zero where it waits, or ended so.
func (v View) begun(n engine.NodeRun) time.Time {
	if n.State == engine.Ready { // an earlier server that took it up is gone
		return time.Time{}
	}
	return cmp.Or(v.Claims[n.Key()], n.Started)
}

// end is when the run ended, and now while it goes on.
func (v View) end() time.Time { return cmp.Or(v.Run.Ended, v.Now) }

// timed reports a node run that has a time of its own in this run.
func timed(n *engine.NodeRun) bool {
	return n.State != engine.Skipped && n.Copied == "" && !(n.ReadyAt.IsZero() && n.Started.IsZero())
}

// spans are the bars of all attempts in the order they began; those that wait
// still come last.
func (v View) spans() []span {
	total := max(v.end().Sub(v.Run.Started), time.Millisecond)
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
		if !timed(&n) {
			continue
		}
		t := v.stretch(n)
		s := span{
			node: n, name: n.Name, href: nodeHref(n, ""), begun: v.begun(n), stretch: t, critical: critical[n.Key()],
			wait: share(t.ready), left: share(t.turn), width: max(share(t.ended)-share(t.turn), 0),
		}
		if retried[firstOf(&n)] {
			s.name += " · " + strconv.Itoa(n.Attempt)
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b span) int {
		return cmp.Or(a.stretch.turn.Compare(b.stretch.turn), a.stretch.ready.Compare(b.stretch.ready), cmp.Compare(a.name, b.name))
	})
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

// critical is the chain of attempts that decided how long a run took: from the
// last end back through what each one waited for. While a run goes on it has none,
// since what comes may change it.
func (v View) critical() map[engine.NodeKey]bool {
	path := map[engine.NodeKey]bool{}
	if v.Run.Open() {
		return path
	}
	at := v.lastEnd(func(*engine.NodeRun) bool { return true })
	for at != nil && !path[at.Key()] {
		path[at.Key()] = true
		at = v.before(at)
	}
	return path
}

// before is the attempt whose end made node ready; nil where the run began with it.
func (v View) before(node *engine.NodeRun) *engine.NodeRun {
	earlier := v.lastEnd(func(n *engine.NodeRun) bool {
		return n.Ref == node.Ref && n.Start == node.Start && n.Attempt == node.Attempt-1
	})
	trigger := v.Run.Body.Trigger(node.By)
	if earlier != nil || trigger == nil {
		return earlier
	}
	return v.lastEnd(func(n *engine.NodeRun) bool {
		return n.State.Done() && !n.Ended.After(node.ReadyAt) && slices.ContainsFunc(trigger.Predicate.Conditions, func(c engine.Condition) bool {
			return c.Ref == n.Ref && c.Meets(n.As())
		})
	})
}

// lastEnd is the attempt of those that ended last.
func (v View) lastEnd(among func(*engine.NodeRun) bool) *engine.NodeRun {
	var last *engine.NodeRun
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if timed(n) && among(n) && (last == nil || last.Ended.Before(n.Ended)) {
			last = n
		}
	}
	return last
}

// criticalText says how long the critical path was, how much of that nothing
// worked, and what took most of it.
func (v View) criticalText() string {
	path := v.critical()
	var total, waited, most time.Duration
	name := ""
	for _, n := range v.Nodes {
		if !path[n.Key()] {
			continue
		}
		t := v.stretch(n)
		d := t.ended.Sub(t.ready)
		total += d
		waited += t.turn.Sub(t.ready)
		if d > most {
			most, name = d, n.Name
		}
	}
	if total <= 0 {
		return ""
	}
	text := "critical path " + show.Length(total)
	if waited >= soon {
		text += ", of which waiting " + show.Length(waited)
	}
	return text + fmt.Sprintf(" · %d %% of it in %s", 100*most/total, name)
}
