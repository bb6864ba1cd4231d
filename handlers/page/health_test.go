package page_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/handlers/page"
)

// looked is what the watchdog found.
type looked engine.Health

func (l looked) Health(context.Context) (engine.Health, error) { return engine.Health(l), nil }

func TestHealthSaysWhenAServerWasLastSeen(t *testing.T) {
	t.Parallel()
	site := serve(t)
	works := engine.Replica{ID: runID, Host: "one", Left: 5 * time.Second, Silent: 10 * time.Second}
	gone := engine.Replica{ID: batchID, Host: "two " + odd, Left: -3 * time.Minute, Silent: 3*time.Minute + 15*time.Second}
	older := engine.Replica{ID: markID, Host: "three", Left: time.Second, Silent: -1}
	site.open(t, page.Config{Store: world{site.store, site}, Health: looked{At: noon, Servers: []engine.Replica{works, gone, older}}})

	status, body := site.get(t, "/health")

	contains(t, "the page", body, "Works", "Gone", "Last seen", `datetime="2026-11-28T11:59:50`, `datetime="2026-11-28T11:56:45`, "not known", "leaves this list ten minutes later")
	if status != http.StatusOK || strings.Contains(body, "<script>alert") {
		t.Errorf("GET = %d, or a host is markup", status)
	}
	site.open(t, page.Config{Store: world{site.store, site}, Health: looked{At: noon, Servers: []engine.Replica{works, works}}})
	if _, body = site.get(t, "/health"); strings.Contains(body, "Gone") || strings.Contains(body, "ten minutes") {
		t.Error("the page speaks of servers that are gone where none is")
	}
}
