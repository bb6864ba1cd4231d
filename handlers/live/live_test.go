package live_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"dogear/engine"
	"dogear/engine/auth"
	"dogear/engine/event"
	"dogear/handlers/live"
	"dogear/handlers/web"
)

const runID = "01KBA5ZC9J6Q0V5W3D8M7N2P4R"

func TestG13HandshakeNeedsTheOwnOriginAndASession(t *testing.T) {
	t.Parallel()
	site := serve(t, "https://app.example")
	tests := map[string]struct {
		origin string
		cookie bool
		want   int
	}{
		"foreign":           {"https://evil.example", true, 403},
		"null":              {"null", true, 403},
		"none":              {"", true, 403},
		"own name and more": {"https://app.example.evil.example", true, 403},
		"other scheme":      {"http://app.example", true, 403},
		"other port":        {"https://app.example:8443", true, 403},
		"without a session": {"https://app.example", false, 401},
		"own":               {"https://app.example", true, 101},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			header := http.Header{}
			if tt.origin != "" {
				header.Set("Origin", tt.origin)
			}
			if tt.cookie {
				header.Set("Cookie", site.cookie)
			}

			conn, response, err := websocket.DefaultDialer.Dial(site.address, header)

			if err == nil {
				conn.Close()
			}
			if response == nil || response.StatusCode != tt.want {
				t.Errorf("handshake = %v (%v), want status %d", response, err, tt.want)
			}
		})
	}
}

func TestG13SocketEndsWithItsSession(t *testing.T) {
	t.Parallel()
	site := serve(t, "")
	conn := site.dial(t)
	site.store.clear()

	err := site.untilClosed(t, conn) // beats may come before the server looks again

	if !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
		t.Errorf("after sign-out the socket ended with %v, want a policy violation", err)
	}
}

func TestClientIsLimitedToTopicsThatExist(t *testing.T) {
	t.Parallel()
	site := serve(t, "")
	for _, topic := range []string{"", "run:", "run:..", "run:../x", "secret:" + runID, "changed:", "changed:../x", "run:01KBA5ZC9J6Q0V5W3D8M7N2P4S"} {
		conn := site.dial(t)
		must(t, conn.WriteJSON(sub(topic, 0)))

		err := site.untilClosed(t, conn)

		if !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
			t.Errorf("topic %q: the socket ended with %v, want a policy violation", topic, err)
		}
	}
}

func TestSubscriberGetsTheSnapshotThenWhatFollows(t *testing.T) {
	t.Parallel()
	site := serve(t, "")
	site.runs.set(5, engine.Running)
	conn := site.dial(t)

	must(t, conn.WriteJSON(sub("run:"+runID, 3)))
	first := site.next(t, conn)
	site.hub.Publish("run:"+runID, 5, "old")
	site.hub.Publish("run:"+runID, 6, "new")
	second := site.next(t, conn)

	if first.Seq != 5 || !strings.Contains(string(first.Snapshot), `"state":"running"`) {
		t.Errorf("first message = %+v, want the snapshot at 5", first)
	}
	if second.Seq != 6 || string(second.Data) != `"new"` {
		t.Errorf("second message = %+v, want 6 and not what the snapshot holds", second)
	}
}

func TestAGapIsAnsweredByTheWhole(t *testing.T) {
	t.Parallel()
	site := serve(t, "")
	site.runs.set(5, engine.Running)
	conn := site.dial(t)
	must(t, conn.WriteJSON(sub("run:"+runID, 5)))
	must(t, conn.WriteJSON(sub("changed:runs", 0)))
	if got := site.next(t, conn); got.Topic != "changed:runs" {
		t.Fatalf("first message = %+v, want changed:runs", got)
	}

	site.runs.set(9, engine.Succeeded)
	site.hub.Publish("run:"+runID, 9, "the last of four")
	got := site.next(t, conn)

	if got.Seq != 9 || !strings.Contains(string(got.Snapshot), `"state":"succeeded"`) {
		t.Errorf("after a gap got %+v, want the snapshot at 9", got)
	}
}

// Events shuffled, doubled or late end in the same picture: what is older than
// what a client has been told is not sent again.
func TestE18OldAndDoubledEventsAreNotSent(t *testing.T) {
	t.Parallel()
	site := serve(t, "")
	conn := site.dial(t)
	must(t, conn.WriteJSON(sub("run:"+runID, 0)))
	must(t, conn.WriteJSON(sub("changed:runs", 0)))
	site.next(t, conn)

	for _, seq := range []int64{1, 1, 2, 1, 2, 3, 2, 3} {
		site.hub.Publish("run:"+runID, seq, seq)
	}

	for want := int64(1); want <= 3; want++ {
		if got := site.next(t, conn); got.Seq != want {
			t.Errorf("got message %d, want %d", got.Seq, want)
		}
	}
}

