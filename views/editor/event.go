package editor

import (
	"cmp"
	"fmt"
	"strings"

	"dogear/engine"
	"dogear/views/form"
	"dogear/views/show"
)

// Events is what the panel of an event trigger shows beside its form.
type Events struct {
	State     *engine.EventTrigger  // as it was published; nil before that
	Recent    []engine.TriggerEvent // newest first
	Address   string                // of its calls
	HasSecret bool
	Secret    string // just made: it is shown this once
}

var eventSources = []form.Choice{
	{string(engine.EventFiles), "Files that arrive"},
	{string(engine.EventCalls), "Signed calls over HTTP"},
}

// sourceOf is the source of a rule, with its default written out.
func sourceOf(r engine.EventRule) string { return string(cmp.Or(r.Source, engine.EventCalls)) }

// seenEvent are the fields of a rule as the person saw them.
func seenEvent(r engine.EventRule) []pair {
	return []pair{
		{"seen.event.source", sourceOf(r)},
		{"seen.event.size", form.Number(r.Size)},
		{"seen.event.window", form.Number(r.Window)},
		{"seen.event.path", r.Path},
		{"seen.event.connection", string(r.Connection)},
		{"seen.event.queue", r.Queue},
		{"seen.event.every", form.Number(r.Every)},
		{"seen.event.settle", form.Number(r.Settle)},
	}
}

// waits says what waits and for what.
func (e *Events) waits() string {
	t := e.State
	switch {
	case t == nil:
		return "It takes events once the workflow is published."
	case !t.Active && t.Waiting > 0:
		return "Off: it takes no events. " + show.Many(int64(t.Waiting), "event") + " that came before will wait until it takes them again."
	case !t.Active:
		return "Off: it takes no events."
	case t.Waiting == 0 && t.Rule.Source == engine.EventFiles && t.Based.IsZero():
		return "It has not looked yet. What lies there already starts nothing."
	case t.Waiting == 0:
		return "Nothing waits."
	case t.Held != "":
		return show.Many(int64(t.Waiting), "event") + " waiting, because a run cannot start now. " + t.Held
	case t.Rule.Size > 1:
		return fmt.Sprintf("%d of %d waiting.", t.Waiting, t.Rule.Size)
	}
	return show.Many(int64(t.Waiting), "event") + " waiting."
}

// drivenWords says what drives an event trigger, and what its switch does.
func drivenWords(t *engine.Trigger) string {
	if t.Event.Source == engine.EventFiles {
		return "Events drive it, from the moment it is published. While it is off, files that arrive start nothing, then or later; what waits already is kept."
	}
	return "Events drive it, from the moment it is published. While it is off, every call is refused; what waits already is kept."
}

// held reports whether a complete batch has to wait.
func (e *Events) held() bool { return e.State != nil && e.State.Waiting > 0 && e.State.Held != "" }

// confirm asks before a secret that is in use stops to count.
func (e *Events) confirm() string {
	if e.HasSecret {
		return "Make a new secret? Senders that use the old one are refused from now on."
	}
	return ""
}

// curl is a line for a shell that signs and sends an event.
func (e *Events) curl() string {
	return strings.Join([]string{
		"secret='" + cmp.Or(e.Secret, "whsec_...") + "'",
		`body='{"hello": "world"}'`,
		`id=$(openssl rand -hex 8) at=$(date +%s)`,
		`key=$(printf %s "${secret#whsec_}" | base64 -d)`,
		`sign=$(printf '%s.%s.%s' "$id" "$at" "$body" | openssl dgst -sha256 -hmac "$key" -binary | base64)`,
		"curl -sS '" + e.Address + `' -H 'content-type: application/json' \`,
		`  -H "webhook-id: $id" -H "webhook-timestamp: $at" -H "webhook-signature: v1,$sign" --data-raw "$body"`,
	}, "\n")
}
