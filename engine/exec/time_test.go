package exec

import (
	"testing"
	"time"

	"dogear/engine"
)

// TestRetriesComeLaterEachTime: never before the job's delay, twice as late with
// each attempt, never more than twice the longest, and not all at once.
func TestRetriesComeLaterEachTime(t *testing.T) {
	t.Parallel()
	tests := []struct {
		delay       engine.Seconds
		n           int
		least, most time.Duration
	}{
		{0, 1, time.Second, 2 * time.Second},
		{0, 3, 4 * time.Second, 8 * time.Second},
		{0, 100, 5 * time.Minute, 10 * time.Minute},
		{30, 1, 30 * time.Second, time.Minute},
		{30, 2, time.Minute, 2 * time.Minute},
		{3600, 4, time.Hour, 2 * time.Hour},
	}
	for _, tt := range tests {
		seen := map[time.Duration]bool{}
		for range 100 {
			got := retryAfter(&engine.JobBody{RetryDelay: tt.delay}, tt.n)
			if got < tt.least || got >= tt.most {
				t.Fatalf("after attempt %d with a delay of %d s: %s, want %s to %s", tt.n, tt.delay, got, tt.least, tt.most)
			}
			seen[got] = true
		}
		if len(seen) < 50 {
			t.Errorf("after attempt %d: %d different times of 100, want them spread", tt.n, len(seen))
		}
	}
}
