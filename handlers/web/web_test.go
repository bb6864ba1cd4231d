package web_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/auth"
	"dogear/handlers/web"
	"dogear/static"
)

const anID = "01KBA5ZC9J6Q0V5W3D8M7N2P4R"

// Every route of the table that is not public refuses those who did not sign
// in, whatever its method; so a new route is closed until somebody opens it.
func TestG01EveryRouteNeedsASessionUnlessTheTableSaysPublic(t *testing.T) {
	t.Parallel()
	site := serve(t)

	for _, route := range site.routes {
		path := strings.NewReplacer(":id", anID, ":node", "job-"+anID, ":n", "1", ":word", "rewind").Replace(route.Path)
		response := site.do(t, http.DefaultClient, route.Method, path, nil, nil)

		want := http.StatusUnauthorized
		if route.Public {
			want = http.StatusOK
		}
		if response.status != want {
			t.Errorf("%s %s without a session = %d, want %d", route.Method, path, response.status, want)
		}
	}
	if got := site.calls["secret"]; got != 0 {
		t.Errorf("handlers behind the session ran %d times, want 0", got)
	}
}

// TestARefusalWithoutASessionSaysHowToSignIn: the other pages would refuse
// again, so that it leads to none of them.
func TestARefusalWithoutASessionSaysHowToSignIn(t *testing.T) {
	t.Parallel()
	site := serve(t)

	refused := site.do(t, http.DefaultClient, http.MethodGet, "/workflows", nil, nil)
	lost := site.do(t, site.signIn(t), http.MethodGet, "/nowhere", nil, nil)

	if !strings.Contains(refused.body, "<pre>dogear signin</pre>") || strings.Contains(refused.body, `href="/workflows"`) {
		t.Errorf("without a session the page says %s, want how to sign in and no way to the workflows", refused.body)
	}
	if !strings.Contains(lost.body, `href="/workflows"`) {
		t.Errorf("with a session a lost page says %s, want the way to the workflows", lost.body)
	}
}

func TestG02NoSpellingOfAPathSkipsTheSession(t *testing.T) {
	t.Parallel()
	site := serve(t)
	paths := []string{
		"/api/workflows/configs", "/api/workflows/x/health", "/api/x/../healthz/../workflows", "//api/workflows", "//workflows",
		"/API/workflows", "/WORKFLOWS", "/api/workflows;/healthz", "/workflows;/healthz", "/workflows%2fhealthz", "/static/..%2fworkflows",
		"/static/../workflows", "/workflows?/static/", "/workflows?x=/healthz", "/workflows/", "/workflows/./", "/healthz/../workflows",
		"/workflows%00/healthz", "/workflows/healthz", "/workflows/signin", "/%77orkflows", "/workflows%3f/static/",
	}

	for _, path := range paths {
		response := site.do(t, http.DefaultClient, http.MethodGet, path, nil, nil)

		if response.status != http.StatusUnauthorized && response.status != http.StatusNotFound {
			t.Errorf("GET %s without a session = %d, want 401 or 404", path, response.status)
		}
	}
	if got := site.calls["secret"]; got != 0 {
		t.Errorf("handlers behind the session ran %d times, want 0", got)
	}
}

func TestG03AnIDCannotBeAPath(t *testing.T) {
	t.Parallel()
	site := serve(t)
	client := site.signIn(t)
	payloads := []string{
		"..", "../canary", "..%2fcanary", "..%5ccanary", "....//canary", "%2fetc%2fhostname", "a%2f..%2f..%2fcanary", "%2e%2e%2fcanary",
		"C:%5ccanary", ".", "%E2%80%A5%2fcanary", "name%5c..%5c..%5ccanary", "nul%00byte", anID + "%00", anID + "%2f..", anID[:25], anID + "0",
		strings.ToLower(anID) + "%20", "8" + anID[1:], "%252e%252e",
	}

	for _, payload := range payloads {
		for _, pattern := range []string{"/workflows/%s", "/runs/%s/nodes/job-" + anID + "/log/1", "/runs/" + anID + "/nodes/%s/log/1", "/runs/" + anID + "/nodes/job-" + anID + "/log/%s"} {
			path := fmt.Sprintf(pattern, payload)
			response := site.do(t, client, http.MethodGet, path, nil, nil)

			if response.status != http.StatusNotFound && response.status != http.StatusBadRequest {
				t.Errorf("GET %s = %d, want 404 or 400", path, response.status)
			}
		}
	}
	if got := site.calls["secret"]; got != 0 {
		t.Errorf("handlers saw %d of the ids, want none", got)
	}
}

