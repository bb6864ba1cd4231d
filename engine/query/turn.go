package query

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// atOnce is how many queries have a worker at once: each may take all
// processors and a GB of memory, which jobs need as well.
const atOnce = 2

// turns are the places of queries. The zero value is ready.
type turns struct {
	once sync.Once
	free chan struct{}
}

// take waits for a place until ctx ends. release gives it back.
func (t *turns) take(ctx context.Context) (release func(), waited bool, err error) {
	t.once.Do(func() { t.free = make(chan struct{}, atOnce) })
	release = func() { <-t.free }
	select {
	case t.free <- struct{}{}:
		return release, false, nil
	default:
	}
	select {
	case t.free <- struct{}{}:
		return release, true, nil
	case <-ctx.Done():
		return nil, true, context.Cause(ctx)
	}
}

// queued runs a request when it is its turn. Its time counts from then.
func (s *Service) queued(ctx context.Context, build request) (answer, error) {
	began := time.Now()
	release, waited, err := s.turns.take(ctx)
	if err != nil {
		return answer{}, err
	}
	defer release()
	waiting := time.Since(began)
	result, err := s.do(ctx, build)
	if waited {
		result.notices = append(result.notices, fmt.Sprintf("It waited %s for its turn: %d queries run at once.", waiting.Round(100*time.Millisecond), atOnce))
	}
	return result, err
}
