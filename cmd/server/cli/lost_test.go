package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/handlers/control"
)

// losing is a command line whose server dies once it has done what it was asked: real
// does it, and cut bytes of the answer come back.
func losing(t *testing.T, real *site, cut int) *site {
	t.Helper()
	s := &site{data: t.TempDir()}
	socket, err := control.Listen(t.Context(), s.data)
	must(t, err)
	through := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return control.Dial(ctx, real.data) },
	}}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := http.NewRequestWithContext(r.Context(), r.Method, "http://dogear"+r.URL.RequestURI(), r.Body)
		if err != nil {
			panic(err)
		}
		answer, err := through.Do(request)
		if err != nil {
			panic(err)
		}
		defer answer.Body.Close()
		if cut > 0 {
			w.WriteHeader(answer.StatusCode)
			_, _ = io.CopyN(w, answer.Body, int64(cut))
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(socket) }()
	t.Cleanup(func() {
		must(t, server.Close())
		<-ended
	})
	return s
}

// TestA20ACommandWhoseAnswerIsLost says that the run may have begun and how to ask again:
// by the token that it names the same run is the answer.
func TestA20ACommandWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]int{"before it began": 0, "in its middle": 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			real := serve(t, t.TempDir())
			_, err := real.run(t, document("one"), "workflow", "import", "-")
			must(t, err)
			dying := losing(t, real, cut)
			for _, command := range [][]string{{"workflow", "run", "one"}, {"job", "run", "copy", "--property", "Least=0"}} {
				_, lost := dying.run(t, "", command...)

				said := engine.MessageOf(lost)
				token := regexp.MustCompile(`--token (\w+)`).FindStringSubmatch(said)
				if engine.CodeOf(lost) != engine.Away || !strings.Contains(said, "the run may have begun") || !strings.Contains(said, "dogear run list") || token == nil {
					t.Fatalf("%q: %v, want that the run may have begun, and how to look", command, lost)
				}
				var first, again control.Run
				must(t, json.Unmarshal([]byte(real.ok(t, append(command, "--json", "--token", token[1])...)), &first))
				must(t, json.Unmarshal([]byte(real.ok(t, append(command, "--json", "--token", token[1])...)), &again))
				var runs []control.Run
				must(t, json.Unmarshal([]byte(real.ok(t, "run", "list", "--json", "--name", first.Name)), &runs))
				if len(runs) != 1 || runs[0].ID != first.ID || again.ID != first.ID {
					t.Errorf("%q: %d runs, want the one that began when the answer was lost", command, len(runs))
				}
			}
			_, asked := dying.run(t, "", "run", "list")
			_, changed := dying.run(t, "", "trigger", "off", "one", "by hand")
			if want := "Start it again, then say the same command again."; !strings.Contains(engine.MessageOf(asked), want) {
				t.Errorf("a question: %v, want %q", asked, want)
			}
			if want := "it may have done this, or not."; cut == 0 && !strings.Contains(engine.MessageOf(changed), want) {
				t.Errorf("a change: %v, want %q", changed, want)
			}
		})
	}
}
