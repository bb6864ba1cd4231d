package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dogear/engine"
)

func TestAPoolIsMadeResizedAndDeleted(t *testing.T) {
	t.Parallel()
	site, told := steered(t, func(*engine.Run) {})
	for name, wrong := range map[string]url.Values{
		"no name":     {"new": {"1"}, "name": {""}, "places": {"2"}},
		"no number":   {"new": {"1"}, "name": {"warehouse"}, "places": {"many"}},
		"below zero":  {"new": {"1"}, "name": {"warehouse"}, "places": {"-1"}},
		"a name that": {"new": {"1"}, "name": {"backfills"}, "places": {"1"}},
	} {
		if status, _ := site.change(t, "/pools", wrong); status != http.StatusUnprocessableEntity {
			t.Errorf("%s: got %d", name, status)
		}
	}

	status, _ := site.change(t, "/pools", url.Values{"new": {"1"}, "name": {"warehouse"}, "places": {"2"}})
	_, list := site.get(t, "/pools")
	if status >= 400 || !strings.Contains(list, `data-pool="warehouse"`) || !strings.Contains(list, `aria-label="Places of warehouse"`) {
		t.Fatalf("making a pool: got %d", status)
	}
	site.change(t, "/pools", url.Values{"name": {"warehouse"}, "places": {"7"}})
	_, form := site.get(t, "/jobs/"+string(site.job))
	if _, list = site.get(t, "/pools"); !strings.Contains(list, `value="7"`) || !strings.Contains(form, `<option value="warehouse">`) {
		t.Error("the pool has not seven places now, or the form of a job does not offer it")
	}
	if status, _ := site.change(t, "/pools/delete", url.Values{"name": {"nothing"}}); status != http.StatusConflict {
		t.Errorf("deleting what is not there: got %d", status)
	}
	site.change(t, "/pools/delete", url.Values{"name": {"warehouse"}})
	if _, list = site.get(t, "/pools"); strings.Contains(list, `data-pool="warehouse"`) {
		t.Error("the pool is still there")
	}
	if len(told.asked) != 3 {
		t.Errorf("the engine was told %v, want three times", told.asked)
	}
}
