package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestHowMuchMayLieAbout(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		since time.Duration
		live  uint64
		want  int
	}{
		"an idle process":                {2 * time.Minute, 8 << 20, normal},
		"a busy small one":               {10 * time.Millisecond, 16 << 20, 800},
		"a busy one, hardly anything":    {10 * time.Millisecond, 1 << 20, most},
		"a busy one with as much":        {10 * time.Millisecond, 128 << 20, normal},
		"a busy large one":               {10 * time.Millisecond, 4 << 30, normal},
		"before the first collection":    {10 * time.Millisecond, 0, normal},
		"at the edge of being busy":      {quick, 32 << 20, 400},
		"just over the edge":             {quick + 1, 32 << 20, normal},
		"a clock that has been put back": {-time.Hour, 64 << 20, 200},
	} {
		if got := percent(tt.since, tt.live); got != tt.want {
			t.Errorf("%s: %d per cent, want %d", name, got, tt.want)
		}
	}
}

// TestEachCollectionIsFollowed: by a new share, and by the watch for the next.
func TestEachCollectionIsFollowed(t *testing.T) { //nolint:paralleltest // the share is that of the process
	before := debug.SetGCPercent(normal)
	defer debug.SetGCPercent(before)
	if live() == 0 {
		runtime.GC()
	}
	if live() == 0 {
		t.Fatal("it is not known how much lives")
	}
	Tune()
	for range 3 {
		debug.SetGCPercent(normal)
		for end := time.Now().Add(10 * time.Second); share() == normal; runtime.GC() {
			if time.Now().After(end) {
				t.Fatal("collections one after the other change nothing")
			}
		}
	}
}

// share is what is set now.
func share() int {
	now := debug.SetGCPercent(normal)
	debug.SetGCPercent(now)
	return now
}
