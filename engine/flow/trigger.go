package flow

import (
	"slices"
	"time"

	"dogear/engine"
	"dogear/engine/graph"
)

// follow lets the watchers of an ended node know. Each condition counts once:
// it is met by the first start of its node that ends so, and can no longer be
// when the last one has ended otherwise.
func (s *step) follow(node engine.NodeRun) {
	if s.g == nil {
		return
	}
	for _, w := range s.g.Watchers(node.Ref) {
		t := s.trigger(w.Trigger)
		if t.Decided() || s.metBefore(w.Condition, node) {
			continue
		}
		switch {
		case w.Condition.Meets(node.As()):
			t.Met++
		case !s.mayComeAgain(node.Ref):
			t.Dead++
		default:
			continue
		}
		s.set(t)
		s.weigh(w.Trigger)
	}
}

// metBefore reports whether another start of the node has met a condition.
func (s *step) metBefore(c engine.Condition, node engine.NodeRun) bool {
	return slices.ContainsFunc(s.lasts(node.Ref), func(n engine.NodeRun) bool {
		return n.Start != node.Start && c.Meets(n.As())
	})
}

// lasts are the last attempts of each start of ref.
func (s *step) lasts(ref engine.Ref) []engine.NodeRun {
	var lasts []engine.NodeRun
	for _, n := range s.runs(ref) {
		lasts = withLast(lasts, n)
	}
	return lasts
}

// withLast is lasts with n, which is of the same node, where n is the last attempt
// of its start so far.
func withLast(lasts []engine.NodeRun, n engine.NodeRun) []engine.NodeRun {
	i := slices.IndexFunc(lasts, func(l engine.NodeRun) bool { return l.Start == n.Start })
	switch {
	case i < 0:
		return append(lasts, n)
	case n.Attempt > lasts[i].Attempt:
		lasts[i] = n
	}
	return lasts
}

// lose notes that a condition can no longer be met, if it was not.
func (s *step) lose(w graph.Watch) {
	t := s.trigger(w.Trigger)
	met := func(n engine.NodeRun) bool { return w.Condition.Meets(n.As()) }
	if t.Decided() || slices.ContainsFunc(s.lasts(w.Condition.Ref), met) {
		return
	}
	t.Dead++
	s.set(t)
	s.weigh(w.Trigger)
}

// weigh fires a trigger whose predicate is met and kills one whose predicate
// can no longer be.
func (s *step) weigh(id engine.ID) {
	t, predicate := s.trigger(id), s.g.Trigger(id).Predicate
	all := len(predicate.Conditions)
	if predicate.Logic == engine.Any {
		switch {
		case t.Met > 0:
			s.fire(id)
		case t.Dead == all:
			s.kill(id)
		}
		return
	}
	switch {
	case t.Met == all:
		s.fire(id)
	case t.Dead > 0:
		s.kill(id)
	}
}

// fire starts everything that a trigger starts, but for what a person has told not
// to run: that is skipped now. A run that is being stopped fires nothing.
func (s *step) fire(id engine.ID) {
	if !s.w.Run.StopAsked.IsZero() {
		return
	}
	t := s.trigger(id)
	t.FiredAt = s.now
	s.set(t)
	s.event(engine.Event{Kind: "trigger", Card: string(id), State: "fired"})
	var over []engine.NodeRun
	for _, action := range s.g.Actions(id) {
		head := s.st.Head(action.Ref)
		node := engine.NodeRun{
			Run: s.w.Run.ID, Ref: action.Ref, Name: head.Name, Start: s.starts(action.Ref) + 1, Attempt: 1,
			By: id, State: engine.Ready, Lane: head.Lane, Arguments: s.filled(action.Arguments), ReadyAt: s.now,
		}
		if _, told := s.w.Run.Skips[action.Ref.String()]; told {
			s.overlay(node) // it ends below, when all that starts here is known
			over = append(over, node)
			continue
		}
		s.add(node)
	}
	for _, node := range over {
		s.follow(s.passOver(node, s.w.Run.Skips[node.Ref.String()]))
	}
}

// passOver writes that node, which has its turn, is skipped because a person said so.
func (s *step) passOver(node engine.NodeRun, why string) engine.NodeRun {
	node.State, node.Why, node.Ended = engine.Skipped, why, s.now
	s.change(node, why)
	return node
}

// filled are the arguments of a start with their placeholders filled in, in the
// zone of the schedule that started the run.
func (s *step) filled(arguments map[string]string) map[string]string {
	if !engine.HasPlaceholder(arguments) {
		return arguments
	}
	zone := time.UTC
	if start := s.g.Trigger(s.w.Run.Trigger); start != nil {
		if known, err := time.LoadLocation(start.Zone); err == nil { // else the start was refused
			zone = known
		}
	}
	return engine.FillArguments(arguments, engine.Moment{Run: s.w.Run.ID, Started: s.w.Run.Started, Due: s.w.Run.Due, Zone: zone})
}

// kill notes that a trigger can no longer fire; what only it could have
// started is skipped, and so on down.
func (s *step) kill(id engine.ID) {
	t := s.trigger(id)
	if t.Decided() {
		return
	}
	t.DeadAt = s.now
	s.set(t)
	for _, action := range s.g.Actions(id) {
		s.settle(action.Ref)
	}
}

// settle is told that a starter of ref can no longer fire. If that was the last
// one, nothing more comes of ref, and its watchers are told: this is the one
// moment at which that becomes so.
func (s *step) settle(ref engine.Ref) {
	if s.mayComeAgain(ref) || s.skip(ref) {
		return
	}
	for _, w := range s.g.Watchers(ref) {
		s.lose(w)
	}
}

func (s *step) trigger(id engine.ID) engine.TriggerRun {
	if t, ok := s.triggers[id]; ok {
		return t
	}
	t := s.st.TriggerRun(id)
	t.Run, t.Trigger = s.w.Run.ID, id // there may be nothing of it yet
	if !t.Decided() && s.byNodes(id) {
		t.FiredAt = s.firedAt(id)
	}
	s.triggers[id] = t
	return t
}

// byNodes reports whether a trigger that fires is not written, for what it starts
// says so: most triggers wait for one node, and would be one more row of every
// step. A run that goes on from another begins with triggers that have fired there
// and with nodes of them that are done again, so it writes them all.
func (s *step) byNodes(id engine.ID) bool {
	return s.w.Run.Previous == "" && len(s.g.Actions(id)) > 0
}

// firedAt is when a trigger started what it starts, zero where it did not.
func (s *step) firedAt(id engine.ID) time.Time {
	for _, n := range s.runs(s.g.Actions(id)[0].Ref) {
		if n.By == id {
			return n.ReadyAt // of the first attempt: they are in their order
		}
	}
	return time.Time{}
}

// set keeps a trigger as it is from now on.
func (s *step) set(t engine.TriggerRun) {
	s.triggers[t.Trigger] = t
	s.written[t.Trigger] = true
}
