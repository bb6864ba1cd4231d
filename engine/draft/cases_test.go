package draft_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/draft"
)

var update = flag.Bool("update", false, "rewrite testdata/cases.json")

// shared is one operation and what becomes of it. The browser applies the same
// operations before the server has answered; its tests run this file too.
type shared struct {
	Name    string               `json:"name"`
	Body    engine.WorkflowBody  `json:"body"`
	Op      draft.Op             `json:"op"`
	Names   map[string]string    `json:"names"`
	Want    *engine.WorkflowBody `json:"want,omitempty"`
	Delta   *draft.Delta         `json:"delta,omitempty"`
	Refused draft.Why            `json:"refused,omitempty"`
	Message string               `json:"message,omitempty"`
}

func sharedCases(t *testing.T) []shared {
	t.Helper()
	at := func(x, y int) *engine.Point { return &engine.Point{X: x, Y: y} }
	failed, any, name, disabled := engine.Failed, engine.Any, "nightly", true
	passed := map[string]string{"Day": "{{due.date}}", "Region": "eu"}
	pasted := engine.Trigger{
		ID: id(150), Name: "copied", Type: engine.Conditional, Actions: []engine.Action{{Ref: job(2)}},
		Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: job(1), State: engine.Failed}}},
	}
	placed := func(n, x int) draft.Op { return draft.Op{Kind: draft.AddNode, Card: card(n), At: at(x, 40)} }
	trigger := func(n int, kind engine.TriggerType) draft.Op {
		return draft.Op{Kind: draft.AddTrigger, At: at(0, 40*n), New: &engine.Trigger{ID: id(n), Type: kind}}
	}
	loose := apply(t, engine.WorkflowBody{}, placed(1, 300), placed(2, 600), placed(3, 900))
	line := apply(t, loose, trigger(100, engine.OnDemand), connect(string(id(100)), card(1), 0), connect(card(1), card(2), 200), connect(card(2), card(3), 201))
	limited := apply(t, line, draft.Op{Kind: draft.SetStart, Card: string(id(200)), To: card(2), Patch: &draft.Fields{Limits: &draft.Limits{Timeout: 5, Retries: new(2)}}})
	gate := apply(t, line, trigger(101, engine.Conditional), connect(card(1), string(id(101)), 0), connect(card(3), string(id(101)), 0), placed(4, 1200), connect(string(id(101)), card(4), 0))
	fork := apply(t, gate, draft.Op{Kind: draft.Disconnect, Card: card(3), To: string(id(101))}, connect(string(id(101)), card(3), 0))
	_, cut, err := draft.Apply(gate, draft.Op{Kind: draft.DelNode, Card: card(1)}, names())
	must(t, err)
	back := cut.Inverse()

	list := []shared{
		{Name: "a node is added", Body: engine.WorkflowBody{}, Op: placed(1, 300)},
		{Name: "a node is there already", Body: loose, Op: placed(1, 300)},
		{Name: "a node that nobody knows", Body: loose, Op: placed(77, 300)},
		{Name: "two nodes are connected", Body: loose, Op: connect(card(1), card(2), 200)},
		{Name: "a second connection from one node", Body: line, Op: connect(card(1), card(3), 202)},
		{Name: "a node joins a pill, which becomes a gate", Body: line, Op: draft.Op{Kind: draft.Connect, Card: card(1), To: card(3), Trigger: id(201), Join: true, Logic: engine.Any, At: at(700, 80)}},
		{Name: "a trigger starts a node", Body: line, Op: connect(string(id(100)), card(3), 0)},
		{Name: "a node is watched", Body: apply(t, line, trigger(101, engine.Conditional)), Op: connect(card(2), string(id(101)), 0)},
		{Name: "a loop", Body: line, Op: connect(card(3), card(1), 203)},
		{Name: "a loop through a gate", Body: gate, Op: connect(card(4), card(1), 203)},
		{Name: "a node waits for itself", Body: line, Op: connect(card(1), card(1), 203)},
		{Name: "before a start trigger", Body: line, Op: connect(card(1), string(id(100)), 0)},
		{Name: "a trigger to a trigger", Body: gate, Op: connect(string(id(100)), string(id(101)), 0)},
		{Name: "already connected", Body: line, Op: connect(card(1), card(2), 203)},
		{Name: "connected through a gate already", Body: gate, Op: connect(card(1), card(4), 203)},
		{Name: "a card that is gone", Body: line, Op: connect(card(1), card(9), 203)},
		{Name: "a pill is cut", Body: line, Op: draft.Op{Kind: draft.Disconnect, Card: card(1), To: card(2), Trigger: id(200)}},
		{Name: "one edge of a pill is cut", Body: fork, Op: draft.Op{Kind: draft.Disconnect, Card: card(1), To: card(4), Trigger: id(101)}},
		{Name: "a node that a pill starts with others is deleted", Body: fork, Op: draft.Op{Kind: draft.DelNode, Card: card(4)}},
		{Name: "the node that a pill waits for is deleted", Body: fork, Op: draft.Op{Kind: draft.DelNode, Card: card(1)}},
		{Name: "a watch is cut", Body: gate, Op: draft.Op{Kind: draft.Disconnect, Card: card(3), To: string(id(101))}},
		{Name: "an action is cut", Body: gate, Op: draft.Op{Kind: draft.Disconnect, Card: string(id(101)), To: card(4)}},
		{Name: "a node is deleted", Body: gate, Op: draft.Op{Kind: draft.DelNode, Card: card(1)}},
		{Name: "a delete is undone", Body: apply(t, gate, draft.Op{Kind: draft.DelNode, Card: card(1)}), Op: draft.Op{Kind: draft.Restore, Of: draft.Undo, Delta: &back}},
		{Name: "an undo comes too late", Body: loose, Op: draft.Op{Kind: draft.Restore, Of: draft.Undo, Delta: &back}},
		{Name: "a trigger is deleted", Body: gate, Op: draft.Op{Kind: draft.DelTrigger, Card: string(id(101))}},
		{Name: "a trigger gets the next free name", Body: line, Op: trigger(102, engine.OnDemand)},
		{Name: "a trigger is renamed and disabled", Body: line, Op: draft.Op{Kind: draft.SetTrigger, Card: string(id(200)), Patch: &draft.Fields{Name: &name, Disabled: &disabled}}},
		{Name: "a gate waits for any", Body: gate, Op: draft.Op{Kind: draft.SetTrigger, Card: string(id(101)), Patch: &draft.Fields{Logic: &any}}},
		{Name: "a condition changes", Body: line, Op: draft.Op{Kind: draft.SetCondition, Card: string(id(200)), To: card(1), Patch: &draft.Fields{State: &failed}}},
		{Name: "a trigger passes arguments", Body: line, Op: draft.Op{Kind: draft.SetStart, Card: string(id(200)), To: card(2), Patch: &draft.Fields{Arguments: &passed}}},
		{Name: "arguments for what is not started", Body: line, Op: draft.Op{Kind: draft.SetStart, Card: string(id(200)), To: card(3), Patch: &draft.Fields{Arguments: &passed}}},
		{Name: "a start gets limits of its own", Body: line, Op: draft.Op{Kind: draft.SetStart, Card: string(id(200)), To: card(2), Patch: &draft.Fields{Limits: &draft.Limits{Timeout: 30, Retries: new(int)}}, Prev: &draft.Fields{Limits: &draft.Limits{}}}},
		{Name: "a start goes by the limits of the job again", Body: limited, Op: draft.Op{Kind: draft.SetStart, Card: string(id(200)), To: card(2), Patch: &draft.Fields{Limits: &draft.Limits{}}}},
		{Name: "a trigger comes with its ends", Body: loose, Op: draft.Op{Kind: draft.AddTrigger, New: &pasted}},
		{Name: "cards move", Body: line, Op: draft.Op{Kind: draft.Move, Move: map[string]engine.Point{card(1): {X: 10, Y: 20}, card(9): {X: 1}}}},
	}
	for i := range list {
		decide(t, &list[i])
	}
	return list
}

// decide fills in what becomes of a case.
func decide(t *testing.T, c *shared) {
	t.Helper()
	c.Names = map[string]string{}
	for n := 1; n <= 4; n++ { // the jobs that the cases use
		c.Names[card(n)] = names()[job(n)]
	}
	after, delta, err := draft.Apply(c.Body, c.Op, names())
	if r, ok := errors.AsType[*draft.Refusal](err); ok {
		c.Refused, c.Message = r.Why, r.Message
		return
	}
	must(t, err)
	c.Want, c.Delta = &after, &delta
}

func TestCasesSharedWithTheBrowser(t *testing.T) {
	t.Parallel()
	const file = "testdata/cases.json"

	var lines []string
	for _, c := range sharedCases(t) {
		line, err := json.Marshal(c)
		must(t, err)
		lines = append(lines, string(line))
	}
	got := "[\n" + strings.Join(lines, ",\n") + "\n]\n"

	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if got != string(want) {
		t.Errorf("the operations differ from %s; run go test ./engine/draft -update and look at the difference", file)
	}
}
