package exec

import (
	"errors"
	"sync"
)

// together answers all who ask for the same thing at once with one look. Who asks
// while a look is under way waits for the next one: what that one sees may be older
// than the question.
type together[K comparable, V any] struct {
	mu            sync.Mutex
	begun, awaits map[K]*look[V]
}

// look is one answer, there once done is closed.
type look[V any] struct {
	done  chan struct{}
	value V
	err   error
}

func newTogether[K comparable, V any]() *together[K, V] {
	return &together[K, V]{begun: map[K]*look[V]{}, awaits: map[K]*look[V]{}}
}

// ask returns what a look finds that began after the call.
func (t *together[K, V]) ask(key K, find func() (V, error)) (V, error) {
	t.mu.Lock()
	if l := t.awaits[key]; l != nil {
		t.mu.Unlock()
		<-l.done
		return l.value, l.err
	}
	mine, before := &look[V]{done: make(chan struct{}), err: errors.New("a look broke off")}, t.begun[key]
	t.awaits[key] = mine
	t.mu.Unlock()
	if before != nil {
		<-before.done
	}
	t.mu.Lock()
	delete(t.awaits, key)
	t.begun[key] = mine
	t.mu.Unlock()
	defer t.end(key, mine)
	mine.value, mine.err = find()
	return mine.value, mine.err
}

func (t *together[K, V]) end(key K, l *look[V]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun[key] == l {
		delete(t.begun, key)
	}
	close(l.done)
}
