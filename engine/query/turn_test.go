package query

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestTwoQueriesRunAtOnce and the third waits, until one has ended or it is
// given up.
func TestTwoQueriesRunAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all turns
		var ends [atOnce]func()
		for i := range ends {
			release, waited, err := all.take(t.Context())
			if err != nil || waited {
				t.Fatalf("query %d: got %v, waited %v, want its turn at once", i, err, waited)
			}
			ends[i] = release
		}
		givenUp, cancel := context.WithCancel(t.Context())
		third := make(chan error, 1)
		go func() {
			_, _, err := all.take(givenUp)
			third <- err
		}()
		cancel()
		if err := <-third; !errors.Is(err, context.Canceled) {
			t.Errorf("the one that was given up: got %v, want that it was", err)
		}
		go func() {
			time.Sleep(time.Minute)
			ends[0]()
		}()
		began := time.Now()

		release, waited, err := all.take(t.Context())

		if err != nil || !waited || time.Since(began) != time.Minute {
			t.Errorf("the next: got %v, waited %v for %s, want its turn after a minute", err, waited, time.Since(began))
		}
		release()
		ends[1]()
		if len(all.free) != 0 {
			t.Errorf("%d places are still taken", len(all.free))
		}
	})
}
