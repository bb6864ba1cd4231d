package page_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"dogear/engine"
	"dogear/engine/draft"
)

// TestANumberThatIsRefusedStaysAsItWasTyped, in every form that has numbers.
func TestANumberThatIsRefusedStaysAsItWasTyped(t *testing.T) {
	t.Parallel()
	s := edit(t)
	const arrivals = engine.ID("01KBA5ZC9J6Q0V5W3D8M7N2P5D")
	s.pipeline(t)
	if status, answer := s.patch(t, 5, draft.Op{Kind: draft.AddTrigger, At: &engine.Point{X: 40, Y: 240}, New: &engine.Trigger{ID: arrivals, Name: "Arrivals", Type: engine.OnEvent}}); status != http.StatusOK {
		t.Fatalf("PATCH = %d %v", status, answer)
	}
	parts := url.Values{
		"name": {"load"}, "source.3.name": {"raw"}, "source.3.path": {"/data/*.csv"}, "source.3.format": {"csv"},
		"step.0.name": {"out"}, "step.0.sql": {"SELECT 1"}, "sink.0.from": {"out"}, "sink.0.path": {"/out"}, "sink.0.mode": {"append"},
	}
	for _, form := range []struct {
		name, at string
		send     url.Values
		typed    map[string]string // beside the errors
		kept     map[string]string // and as well
	}{
		{
			"of a workflow", s.at("/panel"),
			url.Values{"max_runs": {"many"}, "timeout": {"90"}, "description": {"typed too"}, "properties": {"Day=1"}},
			map[string]string{"max_runs": "many"},
			map[string]string{"timeout": "90"},
		},
		{"of a job's panel", s.at("/cards/job-" + string(s.job)), join(parts, url.Values{"retries": {"two"}, "max_runs": {"-1"}}), map[string]string{"retries": "two", "max_runs": "-1"}, nil},
		{
			"of a job's page", "/jobs/" + string(s.job),
			join(parts, url.Values{"timeout": {"soon"}, "pool": {""}, "priority": {"high"}, "source.3.max_files": {"a few"}, "source.3.max_bytes": {"10"}, "source.3.settle": {"a bit"}}),
			map[string]string{"timeout": "soon", "priority": "high", "source.0.max_files": "a few", "source.0.settle": "a bit"},
			map[string]string{"source.0.max_bytes": "10"},
		},
		{
			"of an event trigger", s.at("/cards/" + string(arrivals)),
			url.Values{"name": {"Arrivals"}, "seen.name": {"Arrivals"}, "event.source": {"calls"}, "event.size": {"ten"}, "event.window": {"1e3"}},
			map[string]string{"event.size": "ten", "event.window": "1e3"},
			nil,
		},
	} {
		status, body := s.change(t, form.at, form.send)
		if status != http.StatusUnprocessableEntity {
			t.Errorf("%s: POST = %d, want 422", form.name, status)
		}
		for field, typed := range form.typed {
			if got := value(t, body, field); got != typed {
				t.Errorf("%s: %s comes back as %q, want %q", form.name, field, got, typed)
			}
			if !regexp.MustCompile(`id="` + regexp.QuoteMeta(field) + `.error">[^<]`).MatchString(body) {
				t.Errorf("%s: nothing says what is wrong with %s", form.name, field)
			}
		}
		for field, typed := range form.kept {
			if got := value(t, body, field); got != typed {
				t.Errorf("%s: %s comes back as %q, want %q", form.name, field, got, typed)
			}
		}
	}
}

func join(a, b url.Values) url.Values {
	all := url.Values{}
	for _, values := range []url.Values{a, b} {
		for field := range values {
			all.Set(field, values.Get(field))
		}
	}
	return all
}
