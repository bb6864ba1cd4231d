package job_test

import (
	"encoding/json"
	"net/url"
	"reflect"
	"testing"

	"dogear/engine"
	"dogear/views/job"
)

// TestARenamedSourceKeepsItsBookmark: the context is the old name from then on,
// however often the source is renamed.
func TestARenamedSourceKeepsItsBookmark(t *testing.T) {
	t.Parallel()
	type step struct{ name, rest, want string }
	for _, s := range []step{
		{"orders", `{"name":"orders"}`, ""},
		{"sales", `{"name":"orders"}`, "orders"},
		{"deals", `{"name":"sales","ctx":"orders"}`, "orders"},
		{"fresh", "", ""},
	} {
		form := job.ReadForm(url.Values{
			"name": {"load"}, "source.0.name": {s.name}, "source.0.rest": {s.rest}, "source.0.path": {"in/*.csv"},
		}, engine.Draft[engine.JobBody]{})
		if got := form.Body.SQL.Sources[0].Ctx; got != s.want {
			t.Errorf("%s after %s reads by %q, want %q", s.name, s.rest, got, s.want)
		}
	}
}

// TestAShortFormKeepsTheTable: the panel of a card shows neither the table nor
// its options, and must not lose them.
func TestAShortFormKeepsTheTable(t *testing.T) {
	t.Parallel()
	form := job.ReadForm(url.Values{
		"name": {"load"}, "source.0.name": {"orders"}, "source.0.path": {""},
		"source.0.rest": {`{"name":"orders","table":"public.orders","keys":["id"],"options":{"table":{"overlap":60}}}`},
		"sink.0.from":   {"orders"}, "sink.0.path": {""}, "sink.0.mode": {"merge"}, "sink.0.keys": {"id"}, "sink.0.rest": {`{"table":"public.copy"}`},
	}, engine.Draft[engine.JobBody]{})
	source, sink := form.Body.SQL.Sources[0], form.Body.SQL.Sinks[0]
	if source.Table != "public.orders" || len(source.Keys) != 1 || source.Options.Table.Overlap != 60 || sink.Table != "public.copy" {
		t.Errorf("got %+v and %+v", source, sink)
	}
}

// TestArgumentsComeBackAsTheyWereTyped: in their order and with the space in them,
// whatever else in the form is wrong; from the draft they come by name.
func TestArgumentsComeBackAsTheyWereTyped(t *testing.T) {
	t.Parallel()
	draft := engine.Draft[engine.JobBody]{Body: engine.JobBody{Kind: engine.JobPython, Arguments: map[string]string{"B": "2", "A": "1"}}}
	typed := "Separator=;\nDay=1\n\nPad= "

	for about, values := range map[string]url.Values{
		"something else is wrong": {"name": {"load"}, "timeout": {"soon"}, "script.body": {"pass"}, "arguments": {typed}},
		"nothing is wrong":        {"name": {"load"}, "script.body": {"pass"}, "arguments": {typed}},
	} {
		form := job.ReadForm(values, draft)
		if got := form.Arguments(); got != typed || form.Body.Arguments["Pad"] != " " {
			t.Errorf("%s: they come back as %q and are read as %q, want %q", about, got, form.Body.Arguments, typed)
		}
	}
	wrong := job.ReadForm(url.Values{"name": {"load"}, "script.body": {"pass"}, "arguments": {"Day"}}, draft)
	fresh := job.FormOf(draft)
	if wrong.Errors["arguments"] == "" || wrong.Arguments() != "Day" || fresh.Arguments() != "A=1\nB=2\n" {
		t.Errorf("a wrong line comes back as %q, and the draft as %q", wrong.Arguments(), fresh.Arguments())
	}
}

// TestAShortFormKeepsTheLane: nor the pool, the priority and the time between
// retries.
func TestAShortFormKeepsTheLane(t *testing.T) {
	t.Parallel()
	draft := engine.Draft[engine.JobBody]{Body: engine.JobBody{RetryDelay: 30, Lane: engine.Lane{Pool: "warehouse", Priority: -5}}}

	short := job.ReadForm(url.Values{"name": {"load"}, "retries": {"2"}}, draft).Body
	whole := job.ReadForm(url.Values{"name": {"load"}, "pool": {""}, "priority": {"7"}, "retry_delay": {""}}, draft).Body

	if short.Pool != "warehouse" || short.Priority != -5 || short.RetryDelay != 30 {
		t.Errorf("the panel leaves %+v and %d s, want what was there", short.Lane, short.RetryDelay)
	}
	if whole.Pool != "" || whole.Priority != 7 || whole.RetryDelay != 0 {
		t.Errorf("the form leaves %+v and %d s, want what was typed", whole.Lane, whole.RetryDelay)
	}
}

// TestAFormKeepsWhatWasLeftOut: it shows a choice where a file says nothing, and saved
// as it is shown it changes nothing; columns that were fixed stay, too.
func TestAFormKeepsWhatWasLeftOut(t *testing.T) {
	t.Parallel()
	source := engine.Source{Name: "sales", Path: "/in/*.csv", Schema: []engine.Column{{Name: "id", Type: "BIGINT"}}}
	sink := engine.Sink{From: "sales", Path: "/out"}
	rest := func(part any) []string {
		text, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		return []string{string(text)}
	}
	values := url.Values{
		"name": {"load"}, "source.0.rest": rest(source), "source.0.name": {"sales"}, "source.0.path": {"/in/*.csv"}, "source.0.format": {"csv"},
		"source.0.read": {"new"}, "sink.0.rest": rest(sink), "sink.0.from": {"sales"}, "sink.0.path": {"/out"}, "sink.0.format": {"parquet"}, "sink.0.mode": {"append"},
	}

	got := job.ReadForm(values, engine.Draft[engine.JobBody]{Body: engine.JobBody{Kind: engine.JobSQL}}).Body.SQL
	values.Set("sink.0.mode", "merge")
	values.Set("source.0.format", "json")
	other := job.ReadForm(values, engine.Draft[engine.JobBody]{Body: engine.JobBody{Kind: engine.JobSQL}}).Body.SQL

	if !reflect.DeepEqual(got.Sources[0], source) || !reflect.DeepEqual(got.Sinks[0], sink) {
		t.Errorf("got %+v and %+v, want %+v and %+v", got.Sources[0], got.Sinks[0], source, sink)
	}
	if other.Sources[0].Format != engine.JSON || other.Sources[0].Schema != nil || other.Sinks[0].Mode != engine.Merge {
		t.Errorf("what was chosen: got %+v and %+v", other.Sources[0], other.Sinks[0])
	}
}
