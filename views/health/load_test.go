package health

import (
	"testing"

	"dogear/engine"
)

// TestAListenerThatCannotLookIsCounted: the tile above the list does not say that
// all is well with what the list calls failed.
func TestAListenerThatCannotLookIsCounted(t *testing.T) {
	t.Parallel()
	works := Listener{EventTrigger: engine.EventTrigger{Active: true}}
	deaf := Listener{EventTrigger: engine.EventTrigger{Active: true, Trouble: "The queue cannot be read."}}
	off := Listener{EventTrigger: engine.EventTrigger{Trouble: "The queue cannot be read."}}

	if got := listenWords(Busy{Listeners: []Listener{works, deaf, off}}); got != "listening, 1 off; the last look of 1 failed." {
		t.Errorf("got %q", got)
	}
	if got := listenWords(Busy{Listeners: []Listener{works}}); got != "listening." {
		t.Errorf("got %q", got)
	}
}
