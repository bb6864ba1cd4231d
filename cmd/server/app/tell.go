package app

import (
	"context"
	"encoding/json"
	"strings"

	"dogear/db"
	"dogear/engine"
	"dogear/engine/draft"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// What happens is told to the pages that this server shows, and to the other
// servers of the database for theirs.

// publish tells everyone who watches topic. A message without a number is
// known to other servers by topic and more: of several in a moment they hear
// the newest.
func (h *house) publish(topic string, seq int64, body any, more ...string) {
	h.hub.Publish(topic, seq, body)
	if !h.store.Shared() {
		return
	}
	word := db.Word{Topic: topic, Seq: seq}
	if seq == 0 {
		text, err := json.Marshal(body)
		if err != nil {
			return
		}
		word.Body, more = text, append(more, "+")
	}
	h.store.Tell(topic+" "+strings.Join(more, " "), word)
}

// clockTopic wakes what starts runs, on all servers; no page may follow it.
const clockTopic = "clock"

// wakeClocks makes schedules and event triggers look again.
func (h *house) wakeClocks() {
	h.wakeOwnClocks()
	h.store.Tell(clockTopic, db.Word{Topic: clockTopic})
}

func (h *house) wakeOwnClocks() {
	h.clock.Wake()
	h.gate.Wake()
	h.lookout.Wake()
}

// listen hears what other servers tell, until ctx ends.
func (h *house) listen(ctx context.Context) error {
	return h.store.Listen(ctx, h.heard, func() {
		h.hub.Missed()
		h.exec.Heard()
		h.wakeOwnClocks()
	})
}

func (h *house) heard(words []db.Word) {
	runs := false
	for _, w := range words {
		switch {
		case w.Topic == clockTopic:
			h.wakeOwnClocks()
			continue
		case w.Topic == db.SchemaTopic:
			h.exec.Heard()
			continue
		case w.Seq == 0:
			h.hub.Publish(w.Topic, 0, w.Body)
		default:
			h.hub.Publish(w.Topic, w.Seq, nil)
		}
		runs = runs || w.Seq > 0 && strings.HasPrefix(w.Topic, "run:")
	}
	if runs {
		h.exec.Heard()
	}
}

// committed tells open pages what a transition has changed.
func (h *house) committed(w flow.Writes) {
	topic := "run:" + string(w.Run.ID)
	for i, e := range w.Events {
		told := livelyOf(w, e)
		if i == 0 {
			told.Dead = deadOf(w)
		}
		h.publish(topic, e.Seq, told)
	}
	h.metrics.count(w)
	for _, e := range w.Events {
		if e.Kind == "run" {
			h.changed("runs", w.Run.ID)
		}
	}
	if !w.Run.Open() {
		h.wakeClocks() // a due time or a batch of events may have waited for this end
	}
	if len(w.Bookmarks) > 0 {
		h.changed("bookmarks", w.Bookmarks[0].Bookmark.ID)
	}
	if len(w.Tables) > 0 {
		h.changed("tables", "")
	}
}

// lively is an event with the figures of the node it is about and what that
// waits for, so that a card need not ask for them.
type lively struct {
	engine.Event
	Counts engine.Counts `json:"counts,omitzero"`
	Why    string        `json:"why,omitempty"`
	// Dead are the triggers that can no longer fire since this transition, with its
	// first event.
	Dead []engine.ID `json:"dead,omitempty"`
}

func deadOf(w flow.Writes) (dead []engine.ID) {
	for _, t := range w.Triggers {
		if !t.DeadAt.IsZero() {
			dead = append(dead, t.Trigger)
		}
	}
	return dead
}

func livelyOf(w flow.Writes, e engine.Event) lively {
	for i := range w.Nodes {
		if n := &w.Nodes[i]; n.Ref.String() == e.Card && n.Start == e.Start && n.Attempt == e.Attempt {
			return lively{Event: e, Counts: n.Counts, Why: n.Waits()}
		}
	}
	return lively{Event: e}
}

// changed tells open lists that something of a kind is not as it was.
func (h *house) changed(kind string, id engine.ID) {
	h.publish("changed:"+kind, 0, map[string]string{"id": string(id)})
}

// drafted tells those who edit a workflow what somebody has changed.
func (h *house) drafted(workflow engine.ID, entries []draft.Entry) {
	for _, e := range entries {
		h.publish("draft:"+string(workflow), e.Seq, e)
	}
}

// progress tells open pages how far a running node has come.
func (h *house) progress(key engine.NodeKey, p runner.Progress) {
	h.publish("run:"+string(key.Run), 0, map[string]any{"kind": "progress", "card": key.Ref.String(), "progress": p}, "progress", key.Ref.String())
}

// logged tells open pages that a log has grown.
func (h *house) logged(key engine.NodeKey) {
	h.publish("run:"+string(key.Run), 0, map[string]any{"kind": "log", "card": key.Ref.String()}, "log", key.Ref.String())
}
