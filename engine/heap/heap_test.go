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
		since     time.Duration
		allocated uint64
		live      uint64
		want      int
	}{
		"an idle process":                         {2 * time.Minute, 1 << 20, 8 << 20, normal},
		"a busy one: as much as in that time":     {25 * time.Millisecond, 8 << 20, 16 << 20, 500},
		"a very busy one":                         {10 * time.Millisecond, 64 << 20, 16 << 20, 800},
		"a busy one, where hardly anything lives": {10 * time.Millisecond, 64 << 20, 1 << 20, limit},
		"one that has little to do":               {500 * time.Millisecond, 16 << 20, 16 << 20, normal},
		"a busy one with as much":                 {10 * time.Millisecond, 64 << 20, 128 << 20, normal},
		"a busy large one":                        {10 * time.Millisecond, 64 << 20, 4 << 30, normal},
		"before the first collection":             {10 * time.Millisecond, 64 << 20, 0, normal},
		"at the edge of being busy":               {quick, 1 << 30, 32 << 20, 400},
		"just over the edge":                      {quick + 1, 1 << 30, 32 << 20, normal},
		"a clock that has been put back":          {-time.Hour, 64 << 20, 64 << 20, normal},
	} {
		if got := percent(tt.since, tt.allocated, tt.live); got != tt.want {
			t.Errorf("%s: %d per cent, want %d", name, got, tt.want)
		}
	}
}

// TestEachCollectionIsFollowed: by a new share, and by the watch for the next.
func TestEachCollectionIsFollowed(t *testing.T) { //nolint:paralleltest // the share is that of the process
	before := debug.SetGCPercent(normal)
	defer debug.SetGCPercent(before)
	runtime.GC()
	if is := used(); is.live == 0 || is.all < is.live {
		t.Fatalf("of all %d bytes %d live", is.all, is.live)
	}
	Tune()
	for range 3 {
		debug.SetGCPercent(normal)
		for end := time.Now().Add(10 * time.Second); share() == normal; runtime.GC() {
			garbage = make([]byte, 1<<20)
			if time.Now().After(end) {
				t.Fatal("collections one after the other change nothing")
			}
		}
	}
}

// garbage is what a busy process leaves.
var garbage []byte

// share is what is set now.
func share() int {
	now := debug.SetGCPercent(normal)
	debug.SetGCPercent(now)
	return now
}