func TestG04FilesAreLookedUpAndNeverOpened(t *testing.T) {
	t.Parallel()
	site := serve(t)
	client := site.signIn(t)
	paths := []string{
		"/static/..%2f..%2fgo.mod", "/static/..%5c..%5cgo.mod", "/static/%252e%252e%252fgo.mod", "/static/../go.mod", "/static/./app.css",
		"/static/%2fetc%2fpasswd", "/static//app.css", "/static/fonts/../app.css", "/static/app.css%00", "/static/APP.CSS", "/static/", "/static",
		"/static/fonts", "/scripts/..%2f..%2fconfig.yaml", "/samples/%2e%2e/%2e%2e/db.sqlite",
	}

	for _, path := range paths {
		response := site.do(t, client, http.MethodGet, path, nil, nil)

		if response.status != http.StatusNotFound && response.status != http.StatusBadRequest {
			t.Errorf("GET %s = %d, want 404 or 400", path, response.status)
		}
	}
	if got := site.do(t, client, http.MethodGet, "/static/app.css", nil, nil); got.status != http.StatusOK || got.body != "body{}" {
		t.Errorf("GET /static/app.css = %d %q, want 200 and the file", got.status, got.body)
	}
}

func TestG12ChangesNeedTheTokenAndTheSameOrigin(t *testing.T) {
	t.Parallel()
	site := serve(t)
	client := site.signIn(t)
	token := site.token(t, client)
	form := "application/x-www-form-urlencoded"
	tests := map[string]struct {
		method, path, body string
		header             map[string]string
		want               int
	}{
		"with the token":       {header: map[string]string{"X-CSRF-Token": token}, want: 200},
		"with the field":       {body: "_csrf=" + url.QueryEscape(token), header: map[string]string{"Content-Type": form}, want: 200},
		"own origin":           {header: map[string]string{"X-CSRF-Token": token, "Origin": site.server.URL, "Sec-Fetch-Site": "same-origin"}, want: 200},
		"as GET":               {method: http.MethodGet, want: 405},
		"without a token":      {want: 403},
		"with a wrong token":   {header: map[string]string{"X-CSRF-Token": "x" + token[1:]}, want: 403},
		"with an empty token":  {header: map[string]string{"X-CSRF-Token": ""}, want: 403},
		"from a foreign page":  {header: map[string]string{"X-CSRF-Token": token, "Origin": "https://evil.example"}, want: 403},
		"from a null origin":   {header: map[string]string{"X-CSRF-Token": token, "Origin": "null"}, want: 403},
		"from a longer origin": {header: map[string]string{"X-CSRF-Token": token, "Origin": site.server.URL + ".evil.example"}, want: 403},
		"cross-site":           {header: map[string]string{"X-CSRF-Token": token, "Sec-Fetch-Site": "cross-site"}, want: 403},
		"same site, other":     {header: map[string]string{"X-CSRF-Token": token, "Sec-Fetch-Site": "same-site"}, want: 403},
		"as plain text":        {body: "{}", header: map[string]string{"X-CSRF-Token": token, "Content-Type": "text/plain"}, want: 415},
		"without a type":       {body: "{}", header: map[string]string{"X-CSRF-Token": token}, want: 415},
		"method in the query":  {path: "/workflows/" + anID + "/run?_method=DELETE", header: map[string]string{"X-CSRF-Token": token}, want: 200},
		"glue by cookie":       {path: "/", header: map[string]string{"X-Amz-Target": "AWSGlue.StartJobRun"}, want: 405},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			method, path := tt.method, tt.path
			if method == "" {
				method = http.MethodPost
			}
			if path == "" {
				path = "/workflows/" + anID + "/run"
			}

			response := site.do(t, client, method, path, strings.NewReader(tt.body), tt.header)

			if response.status != tt.want {
				t.Errorf("%s %s = %d, want %d (%s)", method, path, response.status, tt.want, response.body)
			}
		})
	}
}

