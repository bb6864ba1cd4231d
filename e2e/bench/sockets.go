package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"dogear/db"
	"dogear/e2e/bench/measure"
	"dogear/engine"
	"dogear/handlers/control"
)

const (
	sockets      = 1000
	socketRounds = 41
)

// watchers are open sockets that wait for the same message.
type watchers struct {
	conns []*websocket.Conn

	mu   sync.Mutex
	left int
	done chan time.Duration // from the time in the message to its last arrival
}

// watch opens sockets at an address. Each says hello, if there is one, and
// waits for an answer to it.
func watch(ctx context.Context, address string, header http.Header, hello any) (*watchers, error) {
	w := &watchers{done: make(chan time.Duration, 1), left: sockets}
	for range sockets {
		conn, answer, err := websocket.DefaultDialer.DialContext(ctx, address, header)
		if err != nil {
			return w, fmt.Errorf("open a socket: %w", err)
		}
		_ = answer.Body.Close()
		w.conns = append(w.conns, conn)
		if hello != nil {
			if err := conn.WriteJSON(hello); err != nil {
				return w, err
			}
			if _, _, err := conn.ReadMessage(); err != nil {
				return w, err
			}
		}
	}
	for _, conn := range w.conns {
		go w.read(conn)
	}
	return w, nil
}

// read counts what says when it happened; beats and the like do not.
func (w *watchers) read(conn *websocket.Conn) {
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			return // closed
		}
		if !bytes.Contains(text, []byte(`"data":{`)) {
			continue
		}
		now := time.Now()
		w.mu.Lock()
		w.left--
		last := w.left == 0
		if last {
			w.left = len(w.conns)
		}
		w.mu.Unlock()
		if last {
			var said struct{ Data engine.Event }
			_ = json.Unmarshal(text, &said) // without a time the figure is absurd, and seen
			w.done <- now.Sub(said.Data.At)
		}
	}
}

func (w *watchers) close() {
	for _, conn := range w.conns {
		_ = conn.Close()
	}
}

// told waits until all have got a message.
func (w *watchers) told() (time.Duration, error) {
	select {
	case took := <-w.done:
		return took, nil
	case <-time.After(20 * time.Second):
		return 0, errors.New("not every socket was told within 20 s")
	}
}

// lastSocket measures from a transition to its arrival at the last of 1,000
// browsers, against a server that does nothing but tell 1,000 sockets.
func lastSocket(ctx context.Context, dir string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lake, asked := silence(ctx)
	data := filepath.Join(dir, "data")
	if err := furnish(ctx, data, "", func(store *db.Store) error { return slowJob(ctx, store, lake.URL) }); err != nil {
		return err
	}
	s, err := startInstance(ctx, data)
	if err != nil {
		return err
	}
	defer s.end()
	var run control.Run
	if err := s.ask(ctx, http.MethodPost, "/job", control.StartJob{Job: "slow"}, &run); err != nil {
		return err
	}
	<-asked
	ours, err := s.browsers(ctx, "run:"+string(run.ID))
	if err != nil {
		return err
	}
	defer ours.close()
	bare, tell, err := bareServer(ctx)
	if err != nil {
		return err
	}
	defer bare.close()
	var rounds measure.Rounds
	for round := range socketRounds {
		if _, err := io.WriteString(tell, "tell\n"); err != nil {
			return err
		}
		theirs, err := bare.told()
		if err != nil {
			return err
		}
		path := []string{"/pause", "/go-on"}[round%2]
		if err := s.ask(ctx, http.MethodPost, path, control.RunID{ID: run.ID}, &run); err != nil {
			return err
		}
		took, err := ours.told()
		if err != nil {
			return err
		}
		if round > 0 { // the first makes room for all
			rounds.Add(float64(took.Nanoseconds())/1e6, float64(theirs.Nanoseconds())/1e6)
		}
	}
	rounds.Figure(measure.Figure{Name: "g11", Limit: 1.5, Unit: "ms", Note: "a transition, its commit included, to its arrival at the last of 1,000 sockets, against a server that only tells 1,000 sockets; the median of 40"}).Print()
	return nil
}

// browsers opens the sockets of signed-in pages that follow a topic.
func (s *instance) browsers(ctx context.Context, topic string) (*watchers, error) {
	client, err := s.browser(ctx)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(s.address)
	if err != nil {
		return nil, err
	}
	header := http.Header{"Origin": {s.address}}
	for _, cookie := range client.Jar.Cookies(at) {
		header.Add("Cookie", cookie.String())
	}
	at.Scheme, at.Path = "ws", "/live"
	return watch(ctx, at.String(), header, map[string]any{"sub": []any{map[string]any{"topic": topic}}})
}

// bareServer starts the server to compare with, in a process of its own, and
// opens its sockets. A line to it makes it tell them all.
func bareServer(ctx context.Context) (*watchers, io.Writer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, self, "broadcast")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, nil, fmt.Errorf("the bare server does not say where it is: %w", err)
	}
	w, err := watch(ctx, "ws"+address[len("http"):len(address)-1], nil, nil)
	return w, in, err
}

// broadcast is the process of the bare server: each socket has a queue and a
// goroutine that writes, and each line of input tells all of them the same
// prepared message.
func broadcast() error {
	var mu sync.Mutex
	var queues []chan *websocket.PreparedMessage
	var upgrader websocket.Upgrader
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return // Upgrade has answered
		}
		defer conn.Close()
		queue := make(chan *websocket.PreparedMessage, 64)
		mu.Lock()
		queues = append(queues, queue)
		mu.Unlock()
		for message := range queue {
			if conn.WritePreparedMessage(message) != nil {
				return
			}
		}
	}))
	defer server.Close()
	fmt.Println(server.URL)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		e := engine.Event{Run: engine.NewID(time.Now()), Seq: 12, Kind: "run", State: "resumed", At: time.Now(), Text: "goes on, by owner"}
		text, err := json.Marshal(map[string]any{"topic": "run:" + string(e.Run), "seq": e.Seq, "data": e})
		if err != nil {
			return err
		}
		message, err := websocket.NewPreparedMessage(websocket.TextMessage, text)
		if err != nil {
			return err
		}
		mu.Lock()
		for _, queue := range queues {
			queue <- message
		}
		mu.Unlock()
	}
	return nil
}
