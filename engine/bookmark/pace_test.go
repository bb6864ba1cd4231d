package bookmark_test

import (
	"testing"
	"time"

	"dogear/engine/bookmark"
)

func TestAnEstimateIsNeverLessThanTheShortestRun(t *testing.T) {
	t.Parallel()
	pace := bookmark.Pace{Bytes: 1000, Spent: 10 * time.Second, Shortest: 2 * time.Second}
	for bytes, want := range map[int64]time.Duration{0: 0, 10: 2 * time.Second, 500: 5 * time.Second, 4000: 40 * time.Second} {
		if got := pace.Time(bytes); got != want {
			t.Errorf("Time(%d) = %v, want %v", bytes, got, want)
		}
	}
	if got := (bookmark.Pace{}).Time(500); got != 0 {
		t.Errorf("Time without a run seen = %v, want 0", got)
	}
}