func TestTokenOfAnotherSessionIsRefused(t *testing.T) {
	t.Parallel()
	site := serve(t)
	mine, other := site.signIn(t), site.signIn(t)

	response := site.do(t, mine, http.MethodPost, "/workflows/"+anID+"/run", nil, map[string]string{"X-CSRF-Token": site.token(t, other)})

	if response.status != http.StatusForbidden {
		t.Errorf("POST with another session's token = %d, want 403", response.status)
	}
}

func TestSignOutEndsTheSession(t *testing.T) {
	t.Parallel()
	site := serve(t)
	client := site.signIn(t)
	token := site.token(t, client)
	before := site.do(t, client, http.MethodGet, "/workflows", nil, nil)

	out := site.do(t, client, http.MethodPost, "/signout", nil, map[string]string{"X-CSRF-Token": token})
	after := site.do(t, client, http.MethodGet, "/workflows", nil, nil)

	if before.status != 200 || out.status != 200 || after.status != 401 {
		t.Errorf("before, out, after = %d, %d, %d, want 200, 200, 401", before.status, out.status, after.status)
	}
	if kept := len(site.store.kept); kept != 0 {
		t.Errorf("%d sessions are kept after sign-out, want 0", kept)
	}
}

func TestSessionStoreNeverSeesTheCookie(t *testing.T) {
	t.Parallel()
	site := serve(t)
	client := site.signIn(t)
	address, err := url.Parse(site.server.URL)
	must(t, err)

	cookies := client.Jar.Cookies(address)

	if len(cookies) != 1 {
		t.Fatalf("%d cookies, want 1", len(cookies))
	}
	for token := range site.store.kept {
		if token == cookies[0].Value {
			t.Errorf("the store keeps the cookie's own value")
		}
	}
}

func TestUnknownHostIsRefused(t *testing.T) {
	t.Parallel()
	site := serve(t)
	tests := map[string]int{
		"localhost": 200, "localhost:8080": 200, "127.0.0.1:1": 200, "[::1]:8080": 200, "[::1]": 200, "LOCALHOST": 200,
		"evil.example": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example:8080": 403, "10.0.0.1": 403,
	}
	for host, want := range tests {
		request := httptest.NewRequest(http.MethodGet, "/healthz", nil)
		request.Host = host
		recorder := httptest.NewRecorder()

		site.server.Config.Handler.ServeHTTP(recorder, request)

		if recorder.Code != want {
			t.Errorf("Host %q = %d, want %d", host, recorder.Code, want)
		}
	}
}

func TestEveryAnswerCarriesTheSecurityHeaders(t *testing.T) {
	t.Parallel()
	site := serve(t)
	for _, path := range []string{"/healthz", "/workflows", "/nothing", "/static/app.css", "/signin"} {
		response := site.do(t, http.DefaultClient, http.MethodGet, path, nil, nil)

		policy := response.header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: policy %q lacks %q", path, policy, part)
			}
		}
		if got := response.header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options = %q, want nosniff", path, got)
		}
	}
}

