package hook_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/arrival"
	"dogear/engine/auth"
	"dogear/handlers/hook"
	"dogear/handlers/web"
	"dogear/static"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// site is a server with the published workflow "w" of two event triggers, of
// which the first has a secret.
type site struct {
	url            string
	handler        http.Handler
	store          *db.Store
	trigger, other engine.ID
	secret         string
	came           int
}

func serve(t *testing.T) *site {
	t.Helper()
	s := made(t)
	server := httptest.NewServer(s.handler)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// made is a site that listens nowhere.
func made(t *testing.T) *site {
	t.Helper()
	store := dbtest.SQLite(t)
	s := &site{store: store, trigger: engine.NewID(noon), other: engine.NewID(noon), secret: arrival.NewSecret()}
	event := func(id engine.ID, name string) engine.Trigger {
		return engine.Trigger{ID: id, Name: name, Type: engine.OnEvent, Event: engine.EventRule{Size: 2}}
	}
	id, err := store.CreateWorkflow(t.Context(), "w", engine.WorkflowBody{Triggers: []engine.Trigger{event(s.trigger, "orders"), event(s.other, "other")}}, "owner", noon)
	must(t, err)
	_, err = store.PublishWorkflow(t.Context(), id, 0, nil, "owner", noon, func(engine.Trigger) time.Time { return time.Time{} })
	must(t, err)
	must(t, store.NewTriggerSecret(t.Context(), s.trigger, s.secret, noon))
	now := func() time.Time { return noon }
	quiet := slog.New(slog.DiscardHandler)
	hooks := &hook.Hooks{Store: store, Now: now, Came: func(engine.ID) { s.came++ }}
	s.handler, err = web.New(web.Config{
		Routes: hooks.Routes(), Files: static.Files{}, Sessions: web.NewSessions(store, auth.New(store, now), false, quiet), Log: quiet, Now: now,
	})
	must(t, err)
	return s
}

// call is one request of a sender.
type call struct {
	path, id, body, secret string
	at                     time.Time // of the signature
	sent                   string    // the body that is sent, where it is not the one that was signed
	kind                   string    // its type, where it is not JSON
}

// answer is what a sender hears.
type answer struct {
	status            int
	ID, Code, Message string
	Duplicate         bool
}

func (s *site) send(t *testing.T, c call) answer {
	t.Helper()
	response, err := http.DefaultClient.Do(s.request(t, c))
	must(t, err)
	return heard(t, response)
}

func (s *site) request(t *testing.T, c call) *http.Request {
	t.Helper()
	if c.at.IsZero() {
		c.at = noon
	}
	text := c.body
	if c.sent != "" {
		text = c.sent
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+c.path, strings.NewReader(text))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	if c.kind != "" {
		r.Header.Set("Content-Type", c.kind)
	}
	if c.secret != "" {
		signature, err := arrival.Sign(c.secret, c.id, c.at, []byte(c.body))
		must(t, err)
		r.Header.Set(arrival.HeaderID, c.id)
		r.Header.Set(arrival.HeaderTime, strconv.FormatInt(c.at.Unix(), 10))
		r.Header.Set(arrival.HeaderSignature, signature)
	}
	return r
}

func heard(t *testing.T, response *http.Response) answer {
	t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	a := answer{status: response.StatusCode}
	if err := json.Unmarshal(body, &a); err != nil {
		t.Errorf("the answer %d is no JSON: %.100s", a.status, body)
	}
	return a
}

func (s *site) waiting(t *testing.T, trigger engine.ID) int {
	t.Helper()
	state, err := s.store.EventTrigger(t.Context(), trigger)
	must(t, err)
	return state.Waiting
}

func TestACallIsKeptBeforeItIsAnsweredAndOnce(t *testing.T) {
	t.Parallel()
	s := serve(t)
	path := "/hooks/" + string(s.trigger)

	first := s.send(t, call{path: path, id: "e1", body: `{"order": 7}`, secret: s.secret})
	again := s.send(t, call{path: path, id: "e1", body: `{"order": 7}`, secret: s.secret})
	empty := s.send(t, call{path: path, id: "e2", secret: s.secret})
	named := s.send(t, call{path: "/api/events", id: "e3", body: `{"workflow": "w", "trigger": "orders", "detail": {"order": 8}}`, secret: s.secret})

	if first.status != 202 || first.ID != "e1" || first.Duplicate || again.status != 202 || !again.Duplicate {
		t.Errorf("first = %+v, again = %+v, want it taken, then known", first, again)
	}
	if empty.status != 202 || named.status != 202 {
		t.Errorf("without a body = %+v, by name = %+v, want both taken", empty, named)
	}
	events, err := s.store.RecentEvents(t.Context(), s.trigger, 10)
	must(t, err)
	if len(events) != 3 || events[2].Detail != `{"order": 7}` || events[0].Detail != `{"order": 8}` {
		t.Errorf("events = %+v, want the three", events)
	}
	if s.came != 4 {
		t.Errorf("the gate was told %d times, want each time: an event that came again may wait since a crash", s.came)
	}
}

func TestG14NothingIsTakenThatIsNotSignedForItsTrigger(t *testing.T) {
	t.Parallel()
	s := serve(t)
	path := "/hooks/" + string(s.trigger)
	tests := map[string]struct {
		call   call
		status int
		says   string
	}{
		"unsigned":                           {call{path: path, body: `{}`}, 401, "signature"},
		"with another secret":                {call{path: path, id: "e", body: `{}`, secret: arrival.NewSecret()}, 401, "signature"},
		"with another body":                  {call{path: path, id: "e", body: `{}`, sent: `{"a":1}`, secret: s.secret}, 401, "signature"},
		"signed six minutes ago":             {call{path: path, id: "e", body: `{}`, secret: s.secret, at: noon.Add(-6 * time.Minute)}, 401, "signed at"},
		"signed in the future":               {call{path: path, id: "e", body: `{}`, secret: s.secret, at: noon.Add(6 * time.Minute)}, 401, "signed at"},
		"for a trigger without a secret":     {call{path: "/hooks/" + string(s.other), id: "e", body: `{}`, secret: s.secret}, 401, "signature"},
		"for a trigger that is not there":    {call{path: "/hooks/" + string(engine.NewID(noon)), id: "e", body: `{}`, secret: s.secret}, 401, "signature"},
		"for an id that is none":             {call{path: "/hooks/x", id: "e", body: `{}`, secret: s.secret}, 404, "nothing"},
		"for a workflow that is not there":   {call{path: "/api/events", id: "e", body: `{"workflow": "x"}`, secret: s.secret}, 401, "signature"},
		"for another trigger of the same":    {call{path: "/api/events", id: "e", body: `{"workflow": "w", "trigger": "other"}`, secret: s.secret}, 401, "signature"},
		"a body that is no JSON":             {call{path: path, id: "e", body: `order 7`, secret: s.secret}, 422, "JSON"},
		"no JSON to the endpoint":            {call{path: "/api/events", id: "e", body: `order 7`, secret: s.secret}, 422, "JSON"},
		"an id that could break a list":      {call{path: path, id: "a, b", body: `{}`, secret: s.secret}, 422, "id"},
		"a detail that is too large":         {call{path: path, id: "e", body: `"` + strings.Repeat("x", engine.MaxDetail) + `"`, secret: s.secret}, 413, "256 KiB"},
		"a body that no server should read":  {call{path: path, id: "e", body: strings.Repeat("x", 5<<20), secret: s.secret}, 413, ""},
		"a type that a page elsewhere sends": {call{path: path, id: "e", body: `{}`, secret: s.secret, kind: "text/plain"}, 415, "JSON"},
	}
	for name, tt := range tests {
		got := s.send(t, tt.call)

		if got.status != tt.status || !strings.Contains(got.Message, tt.says) {
			t.Errorf("%s: got %d %q, want %d saying %q", name, got.status, got.Message, tt.status, tt.says)
		}
	}
	if n := s.waiting(t, s.trigger) + s.waiting(t, s.other); n != 0 || s.came != 0 {
		t.Errorf("%d events were kept, the gate was told %d times; want nothing", n, s.came)
	}
}

func TestABodyWithoutALengthIsBounded(t *testing.T) {
	t.Parallel()
	s := serve(t)
	endless := io.LimitReader(neverEnds{}, 1<<30)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/hooks/"+string(s.trigger), endless)
	must(t, err)
	r.Header.Set("Content-Type", "application/json")

	response, err := http.DefaultClient.Do(r)
	must(t, err)
	defer response.Body.Close()

	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d, want %d", response.StatusCode, http.StatusRequestEntityTooLarge)
	}
}

