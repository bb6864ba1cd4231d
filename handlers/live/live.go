// Package live carries what happens to the browser: one WebSocket a page, fed
// by engine/event. A client says which topics it follows and what it has seen;
// whoever has missed something gets the whole as it stands now.
package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"dogear/engine"
	"dogear/engine/event"
	"dogear/handlers/web"
)

const (
	maxTopics  = 32      // that one page may follow
	maxMessage = 8 << 10 // bytes of one message from a client
)

// Snapshot returns the whole of a topic as it stands, with the number of the
// newest message it holds; a nil body where nothing is newer than since. Its
// number is read before its body, so that a message may come twice but is
// never lost.
type Snapshot func(ctx context.Context, id engine.ID, since int64) (seq int64, body any, err error)

// Sessions tells whether somebody is still signed in.
type Sessions interface {
	Alive(c web.Ctx) bool
}

// Config is what a socket needs.
type Config struct {
	Hub      *event.Hub
	Sessions Sessions
	// Snapshots by the kind of topic: "run", "draft".
	Snapshots map[string]Snapshot
	Origin    string // as in web.Config
	Log       *slog.Logger
	// Beat is how often the server says that it is there, and looks whether the
	// session is; 0 is 4 s. A client that hears nothing for 25 s gives up.
	Beat time.Duration
	// Patience is how long a client may take to accept or answer; 0 is 15 s.
	Patience time.Duration
}

// Live answers GET /live.
type Live struct {
	cfg      Config
	upgrader websocket.Upgrader
}

// New returns the handler of sockets.
func New(cfg Config) *Live {
	if cfg.Beat == 0 {
		cfg.Beat = 4 * time.Second
	}
	if cfg.Patience == 0 {
		cfg.Patience = 15 * time.Second
	}
	return &Live{cfg: cfg, upgrader: websocket.Upgrader{
		CheckOrigin:     func(r *http.Request) bool { return web.SameOrigin(r, cfg.Origin) },
		WriteBufferSize: 4 << 10,
		ReadBufferSize:  1 << 10,
		Error: func(w http.ResponseWriter, _ *http.Request, status int, _ error) {
			http.Error(w, http.StatusText(status), status)
		},
	}}
}

// Routes are the routes of this package.
func (l *Live) Routes() []web.Route {
	return []web.Route{{Method: http.MethodGet, Path: "/live", Handler: l.serve}}
}

// asked is what a client may say.
type asked struct {
	Sub []struct {
		Topic string `json:"topic"`
		Since int64  `json:"since"`
	} `json:"sub"`
}

// told is what the server says.
type told struct {
	Topic    string `json:"topic,omitempty"`
	Seq      int64  `json:"seq,omitempty"`
	Data     any    `json:"data,omitempty"`
	Snapshot any    `json:"snapshot,omitempty"`
	Beat     bool   `json:"beat,omitempty"`
}

// socket is one open connection. Only its write loop writes to it.
type socket struct {
	cfg    *Config
	c      web.Ctx
	conn   *websocket.Conn
	reader *event.Reader
	asks   chan asked
	seen   map[string]int64 // by topic: what the client has been told
}

func (l *Live) serve(c web.Ctx) error {
	conn, err := l.upgrader.Upgrade(c.Response(), c.Request(), nil)
	if err != nil {
		return nil // Upgrade has answered
	}
	defer conn.Close()
	s := &socket{cfg: &l.cfg, c: c, conn: conn, reader: l.cfg.Hub.Reader(), asks: make(chan asked), seen: map[string]int64{}}
	defer s.reader.Close()
	ctx, cancel := context.WithCancel(c.Request().Context())
	defer cancel()

	go func() {
		defer cancel()
		s.listen(ctx)
	}()
	if err := s.talk(ctx); err != nil && ctx.Err() == nil {
		l.cfg.Log.DebugContext(ctx, "socket ended", "err", err)
	}
	return nil
}

// listen reads what the client says until it is gone. It must answer pings, so
// that a connection that died without a word is noticed.
func (s *socket) listen(ctx context.Context) {
	s.conn.SetReadLimit(maxMessage)
	heard := func(string) error { return s.conn.SetReadDeadline(time.Now().Add(s.cfg.Patience + s.cfg.Beat)) }
	s.conn.SetPongHandler(heard)
	for heard("") == nil {
		var ask asked
		kind, body, err := s.conn.ReadMessage()
		if err != nil || kind != websocket.TextMessage || json.Unmarshal(body, &ask) != nil {
			return
		}
		select {
		case s.asks <- ask:
		case <-ctx.Done():
			return
		}
	}
}

