package exec

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestWhoAskTogetherAreAnsweredByOneLook, and nobody by one that began before he
// asked.
func TestWhoAskTogetherAreAnsweredByOneLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := newTogether[string, time.Time]()
		var mu sync.Mutex
		looks := 0
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Second) // a look takes 30
				when := time.Now()
				saw, err := asked.ask("w", func() (time.Time, error) {
					mu.Lock()
					looks++
					mu.Unlock()
					at := time.Now()
					time.Sleep(30 * time.Second)
					return at, nil
				})
				if err != nil || saw.Before(when) {
					t.Errorf("asked at %s, answered with what was so at %s (%v)", when, saw, err)
				}
			})
		}
		all.Wait()
		if looks != 5 { // at 0, 30, 60, 90 and 120 s
			t.Errorf("%d looks, want 5", looks)
		}
	})
}

func TestALookThatFailsFailsForThoseWhoWaitedForIt(t *testing.T) {
	t.Parallel()
	asked := newTogether[string, int]()
	broken := errors.New("the line broke")

	_, first := asked.ask("w", func() (int, error) { return 0, broken })
	second, err := asked.ask("w", func() (int, error) { return 2, nil })

	if !errors.Is(first, broken) || second != 2 || err != nil {
		t.Errorf("answered %v, then %d and %v; want the error, then 2", first, second, err)
	}
}
