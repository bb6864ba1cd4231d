package portable_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dogear/engine"
	"dogear/engine/portable"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// export writes what a set would leave on an empty server.
func export(t rapid.TB, set portable.Set, connections []engine.Connection) string {
	t.Helper()
	parts := portable.Parts{Connections: connections}
	for _, p := range set.Jobs {
		parts.Jobs = append(parts.Jobs, engine.Job{Head: engine.Head{ID: p.ID, Name: p.Name, Version: 1}, JobBody: p.Body})
	}
	for _, p := range set.Crawlers {
		parts.Crawlers = append(parts.Crawlers, engine.Crawler{Head: engine.Head{ID: p.ID, Name: p.Name, Version: 1}, CrawlerBody: p.Body})
	}
	d, err := portable.Export(engine.Workflow{Head: engine.Head{ID: set.Workflow.ID, Name: set.Workflow.Name, Version: 1}, WorkflowBody: set.Workflow.Body}, parts)
	if err != nil {
		t.Fatalf("export: %v", err)
	}
	text, err := d.YAML()
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	return string(text)
}

func TestExportImportExportIsTheSameText(t *testing.T) {
	t.Parallel()
	connections := []engine.Connection{{Head: engine.Head{ID: engine.NewID(noon), Name: "lake: 'eu'"}}}
	rapid.Check(t, func(t *rapid.T) {
		d := document(t, connections[0].Name)

		text, err := d.YAML()
		if err != nil {
			t.Fatal(err)
		}
		read, err := portable.Parse(text)
		if err != nil {
			t.Fatalf("parse: %v\n%s", err, text)
		}
		set, err := portable.Resolve(read, portable.Here{Connections: connections, Pools: map[string]int{"warehouse": 1}}, noon)
		if err != nil {
			t.Fatalf("resolve: %v\n%s", err, text)
		}

		if again := export(t, set, connections); again != string(text) {
			t.Fatalf("got\n%s\nwant\n%s", again, text)
		}
	})
}