type neverEnds struct{}

func (neverEnds) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte("x"), len(p))), nil }

func TestATriggerThatIsOffSaysSoToWhoCanSign(t *testing.T) {
	t.Parallel()
	s := serve(t)
	secret := arrival.NewSecret()
	unpublished := engine.NewID(noon)
	must(t, s.store.NewTriggerSecret(t.Context(), unpublished, secret, noon))

	got := s.send(t, call{path: "/hooks/" + string(unpublished), id: "e", body: `{}`, secret: secret})

	if got.status != 404 || !strings.Contains(got.Message, "Publish") {
		t.Errorf("got %+v, want 404 that says to publish", got)
	}
}

// TestAnAddressThatSendsTooMuchIsToldToWait: in a bubble, whose clock stands still however
// long the calls of the burst take.
func TestAnAddressThatSendsTooMuchIsToldToWait(t *testing.T) {
	t.Parallel()
	s := made(t)
	synctest.Test(t, func(t *testing.T) {
		send := func(n int) answer {
			to := httptest.NewRecorder()
			s.handler.ServeHTTP(to, s.request(t, call{path: "/hooks/" + string(s.trigger), id: fmt.Sprint("e", n), body: `{}`, secret: s.secret}))
			return heard(t, to.Result())
		}
		const most = 200 // four seconds of what it may send for long
		for n := range most {
			if got := send(n); got.status != http.StatusAccepted {
				t.Fatalf("call %d of a burst of %d: %+v, want it taken", n, most, got)
			}
		}

		refused := send(most)

		if refused.status != http.StatusTooManyRequests || refused.Code != string(engine.LimitHit) {
			t.Errorf("after a burst of %d: %+v, want 429", most, refused)
		}
		time.Sleep(time.Second)
		if got := send(most); got.status != http.StatusAccepted {
			t.Errorf("a second later: %+v, want it taken", got)
		}
	})
}
