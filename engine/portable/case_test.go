package portable_test

import (
	"fmt"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/engine/portable"
)

// The cases of the field that are about files of workflows (cases.jsonl).

// nightly is a workflow whose trigger t waits for what when says; OTHER are more
// lines of t.
const nightly = `dogear: 1
workflow:
  name: nightly
  triggers:
    - name: go
      type: on_demand
      start:
        - crawler: crawl-a
        - job: load-b
        - job: load-c
    - name: t
      type: conditional
      OTHER
      when:
        WHEN
      start:
        - job: publish
jobs:
  - {name: load-b, kind: python, bookmark: "off", script: {body: print()}}
  - {name: load-c, kind: python, bookmark: "off", script: {body: print()}}
  - {name: publish, kind: python, bookmark: "off", script: {body: print()}}
crawlers:
  - {name: crawl-a, database: lake, targets: [{path: in}]}
`

// waiting is nightly with these lines.
func waiting(other string, when ...string) string {
	text := strings.Replace(nightly, "      OTHER\n", other, 1)
	return strings.Replace(text, "WHEN", strings.Join(when, "\n        "), 1)
}

func imported(text string) (portable.Set, error) {
	d, err := portable.Parse([]byte(text))
	if err != nil {
		return portable.Set{}, err
	}
	return portable.Resolve(d, portable.Here{}, noon)
}

func TestA12ConditionsKeepTheirNumberAndOrder(t *testing.T) {
	t.Parallel()
	conditions := []string{"- {crawler: crawl-a, state: succeeded}", "- {job: load-b, state: succeeded}", "- {job: load-c, state: failed}"}

	set, err := imported(waiting("", conditions...))
	must(t, err)

	trigger := set.Workflow.Body.Triggers[1]
	if got, want := draft.WaitsFor(&trigger, set.Names), "crawl-a succeeds and load-b succeeds and load-c fails"; got != want || len(trigger.Predicate.Conditions) != len(conditions) {
		t.Errorf("it waits for %q, want %q", got, want)
	}
	text := export(t, set, nil)
	if b, c := strings.Index(text, "load-b\n          state"), strings.Index(text, "load-c\n          state: failed"); b < 0 || c < b {
		t.Errorf("the export has them in another order:\n%s", text)
	}
}

// TestA12AndA08WhatIsTwiceOrLeftOutIsSaidWithItsPlace.
func TestA12AndA08WhatIsTwiceOrLeftOutIsSaidWithItsPlace(t *testing.T) {
	t.Parallel()
	b := "- {job: load-b, state: succeeded}"
	tests := map[string]struct{ text, want string }{
		"A12 the same condition twice":    {waiting("", b, b), "Trigger t, when 2 waits for the same end of load-b as when 1."},
		"A12 also behind another":         {waiting("", b, "- {job: load-c, state: failed}", b), "Trigger t, when 3 waits for the same end of load-b as when 1."},
		"A12 two conditions in one entry": {waiting("", "- job: load-b\n          state: succeeded\n          job: load-c"), `line 16: mapping key "job" already defined at line 14`},
		"A12 two nodes in one condition":  {waiting("", "- {job: load-b, crawler: crawl-a, state: succeeded}"), "Trigger t, when 1 must name either a job or a crawler."},
		"A12 one job started twice":       {strings.Replace(waiting("", b), "        - job: publish\n", "        - job: publish\n        - job: publish\n", 1), "Trigger t, start 2 starts publish with the same arguments as start 1."},
		"A08 a state left out":            {waiting("", "- {job: load-b}"), "Trigger t, when 1: the key state is left out. Write succeeded, failed,"},
		"A08 a state of Glue's":           {waiting("", "- {job: load-b, state: SUCCEEDED}"), `Trigger t, when 1, state: there is no "SUCCEEDED".`},
		"A08 a logic of Glue's":           {waiting("      logic: AND\n", b), `Trigger t, logic: there is no "AND". Write all or any; left out it is all.`},
		"A08 an operator of Glue's":       {waiting("", "- {job: load-b, state: succeeded, operator: EQUALS}"), "the key operator is not known in a condition"},
		"A08 a type left out":             {strings.Replace(waiting("", b), "      type: conditional\n", "", 1), "Trigger t: the key type is left out."},
		"an unknown job":                  {waiting("", b, "- {job: load-x, state: failed}"), `Trigger t, when 2 names the job "load-x"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := imported(tt.text)

			if engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), tt.want) {
				t.Errorf("got %v, want it refused with %q", err, tt.want)
			}
		})
	}
}

// TestA08ALogicThatIsLeftOutIsAll, also with many conditions; and one node may be
// watched for more than one of its ends.
func TestA08ALogicThatIsLeftOutIsAll(t *testing.T) {
	t.Parallel()
	b, c := "- {job: load-b, state: succeeded}", "- {job: load-b, state: failed}"
	for other, want := range map[string]string{"": "load-b succeeds and load-b fails", "      logic: any\n": "load-b succeeds or load-b fails"} {
		set, err := imported(waiting(other, b, c))
		must(t, err)
		if got := draft.WaitsFor(&set.Workflow.Body.Triggers[1], set.Names); got != want {
			t.Errorf("with %q it waits for %q, want %q", other, got, want)
		}
	}
}

// TestA11AnExportOfAnImportIsTheSameText, byte for byte in what people write as
// text, and without a word for what was left out.
func TestA11AnExportOfAnImportIsTheSameText(t *testing.T) {
	t.Parallel()
	const schedule = "cron(0/15   *  * * ?    *)"
	const description = "  Grouping:  {\"Version\":1.0,\n   \"TableGroupingPolicy\": \"Combine\"} \n"
	text := fmt.Sprintf(`dogear: 1
workflow:
  name: nightly
  description: %q
  triggers:
    - name: t
      type: scheduled
      schedule: %q
      start:
        - crawler: c
crawlers:
  - name: c
    description: %q
    database: lake
    targets:
      - path: s3://lake/in/
`, description, schedule, description)
	set, err := imported(text)
	must(t, err)

	first := export(t, set, nil)
	again, err := imported(first)
	must(t, err)

	if second := export(t, again, nil); second != first {
		t.Errorf("the second export is\n%s\nthe first\n%s", second, first)
	}
	if w := set.Workflow.Body; w.Triggers[0].Schedule != schedule || w.Description != description || set.Crawlers[0].Body.Description != description {
		t.Errorf("text was changed on its way in: %q, %q", w.Triggers[0].Schedule, w.Description)
	}
	if a := again.Workflow.Body; a.Triggers[0].Schedule != schedule || a.Description != description || again.Crawlers[0].Body.Description != description {
		t.Errorf("text was changed on its way out and in: %q, %q", a.Triggers[0].Schedule, a.Description)
	}
	for _, word := range []string{"disabled", "zone", "missed", "overlap", "logic", "when", "max_tables", "exclude", "arguments", "connection"} {
		if strings.Contains(first, word+":") {
			t.Errorf("the export speaks of %s, which was left out:\n%s", word, first)
		}
	}
}