// document draws a workflow of two jobs and a crawler with odd names and texts.
func document(t *rapid.T, connection string) portable.Document {
	word := rapid.StringOfN(rapid.RuneFrom([]rune("aZ9 :#'\"-{}[]|>&*!%@`,?/\\<é🦊\u202e\u0085")), 0, 12, -1)
	value := rapid.Map(word, func(text string) string { return strings.ReplaceAll(text, "{{", "{ {") }) // no placeholder
	name := func(i int, label string) string {
		seen := strings.NewReplacer("\u202e", "", "\u0085", "") // a name may not hold them
		return fmt.Sprintf("n%d%sx", i, seen.Replace(word.Draw(t, label)))
	}
	first, second, crawler := name(1, "job"), name(2, "job"), name(3, "crawler")
	header := rapid.Bool().Draw(t, "header")
	settle := rapid.Int64Range(0, 9000).Draw(t, "settle")
	sql := rapid.StringMatching(`SELECT [a-z' :#"]{1,9}\n?( {0,3}FROM "in"\n?){1,3}`).Draw(t, "sql")
	job := func(name string) portable.Job {
		return portable.Job{
			Name: name, Description: word.Draw(t, "about"), Kind: engine.JobSQL, Bookmark: rapid.SampledFrom([]engine.BookmarkMode{engine.BookmarkOn, engine.BookmarkPaused, engine.BookmarkOff}).Draw(t, "mode"),
			Timeout: 5, Retries: 1, RetryDelay: 9, Pool: "warehouse", Priority: -3, MaxRuns: 2, MemoryMB: 2048, SpillMB: 512, MaxRejects: 3, Arguments: map[string]string{"a b": word.Draw(t, "argument")},
			Sources: []portable.Source{{
				Name: "in", Connection: connection, Path: "s3://b/" + word.Draw(t, "path"), Format: engine.CSV, Read: engine.ReadNew, Ctx: "in",
				Options: portable.Options{Exclude: []string{word.Draw(t, "exclude")}, MaxFiles: 7, MaxBytes: 1 << 40, From: noon, To: noon.AddDate(0, 1, 0), SettleMS: &settle, CSV: portable.Dialect{Delimiter: "\t", Quote: `"`, Header: &header, NullText: "null"}},
				Policy:  portable.Policy{Changed: "hold", Gone: "drop"}, Schema: []portable.Column{{Name: "yes", Type: "VARCHAR"}},
			}},
			Steps: []portable.Step{{Name: "out", SQL: sql}},
			Sinks: []portable.Sink{{From: "out", Path: "out", Mode: engine.Merge, Keys: []string{"id"}, LatestBy: "at", PartitionBy: []string{"year"}, Format: engine.Parquet}},
		}
	}
	return portable.Document{
		Format: portable.Format,
		Workflow: portable.Workflow{
			Name: name(0, "workflow"), Description: word.Draw(t, "about"), MaxRuns: 1, Timeout: 90,
			Properties: map[string]string{"on": value.Draw(t, "property"), "day": "{{due.date}}"},
			Triggers: []portable.Trigger{
				{
					Name: "noon", Type: engine.Scheduled, Schedule: "cron(0 12 * * ? *)", Zone: "Europe/Berlin", Missed: engine.MissedAll, Overlap: engine.OverlapQueue, Disabled: header, At: &portable.Place{10, -20},
					Start: []portable.Action{{Node: portable.Node{Job: first}, Arguments: map[string]string{"x": value.Draw(t, "argument")}, Timeout: 3, Retries: new(int)}},
				},
				{
					Name: "arrivals", Type: engine.OnEvent, Event: &portable.Event{
						Source: engine.EventFiles, Size: 10, Window: 60, Path: "s3://b/x/*.csv", Connection: connection, Queue: "https://sqs.example/1/q", Every: 30, Settle: 5,
					},
					Start: []portable.Action{{Node: portable.Node{Job: first}}},
				},
				{
					Name: "calls", Type: engine.OnEvent, Event: &portable.Event{Source: engine.EventCalls, Size: 1},
					Start: []portable.Action{{Node: portable.Node{Job: first}}},
				},
				{
					Name: name(4, "trigger"), Type: engine.Conditional, Logic: engine.Any, When: []portable.Condition{{Node: portable.Node{Job: first}, State: engine.Succeeded}},
					Start: []portable.Action{{Node: portable.Node{Crawler: crawler}}},
				},
			},
			Cards: []portable.Card{{Node: portable.Node{Job: first}, At: &portable.Place{1, 2}}, {Node: portable.Node{Job: second}}},
		},
		Jobs:     []portable.Job{job(first), job(second)},
		Crawlers: []portable.Crawler{{Name: crawler, Database: "lake", Timeout: 5, MaxTables: 40, Targets: []portable.Target{{Connection: connection, Path: "s3://b/x"}}}},
	}
}

// small is a document that is right.
const small = `dogear: 1
workflow:
  name: w
  triggers:
    - name: go
      type: on_demand
      start:
        - job: j
jobs:
  - name: j
    kind: sql
    bookmark: enabled
    sources:
      - name: input
        path: in/*.csv
        format: csv
    steps:
      - name: output
        sql: SELECT * FROM input
    sinks:
      - from: output
        path: out
`

// mayUse is what a server may not write.
func mayUse(path string) error {
	if strings.HasPrefix(path, "/etc") {
		return engine.Errorf(engine.Forbidden, "%s may not be used.", path)
	}
	return nil
}

