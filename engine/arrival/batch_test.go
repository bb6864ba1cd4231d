package arrival_test

import (
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/arrival"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestABatchFiresBySizeOrByWindow(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rule    engine.EventRule
		waiting int
		age     time.Duration // of the first event
		n       int
		in      time.Duration // until the next look, where n is 0
	}{
		"nothing waits":                       {rule: engine.EventRule{Size: 3}},
		"one, of one":                         {rule: engine.EventRule{Size: 1}, waiting: 1, n: 1},
		"a size that was left out is one":     {waiting: 1, n: 1},
		"fewer wait for the window":           {rule: engine.EventRule{Size: 3, Window: 60}, waiting: 2, age: 20 * time.Second, in: 40 * time.Second},
		"the usual window is Glue's":          {rule: engine.EventRule{Size: 3}, waiting: 2, in: 15 * time.Minute},
		"the size is reached":                 {rule: engine.EventRule{Size: 3}, waiting: 3, n: 3},
		"what is beyond the size stays":       {rule: engine.EventRule{Size: 3}, waiting: 5, n: 3},
		"the window has passed":               {rule: engine.EventRule{Size: 3, Window: 60}, waiting: 2, age: time.Minute, n: 2},
		"the window passed while nobody ran":  {rule: engine.EventRule{Size: 3, Window: 60}, waiting: 1, age: time.Hour, n: 1},
		"one moment before the window's end":  {rule: engine.EventRule{Size: 3, Window: 60}, waiting: 2, age: time.Minute - 1, in: 1},
		"an event of a clock that runs ahead": {rule: engine.EventRule{Size: 3, Window: 60}, waiting: 1, age: -time.Second, in: 61 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			n, at := arrival.Batch(tt.rule, tt.waiting, noon.Add(-tt.age), noon)

			if n != tt.n {
				t.Errorf("n = %d, want %d", n, tt.n)
			}
			if want := noon.Add(tt.in); tt.waiting > 0 && !at.Equal(want) || tt.waiting == 0 && !at.IsZero() {
				t.Errorf("at = %s, want %s", at, want)
			}
		})
	}
}

// TestARunIsToldWhatCame: of a file its path, of a call what was sent, and of more than a
// script can be given what there is room for.
func TestARunIsToldWhatCame(t *testing.T) {
	t.Parallel()
	trigger := &engine.EventTrigger{Trigger: "t"}
	file := *arrival.Seen(trigger, engine.Object{Key: "a <b>.csv", Size: 7, ModNS: noon.UnixNano()}, "s3://shop/in/a <b>.csv", true, noon).Event
	file.ID = "f"
	long := engine.TriggerEvent{ID: "long", At: noon, Detail: `"` + strings.Repeat("x", 60<<10) + `"`}
	tests := map[string]struct {
		events []engine.TriggerEvent
		want   string
	}{
		"a file":             {[]engine.TriggerEvent{file}, `[{"id":"f","at":"2026-03-01T12:00:00Z","detail":{"path":"s3://shop/in/a \u003cb\u003e.csv","size":7,"modified":"2026-03-01T12:00:00Z"}}]`},
		"calls, one bare":    {[]engine.TriggerEvent{{ID: "a", At: noon, Detail: "{ \"day\": 1 }"}, {ID: "b", At: noon}}, `[{"id":"a","at":"2026-03-01T12:00:00Z","detail":{"day":1}},{"id":"b","at":"2026-03-01T12:00:00Z"}]`},
		"more than has room": {[]engine.TriggerEvent{long, {ID: "second", At: noon, Detail: long.Detail}, {ID: "third", At: noon, Detail: "3"}}, `[{"id":"long","at":"2026-03-01T12:00:00Z","detail":` + long.Detail + `},{"id":"second","at":"2026-03-01T12:00:00Z"},{"id":"third","at":"2026-03-01T12:00:00Z","detail":3}]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := arrival.Telling(tt.events); got != tt.want {
				t.Errorf("got  %.300s\nwant %.300s", got, tt.want)
			}
		})
	}
}

func TestEventIdsAreWrittenAsGlueDoes(t *testing.T) {
	t.Parallel()

	if got, want := arrival.IDs([]string{"a-1", "b"}), "[a-1, b]"; got != want {
		t.Errorf("IDs = %q, want %q", got, want)
	}
	for _, id := range []string{"", "a.b", "a, b", "[a]", "a b", "a\nb", "é", string(make([]byte, 129))} {
		if err := arrival.CheckID(id); engine.CodeOf(err) != engine.Invalid {
			t.Errorf("CheckID(%q) = %v, want it refused: it could not stand in a list", id, err)
		}
	}
	must(t, arrival.CheckID("msg_2Lh9KRb0pzN4LePd3XiA4v12Axj"))
}

func TestWhatIsWrongInARuleIsSaidBesideItsField(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rule  engine.EventRule
		field string
	}{
		"101 events":               {engine.EventRule{Size: 101}, "size"},
		"a negative size":          {engine.EventRule{Size: -1}, "size"},
		"a window beyond Glue's":   {engine.EventRule{Size: 1, Window: 901}, "window"},
		"a source that is not":     {engine.EventRule{Source: "mail"}, "source"},
		"a queue that is a name":   {engine.EventRule{Source: engine.EventFiles, Path: "s3://b/", Queue: "arrivals"}, "queue"},
		"a queue with a password":  {engine.EventRule{Source: engine.EventFiles, Path: "s3://b/", Queue: "https://me:you@sqs.example/1/q"}, "queue"},
		"a queue for a folder":     {engine.EventRule{Source: engine.EventFiles, Path: "in", Queue: "https://sqs.example/1/q"}, "queue"},
		"a connection that is not": {engine.EventRule{Connection: "../x"}, "connection"},
		"a look each year":         {engine.EventRule{Every: 86_401}, "every"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			found := arrival.Faults(tt.rule)

			if len(found) != 1 || found[0].Field != tt.field || arrival.Check(tt.rule) == nil {
				t.Errorf("Faults = %+v, want one for %s", found, tt.field)
			}
		})
	}
	whole := engine.EventRule{Source: engine.EventFiles, Size: 100, Window: 900, Path: "s3://b/x/*.csv", Queue: "https://sqs.eu-west-1.amazonaws.com/1/q"}
	must(t, arrival.Missing(whole))
	for _, r := range []engine.EventRule{{}, {Source: engine.EventFiles, Size: 1}} {
		if arrival.Missing(r) == nil {
			t.Errorf("Missing(%+v) = nil, want what it lacks", r)
		}
	}
}