// The other side of a connection is gone without a word: it accepts nothing
// and answers no ping. The server lets go of it.
func TestE10SilentClientIsDropped(t *testing.T) {
	t.Parallel()
	site := serveFor(t, "", time.Second)
	conn := site.dial(t)
	must(t, conn.WriteJSON(sub("changed:runs", 0)))
	site.next(t, conn)

	// Nobody reads from conn, so no pong is ever sent.
	select {
	case <-site.ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the server still holds a socket that has been silent for 20 s")
	}
}

type site struct {
	address, origin, cookie string
	hub                     *event.Hub
	store                   *store
	runs                    *runs
	ended                   chan struct{}
}

type message struct {
	Topic          string
	Seq            int64
	Data, Snapshot json.RawMessage
	Beat           bool
}

// serve has the patience of a real server: on a busy machine a test may be long
// silent.
func serve(t *testing.T, origin string) *site {
	t.Helper()
	return serveFor(t, origin, 0)
}

func serveFor(t *testing.T, origin string, patience time.Duration) *site {
	t.Helper()
	s := &site{hub: event.New(), store: &store{kept: map[string][]byte{}}, runs: &runs{}, ended: make(chan struct{}, 64)}
	log := slog.New(slog.DiscardHandler)
	sessions := web.NewSessions(s.store, s.store, false, log)
	sockets := live.New(live.Config{
		Hub: s.hub, Sessions: sessions, Origin: origin, Log: log, Beat: 50 * time.Millisecond, Patience: patience,
		Snapshots: map[string]live.Snapshot{"run": live.OfRun(s.runs)},
	})
	routes := sockets.Routes()
	serveSocket := routes[0].Handler
	routes[0].Handler = func(c web.Ctx) error {
		defer func() { s.ended <- struct{}{} }()
		return serveSocket(c)
	}
	routes = append(routes, web.Route{Method: "POST", Path: "/signin", Public: true, Handler: func(c web.Ctx) error {
		return sessions.SignIn(c, owner)
	}})
	handler, err := web.New(web.Config{Routes: routes, Sessions: sessions, Log: log, Now: time.Now})
	must(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	response, err := http.Post(server.URL+"/signin", "", nil)
	must(t, err)
	response.Body.Close()
	s.cookie, _, _ = strings.Cut(response.Header.Get("Set-Cookie"), ";")
	s.address = "ws" + strings.TrimPrefix(server.URL, "http") + "/live"
	s.origin = server.URL
	return s
}

func (s *site) dial(t *testing.T) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial(s.address, http.Header{"Origin": {s.origin}, "Cookie": {s.cookie}})
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// next returns the next message that is no beat.
func (s *site) next(t *testing.T, conn *websocket.Conn) message {
	t.Helper()
	for {
		must(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
		var m message
		must(t, conn.ReadJSON(&m))
		if !m.Beat {
			return m
		}
	}
}

func (s *site) untilClosed(t *testing.T, conn *websocket.Conn) error {
	t.Helper()
	must(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			return err
		}
	}
}

func sub(topic string, since int64) any {
	return map[string]any{"sub": []any{map[string]any{"topic": topic, "since": since}}}
}

// runs is one run whose state a test sets.
type runs struct {
	mu    sync.Mutex
	seq   int64
	state engine.State
}

func (r *runs) set(seq int64, state engine.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq, r.state = seq, state
}

func (r *runs) Run(_ context.Context, id engine.ID) (engine.Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id != runID {
		return engine.Run{}, engine.Errorf(engine.NotFound, "There is no such run.")
	}
	return engine.Run{ID: id, Seq: r.seq}, nil
}

func (r *runs) NodeRuns(context.Context, engine.ID) ([]engine.NodeRun, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return []engine.NodeRun{{Ref: engine.Ref{Kind: engine.KindJob, ID: runID}, State: r.state, Attempt: 1}}, nil
}

func (r *runs) TriggerRuns(context.Context, engine.ID) ([]engine.TriggerRun, error) { return nil, nil }

var owner = auth.User{ID: runID, Name: "owner", Role: auth.Owner}

// store keeps sessions in memory.
type store struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (s *store) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.kept)
}

func (s *store) User(context.Context, engine.ID) (auth.User, error) { return owner, nil }

func (s *store) Session(_ context.Context, token string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.kept[token]
	if !ok {
		return nil, engine.Errorf(engine.NotFound, "There is no such session.")
	}
	return data, nil
}

func (s *store) SaveSession(_ context.Context, token string, data []byte, _ time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[token] = data
	return nil
}

func (s *store) DeleteSession(_ context.Context, token string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, token)
	return nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