func TestFailuresTellNothingInternal(t *testing.T) {
	t.Parallel()
	site := serve(t)
	client := site.signIn(t)
	tests := map[string]struct {
		path   string
		status int
		says   string
	}{
		"ours":      {"/fail/invalid", 422, "The name is too long."},
		"not found": {"/fail/missing", 404, "There is no such job."},
		"theirs":    {"/fail/internal", 500, "Something went wrong inside Dogear."},
		"the line":  {"/fail/line", 503, "The database does not answer."},
		"a panic":   {"/fail/panic", 500, "Something went wrong inside Dogear."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			page := site.do(t, client, http.MethodGet, tt.path, nil, nil)
			fragment := site.do(t, client, http.MethodGet, tt.path, nil, map[string]string{"HX-Request": "true"})

			for kind, response := range map[string]answer{"page": page, "fragment": fragment} {
				if response.status != tt.status || !strings.Contains(response.body, tt.says) {
					t.Errorf("%s = %d %q, want %d saying %q", kind, response.status, response.body, tt.status, tt.says)
				}
				if strings.Contains(response.body, "s3cret") {
					t.Errorf("%s shows the internal cause: %q", kind, response.body)
				}
			}
			if got := fragment.header.Get("HX-Retarget"); got != "#toasts" {
				t.Errorf("fragment retargets to %q, want #toasts", got)
			}
		})
	}
}

// TestWhatIsNoTextIsRefused in a query or a form, with the name of the field, before a
// database refuses it. What programs sign is read as it came.
func TestWhatIsNoTextIsRefused(t *testing.T) {
	t.Parallel()
	site := serve(t)
	client := site.signIn(t)
	header := map[string]string{"X-CSRF-Token": site.token(t, client), "Content-Type": "application/x-www-form-urlencoded"}
	run := "/workflows/" + string(engine.NewID(time.Now())) + "/run"
	for name, tt := range map[string]struct {
		method, path, form string
		status             int
	}{
		"a zero byte in a query": {"GET", "/workflows?name=a%00b", "", 422},
		"no UTF-8 in a query":    {"GET", "/workflows?name=%c3%28", "", 422},
		"a zero byte in a form":  {"POST", run, "name=a%00b", 422},
		"a zero byte in a name":  {"POST", run, "na%00me=a", 422},
		"text in a query":        {"GET", "/workflows?name=Gr%C3%BC%C3%9Fe+%F0%9F%90%B6", "", 200},
		"text in a form":         {"POST", run, "name=two%0D%0Alines%09and+a+tab", 200},
	} {
		response := site.do(t, client, tt.method, tt.path, strings.NewReader(tt.form), header)

		if response.status != tt.status || tt.status == 422 && !strings.Contains(response.body, "no text") {
			t.Errorf("%s: %d %q, want %d", name, response.status, response.body, tt.status)
		}
	}
}

// TestADatabaseThatIsAwayIsSaid to who is signed in, on every page; the paths for
// machines answer without it.
func TestADatabaseThatIsAwayIsSaid(t *testing.T) {
	t.Parallel()
	site := serve(t)
	client := site.signIn(t)
	site.store.mu.Lock()
	site.store.away = true
	site.store.mu.Unlock()

	page := site.do(t, client, http.MethodGet, "/workflows", nil, nil)
	health := site.do(t, client, http.MethodGet, "/healthz", nil, nil)

	if page.status != http.StatusServiceUnavailable || !strings.Contains(page.body, "The database does not answer.") {
		t.Errorf("a page = %d %q, want that the database is away", page.status, page.body)
	}
	if health.status != http.StatusOK {
		t.Errorf("/healthz = %d %q, want 200", health.status, health.body)
	}
}

// TestEveryCodeHasItsStatus, also one that is new: what is not a fault of the
// server does not look like one.
func TestEveryCodeHasItsStatus(t *testing.T) {
	t.Parallel()
	site := serve(t)
	client := site.signIn(t)
	statuses := map[engine.Code]int{
		engine.Internal: 500, engine.Invalid: 422, engine.NotFound: 404, engine.Conflict: 409, engine.Forbidden: 403, engine.LimitHit: 429, engine.Away: 503,
	}

	for _, code := range engine.Codes() {
		response := site.do(t, client, http.MethodGet, "/fail/code?code="+string(code), nil, nil)

		if want, known := statuses[code]; !known || response.status != want {
			t.Errorf("%s = %d, want %d", code, response.status, want)
		}
		if says := strings.Contains(response.body, "It is so."); says != (code != engine.Internal) {
			t.Errorf("%s says the message: %v", code, says)
		}
	}
}

