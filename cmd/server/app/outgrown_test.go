package app

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"dogear/db/dbtest"
	"dogear/handlers/control"
)

// TestAnOutgrownServerSaysSo on every page, to machines, in its log and to whoever asks
// it to change something, once a newer version has changed its database.
func TestAnOutgrownServerSaysSo(t *testing.T) {
	t.Parallel()
	address := dbtest.PostgresAddress(t)
	data, said := t.TempDir(), &lines{}
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan [2]string, 1), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{
			Data: data, Out: said, Options: Options{Addr: "127.0.0.1:0", Slots: 1, Database: address, Key: keyForTest},
			Ready: func(address, link string) { ready <- [2]string{address, link} },
		})
	}()
	at := soon(t, ready, "the server")
	site := at[0]
	link, err := url.Parse(at[1])
	must(t, err)
	jar, err := cookiejar.New(nil)
	must(t, err)
	browser := &http.Client{Jar: jar}
	ask := func(method, path string, form url.Values) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, site+path, strings.NewReader(form.Encode()))
		must(t, err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", site)
		response, err := browser.Do(request)
		must(t, err)
		return response.StatusCode, readAll(t, response)
	}
	if status, body := ask(http.MethodPost, "/signin", url.Values{"token": {link.Query().Get("token")}}); status != http.StatusOK || strings.Contains(body, "outgrown") {
		t.Fatalf("signing in: %d %s", status, body)
	}

	dbtest.Exec(t, address, `INSERT INTO bun_migrations (name, group_id) VALUES ('29990101000001', 99)`)
	dbtest.Exec(t, address, `SELECT pg_notify('dogear', '{"from":"","words":[{"t":"schema"}]}')`)
	const sentence = "A newer Dogear has changed the database under this server (by the step 29990101000001)"
	limit := time.After(20 * time.Second)
	for status := 0; status != http.StatusServiceUnavailable; {
		status, _ = get(t, site+"/readyz")
		select {
		case <-limit:
			t.Fatal("the server does not notice")
		case <-time.After(5 * time.Millisecond):
		}
	}

	for path, want := range map[string]struct {
		method string
		status int
		text   string
	}{
		"/readyz":        {http.MethodGet, http.StatusServiceUnavailable, sentence},
		"/healthz":       {http.MethodGet, http.StatusOK, "ok"},
		"/workflows":     {http.MethodGet, http.StatusOK, sentence},
		"/runs":          {http.MethodGet, http.StatusOK, sentence},
		"/workflows/new": {http.MethodPost, http.StatusServiceUnavailable, sentence},
		"/hooks/1":       {http.MethodPost, http.StatusServiceUnavailable, `"message":"A newer Dogear`},
	} {
		if status, body := ask(want.method, path, nil); status != want.status || !strings.Contains(body, want.text) {
			t.Errorf("%s %s: %d, want %d with %q in\n%s", want.method, path, status, want.status, want.text, body)
		}
	}
	var answer struct{ Message string }
	for path, method := range map[string]string{"/health": http.MethodGet, "/signin": http.MethodPost} {
		if status := atSocket(t, data, method, path, &answer); status != http.StatusServiceUnavailable || !strings.Contains(answer.Message, sentence) {
			t.Errorf("%s at the socket: %d %s", path, status, answer.Message)
		}
	}
	if !strings.Contains(said.String(), "this server is outgrown") {
		t.Errorf("the log says\n%s", said)
	}
	stop()
	must(t, soon(t, ended, "its end"))
}

func readAll(t *testing.T, response *http.Response) string {
	t.Helper()
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return string(text)
}

// atSocket asks the server of a data folder as the command line does.
func atSocket(t *testing.T, data, method, path string, to any) (status int) {
	t.Helper()
	asks := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return control.Dial(ctx, data) }, DisableKeepAlives: true,
	}}
	request, err := http.NewRequestWithContext(t.Context(), method, "http://dogear"+path, nil)
	must(t, err)
	response, err := asks.Do(request)
	must(t, err)
	must(t, json.Unmarshal([]byte(readAll(t, response)), to))
	return response.StatusCode
}