func TestImportRefusesAndSaysWhere(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ old, new, want string }{
		"B22 a misspelled key":   {"    kind: sql", "    knid: sql", "line 11: the key knid is not known in a job (did you mean kind?)"},
		"a key of elsewhere":     {"    kind: sql", "    kind: sql\n    target: out", "the key target is not known in a job (its keys are name, description, kind,"},
		"a key of an event":      {"type: on_demand", "type: event\n      event: {listen: calls}", "the key listen is not known in an event (its keys are source, batch_size,"},
		"a key of a start":       {"        - job: j", "        - jobs: j", "is not known in an action (did you mean job?)"},
		"a key twice":            {"    kind: sql", "    kind: sql\n    kind: sql", "line 12"},
		"a number that is text":  {"    kind: sql", "    kind: sql\n    retries: many", "line 12: `many` stands where there should be a whole number."},
		"a list that is a map":   {"jobs:\n  - name: j\n", "jobs:\n    name: j\n", "line 10: there should be a list, each of its entries after a dash."},
		"a text that has keys":   {"    kind: sql", "    kind: sql\n    script: import sys", "line 12: `import sys` stands where there should be keys of its own"},
		"broken YAML":            {"  name: w", "  name: [w", "line"},
		"another format":         {"dogear: 1", "dogear: 2", "format 2"},
		"no format":              {"dogear: 1\n", "", `does not begin with "dogear: 1"`},
		"a second document":      {"        path: out\n", "        path: out\n---\ndogear: 1\n", "second document"},
		"an unknown job":         {"        - job: j", "        - job: other", `names the job "other", which is neither in the file nor here`},
		"an unknown connection":  {"        path: out", "        path: out\n        connection: lake", `the connection "lake", which is not here`},
		"a node of two kinds":    {"        - job: j", "        - job: j\n          crawler: c", "either a job or a crawler"},
		"no name":                {"  name: w", `  name: ""`, "A workflow needs a name."},
		"two jobs of one name":   {"jobs:\n", "jobs:\n  - name: j\n    kind: sql\n", `two jobs named "j"`},
		"a rule of jobs":         {"        path: out", "        path: out\n        mode: merge", "sink.0.keys: A merge needs the columns"},
		"a foreign folder":       {"        path: out", "        path: /etc/out", "Job j, sink.0.path: /etc/out may not be used."},
		"overwriting by new":     {"        path: out", "        path: out\n        mode: overwrite_partitions\n        partition_by: [day]", "source.0.partition: out is overwritten by partitions"},
		"an unknown mode":        {"        path: out", "        path: out\n        mode: upsert", `There is no way to write "upsert".`},
		"a schedule":             {"type: on_demand", "type: scheduled\n      schedule: cron(61 * * * ? *)", "The schedule of go is not valid"},
		"an undeclared property": {"SELECT * FROM input", "SELECT getvariable('Day') FROM input", "uses the property Day, which this workflow does not declare"},
		"an endless placeholder": {"  name: w", "  name: w\n  properties: {a: '{{due.date'}", "{{ at character 1 without the }}"},
		"an unknown placeholder": {"  name: w", "  name: w\n  properties: {a: '{{now}}'}", "{{now}}, which does not exist"},
		"a loop":                 {"        - job: j", "        - job: j\n    - name: back\n      type: conditional\n      when: [{job: j, state: succeeded}]\n      start: [{job: j}]", "loop"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(small, test.old) {
				t.Fatalf("the small document does not hold %q", test.old)
			}

			d, err := portable.Parse([]byte(strings.Replace(small, test.old, test.new, 1)))
			if err == nil {
				_, err = portable.Resolve(d, portable.Here{MayUse: mayUse}, noon)
			}

			if engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), test.want) {
				t.Errorf("got %v, want Invalid with %q", err, test.want)
			}
		})
	}
}

func TestImportKeepsIdsAndSaysWhatChanges(t *testing.T) {
	t.Parallel()
	d, err := portable.Parse([]byte(small))
	must(t, err)
	first, err := portable.Resolve(d, portable.Here{}, noon)
	must(t, err)
	here := portable.Here{
		Workflow: &engine.Draft[engine.WorkflowBody]{Head: engine.Head{ID: first.Workflow.ID, Name: "w", Version: 1}, Body: first.Workflow.Body},
		Jobs:     []engine.Draft[engine.JobBody]{{Head: engine.Head{ID: first.Jobs[0].ID, Name: "j", Version: 1}, Body: first.Jobs[0].Body}},
	}

	same, err := portable.Resolve(d, here, noon.Add(time.Hour))
	must(t, err)
	d.Jobs[0].Retries = 2
	changed, err := portable.Resolve(d, here, noon.Add(time.Hour))
	must(t, err)
	here.Jobs[0].Open = true
	_, refused := portable.Resolve(d, here, noon.Add(time.Hour))

	if got, want := [2]portable.Verb{same.Workflow.Verb, same.Jobs[0].Verb}, [2]portable.Verb{portable.Keep, portable.Keep}; got != want {
		t.Errorf("importing the same again: got %v, want %v", got, want)
	}
	if got, want := changed.Jobs[0].Verb, portable.Change; got != want || changed.Jobs[0].ID != first.Jobs[0].ID {
		t.Errorf("importing a changed job: got %s of %s, want %s of %s", got, changed.Jobs[0].ID, want, first.Jobs[0].ID)
	}
	if engine.CodeOf(refused) != engine.Invalid || !strings.Contains(engine.MessageOf(refused), "unpublished changes") {
		t.Errorf("importing over an open draft: got %v, want Invalid", refused)
	}
}