// talk is the write loop.
func (s *socket) talk(ctx context.Context) error {
	beat := time.NewTicker(s.cfg.Beat)
	defer beat.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case ask := <-s.asks:
			err = s.subscribe(ctx, ask)
		case <-s.reader.Ready():
			err = s.pass(ctx, s.reader.Take())
		case <-beat.C:
			err = s.beat()
		}
		if err != nil {
			return err
		}
	}
}

// subscribe watches what was asked for and tells what the client has missed.
func (s *socket) subscribe(ctx context.Context, ask asked) error {
	for _, sub := range ask.Sub {
		if !s.known(sub.Topic) || s.reader.Watching() >= maxTopics {
			return s.close(websocket.ClosePolicyViolation, "There is no such topic, or too many are followed.")
		}
		s.reader.Watch(sub.Topic)
		s.seen[sub.Topic] = sub.Since
		if err := s.whole(ctx, sub.Topic); err != nil {
			return err
		}
	}
	return nil
}

// known reports whether topic is one that a page may follow.
func (s *socket) known(topic string) bool {
	kind, name, _ := strings.Cut(topic, ":")
	if kind == "changed" {
		return name != "" && len(name) <= 32 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == ""
	}
	_, err := engine.ParseID(name)
	return err == nil && s.cfg.Snapshots[kind] != nil
}

// pass hands on what happened, leaving out what the client knows already, and
// the whole of every topic of which something is missing.
func (s *socket) pass(ctx context.Context, batch event.Batch) error {
	for _, topic := range batch.Gaps {
		if err := s.whole(ctx, topic); err != nil {
			return err
		}
	}
	for _, m := range batch.Messages {
		switch {
		case m.Seq == 0:
		case m.Seq <= s.seen[m.Topic]:
			continue
		case m.Seq > s.seen[m.Topic]+1, m.Body == nil:
			if err := s.whole(ctx, m.Topic); err != nil {
				return err
			}
			continue
		default:
			s.seen[m.Topic] = m.Seq
		}
		if err := s.hand(m); err != nil {
			return err
		}
	}
	return nil
}

// whole sends a topic as it stands now. A topic without a sequence has no
// whole: the client only learns that it changed.
func (s *socket) whole(ctx context.Context, topic string) error {
	kind, name, _ := strings.Cut(topic, ":")
	snapshot := s.cfg.Snapshots[kind]
	if snapshot == nil {
		return s.write(told{Topic: topic})
	}
	seq, body, err := snapshot(ctx, engine.ID(name), s.seen[topic])
	switch {
	case engine.CodeOf(err) == engine.NotFound:
		return s.close(websocket.ClosePolicyViolation, "There is no such topic.")
	case err != nil:
		return fmt.Errorf("snapshot of %s: %w", topic, err)
	case body == nil || seq <= s.seen[topic]:
		return nil
	}
	s.seen[topic] = seq
	return s.write(told{Topic: topic, Seq: seq, Snapshot: body})
}

// beat says that the server is there and ends the socket with its session.
func (s *socket) beat() error {
	if !s.cfg.Sessions.Alive(s.c) {
		return s.close(websocket.ClosePolicyViolation, "The session has ended.")
	}
	if err := s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(s.cfg.Patience)); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return s.write(told{Beat: true})
}

// hand sends a message on as it is. It is put into words once for all sockets.
func (s *socket) hand(m event.Message) error {
	prepared, ok := m.Once(func() any {
		text, err := json.Marshal(told{Topic: m.Topic, Seq: m.Seq, Data: m.Body})
		if err != nil {
			return err
		}
		frame, err := websocket.NewPreparedMessage(websocket.TextMessage, text)
		if err != nil {
			return err
		}
		return frame
	}).(*websocket.PreparedMessage)
	if !ok {
		return fmt.Errorf("a message of %s cannot be written", m.Topic)
	}
	if err := s.deadline(); err != nil {
		return err
	}
	if err := s.conn.WritePreparedMessage(prepared); err != nil {
		return fmt.Errorf("send a message: %w", err)
	}
	return nil
}

func (s *socket) deadline() error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.cfg.Patience)); err != nil {
		return fmt.Errorf("set the deadline of a message: %w", err)
	}
	return nil
}

func (s *socket) write(message told) error {
	if err := s.deadline(); err != nil {
		return err
	}
	if err := s.conn.WriteJSON(message); err != nil {
		return fmt.Errorf("send a message: %w", err)
	}
	return nil
}

// errClosed ends the write loop after the client was told why.
var errClosed = errors.New("closed by the server")

func (s *socket) close(code int, why string) error {
	message := websocket.FormatCloseMessage(code, why)
	_ = s.conn.WriteControl(websocket.CloseMessage, message, time.Now().Add(s.cfg.Patience)) // best effort: it is the last word
	return errClosed
}