func TestARequestThatIsBrokenOffIsNoError(t *testing.T) {
	t.Parallel()
	site := serve(t)
	left, leave := context.WithCancel(t.Context())
	leave()
	request := httptest.NewRequestWithContext(left, http.MethodGet, site.server.URL+"/fail/gone", nil)

	site.server.Config.Handler.ServeHTTP(httptest.NewRecorder(), request)

	if text := site.log.String(); strings.Contains(text, "level=ERROR") || !strings.Contains(text, "path=/fail/gone") {
		t.Errorf("log = %q, want the request and no error", text)
	}
}

func TestLogHoldsNoQuery(t *testing.T) {
	t.Parallel()
	site := serve(t)

	site.do(t, http.DefaultClient, http.MethodGet, "/signin?token=very-secret-token", nil, nil)

	if text := site.log.String(); strings.Contains(text, "very-secret-token") || !strings.Contains(text, "path=/signin") {
		t.Errorf("log = %q, want the path and not the query", text)
	}
}

func TestLargeBodyIsRefused(t *testing.T) {
	t.Parallel()
	site := serve(t)
	client := site.signIn(t)

	response := site.do(t, client, http.MethodPost, "/workflows/"+anID+"/run", bytes.NewReader(make([]byte, 5<<20)), map[string]string{
		"X-CSRF-Token": site.token(t, client), "Content-Type": "application/json",
	})

	if response.status != http.StatusRequestEntityTooLarge {
		t.Errorf("5 MB = %d, want 413", response.status)
	}
}

func TestTableRefusesWhatItCannotGuard(t *testing.T) {
	t.Parallel()
	fine := func(c web.Ctx) error { return nil }
	tests := map[string][]web.Route{
		"twice":             {{Method: "GET", Path: "/a", Handler: fine}, {Method: "GET", Path: "/a", Handler: fine}},
		"no handler":        {{Method: "GET", Path: "/a"}},
		"any path":          {{Method: "GET", Path: "/files/*", Handler: fine}},
		"unknown parameter": {{Method: "GET", Path: "/jobs/:name", Handler: fine}},
	}
	for name, routes := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := web.New(web.Config{Routes: routes, Sessions: web.NewSessions(newStore(), newStore(), false, slog.New(slog.DiscardHandler)), Log: slog.New(slog.DiscardHandler), Now: time.Now})

			if err == nil {
				t.Error("New accepted the table, want an error")
			}
		})
	}
}

// site is a server with a few routes of every kind.
type site struct {
	server *httptest.Server
	routes []web.Route
	store  *store
	calls  map[string]int
	log    *bytes.Buffer
}