func TestExportRefusesWhatHasNoName(t *testing.T) {
	t.Parallel()
	gone := engine.Ref{Kind: engine.KindJob, ID: engine.NewID(noon)}
	w := engine.Workflow{Head: engine.Head{Name: "w", Version: 1}, WorkflowBody: engine.WorkflowBody{Cards: []engine.Ref{gone}}}

	_, err := portable.Export(w, portable.Parts{})

	if engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), "deleted") {
		t.Errorf("got %v, want Invalid about a deleted job", err)
	}
}

// TestAScriptStaysAsItIs: YAML folds, trims and quotes; the text of a script
// comes back byte for byte.
func TestAScriptStaysAsItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"", "import sys", "    x = 1  ", "\tif a:", "# é: - [] {}", "---", "'''", `print("\n")`, "x\r", "- a: b", "  "})
		body := "print(1)\n" + strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), "\n")
		d := portable.Document{
			Format:   1,
			Workflow: portable.Workflow{Name: "w", Cards: []portable.Card{{Node: portable.Node{Job: "j"}}}},
			Jobs:     []portable.Job{{Name: "j", Kind: engine.JobPython, Bookmark: engine.BookmarkOff, Arguments: map[string]string{"Day": "1"}, Script: portable.Script{Body: body, Grace: 30}}},
		}

		text, err := d.YAML()
		if err != nil {
			t.Fatal(err)
		}
		read, err := portable.Parse(text)
		if err != nil {
			t.Fatalf("parse: %v\n%s", err, text)
		}
		set, err := portable.Resolve(read, portable.Here{}, noon)
		if err != nil {
			t.Fatalf("resolve: %v\n%s", err, text)
		}

		if got := set.Jobs[0].Body; got.Script == nil || got.Script.Body != body || got.Script.Grace != 30 || got.SQL != nil || got.Kind != engine.JobPython {
			t.Fatalf("got %+v, want the script %q\n%s", got.Script, body, text)
		}
		if again := export(t, set, nil); again != string(text) {
			t.Fatalf("exported again it is\n%s\nwant\n%s", again, text)
		}
	})
}

func TestAScriptInTheWrongJobIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ old, new, want string }{
		"in a SQL job":      {"    bookmark: enabled\n", "    bookmark: enabled\n    script: {body: x}\n", "only a job of the kind python runs"},
		"with sources":      {"    kind: sql\n", "    kind: python\n    script: {body: x}\n", "belong to a job of the kind sql"},
		"of neither":        {"    kind: sql\n", "    kind: spark\n", `no kind of job "spark"`},
		"with an odd place": {small[strings.Index(small, "    kind: sql"):], "    kind: python\n    script: {address: s3://b/x.txt}\n", "ends with .py"},
		"twice":             {small[strings.Index(small, "    kind: sql"):], "    kind: python\n    script: {address: s3://b/x.py, body: x}\n", "either the text or the address"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := portable.Parse([]byte(strings.Replace(small, tt.old, tt.new, 1)))
			must(t, err)

			_, err = portable.Resolve(d, portable.Here{}, noon)

			if engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), tt.want) {
				t.Errorf("got %v, want Invalid with %q", err, tt.want)
			}
		})
	}
}
