package health

import (
	"testing"
	"time"

	"dogear/engine"
)

// TestAListenerIsNotSaidToListenBeforeItHasLooked: nobody knows whether it can, until
// the place was looked through.
func TestAListenerIsNotSaidToListenBeforeItHasLooked(t *testing.T) {
	t.Parallel()
	files := engine.EventRule{Source: engine.EventFiles}
	for want, trigger := range map[string]engine.EventTrigger{
		"Listens, not yet":                         {Active: true}, // it is called, and has nowhere to look
		"Looks for the first time, not yet":        {Active: true, Rule: files},
		"The last look failed, none has succeeded": {Active: true, Rule: files, Trouble: "/in does not exist."},
		"Off, not yet":                             {Rule: files, Trouble: "/in does not exist."},
	} {
		l := Listener{EventTrigger: trigger}

		if got := l.state().Word + ", " + l.unseen(); got != want {
			t.Errorf("%+v: got %q, want %q", trigger, got, want)
		}
	}
	l := Listener{EventTrigger: engine.EventTrigger{Active: true, Rule: files, Looked: time.Now()}}
	if got := l.state().Word; got != "Listens" {
		t.Errorf("after a look it says %q, want that it listens", got)
	}
}
