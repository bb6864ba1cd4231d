package portable_test

import (
	"reflect"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/portable"
)

const daily = `dogear: 1
workflow:
  name: daily
  triggers:
    - name: at noon
      type: scheduled
      schedule: cron(0 12 * * ? *)
      start:
        - job: copy
    - name: by hand
      type: on_demand
      start:
        - job: copy
jobs:
  - name: copy
    kind: sql
    bookmark: enabled
    sources:
      - {name: input, path: in/*.csv, format: csv}
    sinks:
      - {from: input, path: out, format: parquet, mode: append}
`

// land resolves a document over what earlier ones left.
func land(t *testing.T, text string, here portable.Here) portable.Set {
	t.Helper()
	d, err := portable.Parse([]byte(text))
	must(t, err)
	set, err := portable.Resolve(d, here, noon)
	must(t, err)
	return set
}

// after is what a server has on which set was imported.
func after(set portable.Set) portable.Here {
	var here portable.Here
	head := engine.Head{ID: set.Workflow.ID, Name: set.Workflow.Name, Version: 1}
	here.Workflows = append(here.Workflows, engine.Workflow{Head: head, WorkflowBody: set.Workflow.Body})
	for _, p := range set.Jobs {
		here.Jobs = append(here.Jobs, engine.Draft[engine.JobBody]{Head: engine.Head{ID: p.ID, Name: p.Name, Version: 1}, Body: p.Body})
	}
	return here
}

func TestTheSchedulesOfACopyArrivePaused(t *testing.T) {
	t.Parallel()
	first := land(t, daily, portable.Here{})
	here := after(first)

	copied := land(t, strings.Replace(daily, "name: daily", "name: daily, copied", 1), here)

	want := []portable.Paused{{Trigger: "at noon", Kind: engine.KindJob, Node: "copy", Other: "daily"}}
	if first.Paused != nil || !reflect.DeepEqual(copied.Paused, want) {
		t.Errorf("paused %v and %v, want nothing of the first and %v of the copy", first.Paused, copied.Paused, want)
	}
	if ts := copied.Workflow.Body.Triggers; !ts[0].Disabled || ts[1].Disabled {
		t.Errorf("the triggers of the copy are %+v, want the schedule off and the start by hand on", ts)
	}
	if says := want[0].String(); says != "The trigger at noon arrives turned off: the workflow daily starts the job copy by itself already. Turn it on if both shall run." {
		t.Errorf("it says %q", says)
	}
}

// Importing the same file again changes nothing, whether the schedule of the
// copy is still paused or somebody has enabled it.
func TestImportingACopyAgainLeavesItsSchedulesAsTheyAre(t *testing.T) {
	t.Parallel()
	text := strings.Replace(daily, "name: daily", "name: daily, copied", 1)
	here := after(land(t, daily, portable.Here{}))
	copied := land(t, text, here)
	here.Workflow = &engine.Draft[engine.WorkflowBody]{
		Head: engine.Head{ID: copied.Workflow.ID, Name: copied.Workflow.Name, Version: 1}, Body: copied.Workflow.Body,
	}

	again := land(t, text, here)
	here.Workflow.Body.Triggers = append([]engine.Trigger{}, copied.Workflow.Body.Triggers...)
	here.Workflow.Body.Triggers[0].Disabled = false
	enabled := land(t, text, here)

	if again.Workflow.Verb != portable.Keep || len(again.Paused) != 1 {
		t.Errorf("again: %s, paused %v; want nothing changed and the word that it is paused", again.Workflow.Verb, again.Paused)
	}
	if enabled.Workflow.Verb != portable.Keep || enabled.Paused != nil {
		t.Errorf("after it was enabled: %s, paused %v; want it left on", enabled.Workflow.Verb, enabled.Paused)
	}
}

// What does not run by itself is no reason.
func TestAScheduleIsNotPausedForWhatNobodyStarts(t *testing.T) {
	t.Parallel()
	text := strings.Replace(daily, "name: daily", "name: other", 1)
	for name, change := range map[string][2]string{
		"the other is disabled":    {"type: scheduled", "type: scheduled\n      disabled: true"},
		"the other is another job": {"job: copy", "job: elsewhere"},
	} {
		first := strings.ReplaceAll(daily, change[0], change[1])
		if name == "the other is another job" {
			first = strings.ReplaceAll(first, "- name: copy", "- name: elsewhere")
		}

		if set := land(t, text, after(land(t, first, portable.Here{}))); set.Paused != nil {
			t.Errorf("%s: paused %v", name, set.Paused)
		}
	}
}
