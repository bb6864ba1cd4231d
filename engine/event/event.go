// Package event carries what happens to those who watch, inside one process.
// Nobody who publishes ever waits for somebody who reads.
package event

import (
	"context"
	"sync"
)

// queueLen is how many messages a reader may lag behind before it has to look
// at the whole again. A busy run makes some hundred messages a second.
const queueLen = 512

// Message is one thing that happened to a topic, such as "run:ID".
type Message struct {
	Topic string
	// Seq is dense within the topic; 0 marks a message of a topic that has no
	// order, such as "changed:runs".
	Seq int64
	// Body must not change after it was published. Nil says that the message is
	// known by its number only: who wants it has to look at the whole.
	Body any

	once func(first func() any) any
}

// Once is what the first reader of a message makes of it, so that a thousand
// who write the same to their clients do not each make it anew. All readers of
// a hub must make the same kind of thing.
func (m Message) Once(first func() any) any { return m.once(first) }

// once remembers the answer of the first function that it is given.
func once() func(func() any) any {
	var made any
	var done sync.Once
	return func(first func() any) any {
		done.Do(func() { made = first() })
		return made
	}
}

// Hub knows who watches what. The zero value is not ready; use New.
type Hub struct {
	mu     sync.Mutex
	topics map[string]map[*Reader]struct{}
}

// New returns a hub that nobody watches.
func New() *Hub { return &Hub{topics: map[string]map[*Reader]struct{}{}} }

// Publish hands a message to everyone who watches topic. It never blocks: a
// reader whose queue is full loses what it has and is told of the gap.
func (h *Hub) Publish(topic string, seq int64, body any) {
	h.mu.Lock()
	readers := make([]*Reader, 0, len(h.topics[topic]))
	for r := range h.topics[topic] {
		readers = append(readers, r)
	}
	h.mu.Unlock()

	message := Message{Topic: topic, Seq: seq, Body: body, once: once()}
	for _, r := range readers {
		r.push(message)
	}
}

// Missed tells every reader that messages of any topic may have been lost.
func (h *Hub) Missed() {
	h.mu.Lock()
	readers := map[*Reader]struct{}{}
	for _, of := range h.topics {
		for r := range of {
			readers[r] = struct{}{}
		}
	}
	h.mu.Unlock()
	for r := range readers {
		r.miss()
	}
}

// Reader returns one who watches nothing yet. Close it when it is done.
func (h *Hub) Reader() *Reader {
	return &Reader{hub: h, wake: make(chan struct{}, 1), topics: map[string]struct{}{}}
}

// Reader collects the messages of the topics it watches.
type Reader struct {
	hub  *Hub
	wake chan struct{}

	mu     sync.Mutex
	topics map[string]struct{}
	queue  []Message
	gap    bool
}

// Batch is what came since the last one.
type Batch struct {
	Messages []Message
	// Gaps are topics of which messages were lost: the reader has to look at
	// the whole again.
	Gaps []string
}

// Watch adds topic. What is published after it returns will be seen.
func (r *Reader) Watch(topic string) {
	r.mu.Lock()
	r.topics[topic] = struct{}{}
	r.mu.Unlock()

	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	if r.hub.topics[topic] == nil {
		r.hub.topics[topic] = map[*Reader]struct{}{}
	}
	r.hub.topics[topic][r] = struct{}{}
}

// Watching counts the topics of r.
func (r *Reader) Watching() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.topics)
}

// Close forgets every topic.
func (r *Reader) Close() {
	r.mu.Lock()
	topics := r.topics
	r.topics, r.queue, r.gap = map[string]struct{}{}, nil, false
	r.mu.Unlock()

	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	for topic := range topics {
		delete(r.hub.topics[topic], r)
		if len(r.hub.topics[topic]) == 0 {
			delete(r.hub.topics, topic)
		}
	}
}

// Next waits until there is something to read, or until ctx ends.
func (r *Reader) Next(ctx context.Context) (Batch, error) {
	for {
		if batch := r.Take(); len(batch.Messages)+len(batch.Gaps) > 0 {
			return batch, nil
		}
		select {
		case <-ctx.Done():
			return Batch{}, context.Cause(ctx)
		case <-r.wake:
		}
	}
}

// Ready has a token when there may be something to take, for those who wait
// for other things, too.
func (r *Reader) Ready() <-chan struct{} { return r.wake }

// Take returns what came since the last batch, which may be nothing.
func (r *Reader) Take() Batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	batch := Batch{Messages: r.queue}
	if r.gap {
		for topic := range r.topics {
			batch.Gaps = append(batch.Gaps, topic)
		}
	}
	r.queue, r.gap = nil, false
	return batch
}

// miss makes r look at the whole of all it watches.
func (r *Reader) miss() {
	r.mu.Lock()
	r.queue, r.gap = nil, true
	r.mu.Unlock()
	r.rouse()
}

// push queues m. After an overflow nothing is queued until the reader has
// learned of the gap, for it has to look at the whole anyway.
func (r *Reader) push(m Message) {
	r.mu.Lock()
	switch {
	case r.gap:
	case len(r.queue) == queueLen:
		r.queue, r.gap = nil, true
	default:
		r.queue = append(r.queue, m)
	}
	r.mu.Unlock()
	r.rouse()
}

func (r *Reader) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}