func serve(t *testing.T) *site {
	t.Helper()
	s := &site{store: newStore(), calls: map[string]int{}, log: &bytes.Buffer{}}
	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	sessions := web.NewSessions(s.store, s.store, false, log)
	var mu sync.Mutex
	secret := func(c web.Ctx) error {
		mu.Lock()
		defer mu.Unlock()
		s.calls["secret"]++
		return c.String(http.StatusOK, "secret")
	}
	open := func(c web.Ctx) error { return c.String(http.StatusOK, "open") }
	fail := func(err error) web.Handler { return func(web.Ctx) error { return err } }
	s.routes = []web.Route{
		{Method: "GET", Path: "/healthz", Handler: open, Public: true},
		{Method: "GET", Path: "/signin", Handler: open, Public: true},
		{Method: "POST", Path: "/signin", Public: true, Handler: func(c web.Ctx) error { return sessions.SignIn(c, owner) }},
		{Method: "POST", Path: "/signout", Handler: sessions.SignOut},
		{Method: "GET", Path: "/", Handler: secret},
		{Method: "GET", Path: "/token", Handler: func(c web.Ctx) error { return c.String(http.StatusOK, sessions.Token(c)) }},
		{Method: "GET", Path: "/live", Handler: secret},
		{Method: "GET", Path: "/workflows", Handler: secret},
		{Method: "GET", Path: "/workflows/:id", Handler: secret},
		{Method: "POST", Path: "/workflows/:id/run", Handler: secret},
		{Method: "DELETE", Path: "/workflows/:id", Handler: secret},
		{Method: "PATCH", Path: "/api/ui/workflows/:id/draft", Handler: secret},
		{Method: "GET", Path: "/runs/:id/nodes/:node/log/:n", Handler: secret},
		{Method: "POST", Path: "/bookmarks/:id/:word", Handler: secret},
		{Method: "GET", Path: "/fail/invalid", Handler: fail(engine.Errorf(engine.Invalid, "The name is too long."))},
		{Method: "GET", Path: "/fail/missing", Handler: fail(engine.Errorf(engine.NotFound, "There is no such job."))},
		{Method: "GET", Path: "/fail/internal", Handler: fail(fmt.Errorf("open /var/s3cret: %w", io.ErrUnexpectedEOF))},
		{Method: "GET", Path: "/fail/gone", Public: true, Handler: func(c web.Ctx) error {
			if err := c.Request().Context().Err(); err != nil {
				return fmt.Errorf("run a query: %w", err)
			}
			return open(c)
		}},
		{Method: "GET", Path: "/fail/code", Handler: func(c web.Ctx) error { return engine.Errorf(engine.Code(c.QueryParam("code")), "It is so.") }},
		{Method: "GET", Path: "/fail/line", Handler: func(web.Ctx) error { return errors.New("the line broke") }},
		{Method: "GET", Path: "/fail/panic", Handler: func(web.Ctx) error { panic("s3cret") }},
	}
	handler, err := web.New(web.Config{
		Explain: func(err error) error {
			if strings.Contains(err.Error(), "line broke") {
				return engine.Errorf(engine.Away, "The database does not answer.")
			}
			return err
		},
		Routes: s.routes, Sessions: sessions, Hosts: web.LoopbackHosts, Log: log, Now: time.Now,
		Files: static.Files{"app.css": {Body: []byte("body{}"), Type: "text/css", Hash: "1"}, "fonts/inter.woff2": {Body: []byte("font"), Type: "font/woff2"}},
	})
	must(t, err)
	s.server = httptest.NewServer(handler)
	t.Cleanup(s.server.Close)
	return s
}

type answer struct {
	status int
	body   string
	header http.Header
}

// do sends path as it is written, without cleaning it as a client would.
func (s *site) do(t *testing.T, client *http.Client, method, path string, body io.Reader, header map[string]string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.server.URL, body)
	must(t, err)
	raw, query, _ := strings.Cut(path, "?")
	request.URL.Opaque = "//" + request.URL.Host + raw
	request.URL.RawQuery = query
	for key, value := range header {
		request.Header.Set(key, value)
	}
	response, err := client.Do(request)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return answer{response.StatusCode, string(text), response.Header}
}

func (s *site) signIn(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	client := &http.Client{Jar: jar}
	if got := s.do(t, client, http.MethodPost, "/signin", nil, nil); got.status != http.StatusOK {
		t.Fatalf("sign-in = %d, want 200", got.status)
	}
	return client
}

func (s *site) token(t *testing.T, client *http.Client) string {
	t.Helper()
	token := s.do(t, client, http.MethodGet, "/token", nil, nil).body
	if !regexp.MustCompile(`^[\w-]{86}$`).MatchString(token) {
		t.Fatalf("token %q, want 86 characters", token)
	}
	return token
}

var owner = auth.User{ID: anID, Name: "owner", Role: auth.Owner}

// store keeps sessions in memory.
type store struct {
	mu   sync.Mutex
	kept map[string][]byte
	away bool
}

func newStore() *store { return &store{kept: map[string][]byte{}} }

func (s *store) User(context.Context, engine.ID) (auth.User, error) { return owner, nil }

func (s *store) Session(_ context.Context, token string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, errors.New("the line broke")
	}
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
