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

// Load is a server of which half is taken and whose disk is nearly full.
func (l looked) Load(context.Context) (engine.Load, error) {
	return engine.Load{Slots: 4, Working: 2, Waiting: 7, Free: 5 << 30, Disk: 100 << 30, Database: 3 << 20}, nil
}

// TestHealthSaysInPlainWordsWhatIsWrongAndWhatToDo: every check of the product has
// such words, and one that failed stands first, with its places.
func TestHealthSaysInPlainWordsWhatIsWrongAndWhatToDo(t *testing.T) {
	t.Parallel()
	site := serve(t)
	checks, err := site.store.Checks(t.Context())
	must(t, err)
	for _, id := range []string{"I1", "I5", "I10", "I11", "I12"} { // those of exec
		checks = append(checks, engine.Check{ID: id, Rule: "The rule of " + id + "."})
	}
	checks = append(checks, engine.Check{ID: "I9", Rule: "A due time of a schedule starts one run.", Broken: []engine.Broken{{Run: runID, What: "and 1 more " + odd}}})
	site.open(t, page.Config{Store: world{site.store, site}, Health: looked{At: noon, Checks: checks}})

	status, body := site.get(t, "/health")
	_, busy := site.get(t, "/health/load")

	contains(t, "the page", body, "1 rule broken", "One due time of a schedule has started several runs.", "/runs/"+string(runID), "and 1 more &lt;script&gt;", "Stop those that are too many", "A run ends together with its last job.")
	if status != http.StatusOK || strings.Index(body, "has started several runs") > min(strings.Index(body, "A trigger decides once"), strings.Index(body, "2 of 4")) {
		t.Errorf("GET = %d, or what is broken does not stand first", status)
	}
	for _, c := range checks {
		if len(c.Broken) == 0 && strings.Contains(body, ">"+c.Rule) {
			t.Errorf("%s has no plain words: the page says its rule %q", c.ID, c.Rule)
		}
	}
	contains(t, "the load", busy, "2 of 4", "2 free on this server", ">7<", "102 GB of 107 GB are not free. Nearly full", "width:95.0%", "3.1 MB", "SQLite", "None is published")
}

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
