package db

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"dogear/engine"
)

// Word is what one server tells the others: that something of a topic has
// changed. It is a hint and may be lost; the truth stands in the tables.
type Word struct {
	Topic string `json:"t"`
	// Seq is the number of the newest message of the topic, 0 where it has none.
	Seq int64 `json:"s,omitempty"`
	// Body is of a message without a number, which stands nowhere else.
	Body json.RawMessage `json:"b,omitempty"`
}

// words are those that wait to be told. They go out together, at most once in
// tellEvery and never inside a transaction: a lock of PostgreSQL lets only one
// transaction that notifies commit at a time.
type words struct {
	mu     sync.Mutex
	self   engine.ID
	order  []string
	of     map[string]Word
	wake   chan struct{}
	listen bool
}

const (
	channel   = "dogear"
	tellEvery = 5 * time.Millisecond
	// maxPayload is below the 8,000 bytes that PostgreSQL takes in one NOTIFY.
	maxPayload = 7_000
	maxBody    = 2_000
)

// Tell tells the other servers something, soon. Of several words with one key
// the newest is told. It never blocks, and does nothing where there can be no
// other server.
func (s *Store) Tell(key string, w Word) {
	t := &s.words
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.listen || len(w.Body) > maxBody {
		return
	}
	if _, ok := t.of[key]; !ok {
		t.order = append(t.order, key)
	}
	t.of[key] = w
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Listen hears what other servers tell and tells them what this one has to
// say, until ctx ends. missed is called where words may have been lost: then
// everything may have changed.
func (s *Store) Listen(ctx context.Context, heard func([]Word), missed func()) error {
	if !s.Shared() {
		<-ctx.Done()
		return nil
	}
	t := &s.words
	t.mu.Lock()
	t.self, t.of, t.wake, t.listen = engine.NewID(time.Now()), map[string]Word{}, make(chan struct{}, 1), true
	t.mu.Unlock()
	var telling sync.WaitGroup
	telling.Go(func() { s.tell(ctx) })
	defer telling.Wait()
	for ctx.Err() == nil {
		err := s.hear(ctx, heard, missed)
		if ctx.Err() != nil || err == nil {
			break
		}
		select { // the database is away, or ended this session
		case <-ctx.Done():
		case <-time.After(awayPoll):
		}
	}
	return nil
}

// hear listens on one session until it breaks.
func (s *Store) hear(ctx context.Context, heard func([]Word), missed func()) error {
	conn, err := s.write.DB.Conn(ctx)
	if err != nil {
		return fmt.Errorf("listen to other servers: %w", err)
	}
	defer func() { _ = conn.Close() }()
	return conn.Raw(func(of any) error {
		session, ok := of.(*stdlib.Conn)
		if !ok {
			return errors.New("the driver cannot listen")
		}
		pg := session.Conn()
		if _, err := pg.Exec(ctx, "LISTEN "+channel); err != nil {
			return errors.Join(fmt.Errorf("listen to other servers: %w", err), driver.ErrBadConn)
		}
		missed()
		for {
			n, err := pg.WaitForNotification(ctx)
			if err != nil {
				return errors.Join(err, driver.ErrBadConn) // nobody else may get a session that listens
			}
			if said := s.understand(n.Payload); len(said) > 0 {
				heard(said)
			}
		}
	})
}

// SchemaTopic is the topic of the word that a server tells once it has brought the
// schema up to date: one of an older version, which does not know it, has to end.
const SchemaTopic = "schema"

// tellOlder tells it at once, before this server listens. Who does not hear it looks
// by itself.
func (s *Store) tellOlder(ctx context.Context) {
	if s.Shared() {
		_, _ = s.write.DB.ExecContext(ctx, `SELECT pg_notify($1, $2)`, channel, encode(payload{Words: []Word{{Topic: SchemaTopic}}}))
	}
}

// payload is one NOTIFY.
type payload struct {
	From  engine.ID `json:"from"`
	Words []Word    `json:"words"`
}

// understand reads what was told, and nothing of what this server said itself.
func (s *Store) understand(text string) []Word {
	var p payload
	if json.Unmarshal([]byte(text), &p) != nil || p.From == s.words.self {
		return nil
	}
	return p.Words
}

// tell sends what there is to tell until ctx ends.
func (s *Store) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.words.wake:
		}
		for _, p := range s.words.take() {
			// A word that is lost costs others some seconds: they look by themselves.
			_, _ = s.write.DB.ExecContext(ctx, `SELECT pg_notify($1, $2)`, channel, encode(p))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(tellEvery):
		}
	}
}

// take empties the words into as few payloads as may hold them.
func (t *words) take() []payload {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []payload
	size := maxPayload
	for _, key := range t.order {
		w := t.of[key]
		n := len(w.Topic) + len(w.Body) + 40
		if size+n > maxPayload {
			all, size = append(all, payload{From: t.self}), 0
		}
		last := &all[len(all)-1]
		last.Words, size = append(last.Words, w), size+n
	}
	t.order = t.order[:0]
	clear(t.of)
	return all
}
