package exec

import (
	"context"
	"fmt"
	"time"

	"dogear/engine"
)

// patience is how long a node may be between two states without being looked
// after: between a commit and what follows from it lie moments.
const patience = time.Minute

// Checks looks whether this server looks after everything that is open at now.
func (e *Exec) Checks(ctx context.Context, now time.Time) ([]engine.Check, error) {
	open, err := e.Store.OpenNodes(ctx)
	if err != nil {
		return nil, err
	}
	others, err := e.others(ctx)
	if err != nil {
		return nil, err
	}
	tended := engine.Check{ID: "I10", Rule: "Every node that is open is worked on or waits its turn."}
	stopping := engine.Check{ID: "I11", Rule: "A node that is told to stop has ended within a minute."}
	e.mu.Lock()
	waits := map[engine.NodeKey]bool{}
	for i := range e.waiting {
		waits[e.waiting[i].Key()] = true
	}
	busy := len(e.working) + len(e.adopting)
	for i := range open {
		n := &open[i]
		old := now.Sub(latest(n)) > patience
		works := e.working[n.Key()] != nil || e.adopting[n.Key()] || others[n.Owner]
		later := !n.NotBefore.IsZero() && n.NotBefore.After(now)
		if old && !works && !waits[n.Key()] && !later {
			tended.Broken = append(tended.Broken, engine.Broken{Run: n.Run, What: fmt.Sprintf("%s is %s and nobody works on it", n.Name, n.State)})
		}
	}
	e.mu.Unlock()
	for i := range open {
		if n := &open[i]; n.State == engine.Stopping {
			asked, err := e.stopAsked(ctx, n)
			if err != nil {
				return nil, err
			}
			if now.Sub(asked) > patience {
				stopping.Broken = append(stopping.Broken, engine.Broken{Run: n.Run, What: fmt.Sprintf("%s has been stopping since %s", n.Name, asked.Format(time.TimeOnly))})
			}
		}
	}
	strays, err := e.strays(ctx, now)
	return append([]engine.Check{e.slotCheck(busy), tended, stopping}, strays...), err
}

// stopAsked is when an attempt was told to stop, alone or with its run: the first
// time, for whoever takes it up after that says it again.
func (e *Exec) stopAsked(ctx context.Context, n *engine.NodeRun) (time.Time, error) {
	events, err := e.Store.Events(ctx, n.Run, 0)
	for i := range events {
		of := &events[i]
		if of.State == string(engine.Stopping) && of.Card == n.Ref.String() && of.Start == n.Start && of.Attempt == n.Attempt {
			return of.At, nil
		}
	}
	return time.Time{}, err
}

// others are the other servers whose lease holds.
func (e *Exec) others(ctx context.Context) (map[engine.ID]bool, error) {
	all, err := e.Store.Replicas(ctx)
	if err != nil {
		return nil, err
	}
	alive := map[engine.ID]bool{}
	for i := range all {
		alive[all[i].ID] = all[i].Alive() && all[i].ID != e.id()
	}
	return alive, nil
}

// latest is when something last happened to a node.
func latest(n *engine.NodeRun) time.Time {
	if n.Started.After(n.ReadyAt) {
		return n.Started
	}
	return n.ReadyAt
}

// slotCheck compares the slots that are taken with the work there is. An
// attempt gives its slot back just after it has left the list, so more of them
// break the rule only where they stay.
func (e *Exec) slotCheck(busy int) engine.Check {
	check := engine.Check{ID: "I5", Rule: "As many slots are taken as there is work."}
	e.slots.mu.Lock()
	defer e.slots.mu.Unlock()
	taken := e.Slots - e.slots.free
	if taken == busy {
		e.slots.uneven = 0
		return check
	}
	if e.slots.uneven++; e.slots.uneven > 1 {
		check.Broken = []engine.Broken{{What: fmt.Sprintf("%d slots are taken and %d attempts work", taken, busy)}}
	}
	return check
}
