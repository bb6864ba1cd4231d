package draft_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/engine/graph"
)

// id makes a ULID that ends in the number n.
func id(n int) engine.ID { return engine.ID(fmt.Sprintf("01JQ000000000000000000%04d", n)) }

func job(n int) engine.Ref { return engine.Ref{Kind: engine.KindJob, ID: id(n)} }

func card(n int) string { return job(n).String() }

// names calls the jobs 1 to 26 by a letter.
func names() draft.Names {
	all := draft.Names{}
	for n := 1; n <= 26; n++ {
		all[job(n)] = string(rune('a' + n - 1))
	}
	return all
}

// apply applies ops in order and fails the test where one is refused.
func apply(t *testing.T, body engine.WorkflowBody, ops ...draft.Op) engine.WorkflowBody {
	t.Helper()
	for _, op := range ops {
		next, _, err := draft.Apply(body, op, names())
		must(t, err)
		body = next
	}
	return body
}

func add(n int) draft.Op { return draft.Op{Kind: draft.AddNode, Card: card(n)} }

func start(n int) draft.Op {
	return draft.Op{Kind: draft.AddTrigger, New: &engine.Trigger{ID: id(n), Name: "daily", Type: engine.Scheduled}}
}

func condition(n int) draft.Op {
	return draft.Op{Kind: draft.AddTrigger, New: &engine.Trigger{ID: id(n), Name: fmt.Sprintf("gate %d", n), Type: engine.Conditional}}
}

func connect(from, to string, trigger int) draft.Op {
	return draft.Op{Kind: draft.Connect, Card: from, To: to, Trigger: id(trigger)}
}

func TestConnectingTwoJobsMakesATriggerOnSuccess(t *testing.T) {
	t.Parallel()
	body := apply(t, engine.WorkflowBody{}, add(1), add(2))

	body = apply(t, body, connect(card(1), card(2), 100))

	want := []engine.Trigger{{
		ID: id(100), Name: "after a", Type: engine.Conditional,
		Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: job(1), State: engine.Succeeded}}},
		Actions:   []engine.Action{{Ref: job(2)}},
	}}
	if !reflect.DeepEqual(body.Triggers, want) {
		t.Errorf("triggers = %+v, want %+v", body.Triggers, want)
	}
	if body.Cards != nil {
		t.Errorf("loose cards = %v, want none: a trigger names both", body.Cards)
	}
}

func TestASecondJobJoinsTheGate(t *testing.T) {
	t.Parallel()
	body := apply(t, engine.WorkflowBody{}, add(1), add(2), add(3), add(4), connect(card(1), card(4), 100))

	if gate, ask := draft.Suggest(graph.New(&body), job(4)); gate != "" || ask != id(100) {
		t.Errorf("a second edge suggests gate %q, ask %q, want to ask about the pill", gate, ask)
	}
	body = apply(t, body, draft.Op{Kind: draft.Connect, Card: card(2), To: card(4), Trigger: id(100), Join: true, Logic: engine.All})
	if gate, ask := draft.Suggest(graph.New(&body), job(4)); gate != id(100) || ask != "" {
		t.Errorf("a third edge suggests gate %q, ask %q, want the gate", gate, ask)
	}
	body = apply(t, body, draft.Op{Kind: draft.Connect, Card: card(3), To: card(4), Trigger: id(100), Join: true})

	got := draft.WaitsFor(&body.Triggers[0], names())
	if want := "a succeeds and b succeeds and c succeeds"; got != want {
		t.Errorf("the gate waits for %q, want %q", got, want)
	}
}

// Every cell of the table of connections that is refused, in its own words.
func TestConnectionsThatAreRefused(t *testing.T) {
	t.Parallel()
	body := apply(t, engine.WorkflowBody{},
		add(1), add(2), add(3), start(100), condition(101), condition(102),
		connect(string(id(100)), card(1), 0), connect(card(1), card(2), 200), connect(card(2), card(3), 201))
	long := apply(t, engine.WorkflowBody{}, add(1), add(2), add(3), add(4), add(5), add(6), add(7))
	for n := 1; n < 7; n++ {
		long = apply(t, long, connect(card(n), card(n+1), 300+n))
	}

	tests := map[string]struct {
		body     engine.WorkflowBody
		from, to string
		why      draft.Why
		message  string
		path     int
	}{
		"job to start trigger":        {body, card(1), string(id(100)), draft.Rule, "A start trigger begins the workflow; nothing can run before it.", 0},
		"start to condition":          {body, string(id(100)), string(id(101)), draft.Rule, "A trigger starts jobs and crawlers, not triggers.", 0},
		"condition to condition":      {body, string(id(101)), string(id(102)), draft.Rule, "A trigger starts jobs and crawlers, not triggers.", 0},
		"itself":                      {body, card(1), card(1), draft.Cycle, "a can't wait for itself.", 1},
		"a loop":                      {body, card(3), card(1), draft.Cycle, "a already runs before c: a → b → c.", 5},
		"a long loop":                 {long, card(7), card(1), draft.Cycle, "a already runs before g: a → b → c → d → e … 2 more.", 13},
		"an existing action":          {body, string(id(100)), card(1), draft.Same, "Already connected.", 0},
		"an existing pair":            {body, card(1), card(2), draft.Same, "Already connected.", 0},
		"a card that is gone":         {body, card(1), card(9), draft.Gone, "This card was deleted meanwhile.", 0},
		"a trigger card that is gone": {body, string(id(999)), card(1), draft.Gone, "This card was deleted meanwhile.", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			after, _, err := draft.Apply(tt.body, connect(tt.from, tt.to, 900), names())

			r, ok := errors.AsType[*draft.Refusal](err)
			if !ok {
				t.Fatalf("Apply = %v, want a refusal", err)
			}
			if r.Why != tt.why || r.Message != tt.message || len(r.Path) != tt.path {
				t.Errorf("refused as %s, %q, path %v; want %s, %q, %d cards", r.Why, r.Message, r.Path, tt.why, tt.message, tt.path)
			}
			if !reflect.DeepEqual(after, tt.body) {
				t.Error("a refused operation changed the draft")
			}
		})
	}
}

// Case E04 over every way in: a loop through gates is refused, one that was
// stored can still be opened and repaired.
func TestE04AStoredLoopCanBeRepaired(t *testing.T) {
	t.Parallel()
	body := apply(t, engine.WorkflowBody{}, add(1), add(2), add(3), connect(card(1), card(2), 100))
	body.Triggers = append(body.Triggers, engine.Trigger{
		ID: id(101), Name: "back", Type: engine.Conditional,
		Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: job(2), State: engine.Succeeded}}},
		Actions:   []engine.Action{{Ref: job(1)}},
	})

	problems := draft.Problems(&body, draft.Facts{Names: names()})
	if want := "The workflow loops: b → a → b."; len(problems) == 0 || problems[0].Message != want {
		t.Fatalf("problems = %+v, want first %q", problems, want)
	}
	body = apply(t, body, draft.Op{Kind: draft.Move, Move: map[string]engine.Point{card(3): {X: 10, Y: 10}}})
	body = apply(t, body, draft.Op{Kind: draft.Disconnect, Card: card(2), To: card(1), Trigger: id(101)})

	if loop := graph.Cycle(&body); loop != nil {
		t.Errorf("after the repair there is still the loop %v", loop)
	}
}

// A trigger that arrives whole, as a paste or an undo does, is checked like an
// edge that is drawn.
func TestE04ALoopInAWholeTriggerIsRefused(t *testing.T) {
	t.Parallel()
	body := apply(t, engine.WorkflowBody{}, add(1), add(2), connect(card(1), card(2), 100))

	_, _, err := draft.Apply(body, draft.Op{Kind: draft.AddTrigger, New: &engine.Trigger{
		ID: id(101), Name: "back", Type: engine.Conditional,
		Predicate: engine.Predicate{Conditions: []engine.Condition{{Ref: job(2), State: engine.Succeeded}}},
		Actions:   []engine.Action{{Ref: job(1)}},
	}}, names())

	if r, ok := errors.AsType[*draft.Refusal](err); !ok || r.Why != draft.Cycle || r.Message != "This would loop: b → a → b." {
		t.Errorf("Apply = %v, want a refusal that names b → a → b", err)
	}
}

// Case E08: a delete is one step that takes the card, its edges and the
// conditions on it, and one undo that brings all of it back.
func TestE08DeleteAndUndo(t *testing.T) {
	t.Parallel()
	body := apply(t, engine.WorkflowBody{}, add(1), add(2), add(3), start(100), condition(101),
		connect(string(id(100)), card(1), 0), connect(card(1), card(2), 200),
		connect(card(1), string(id(101)), 0), connect(card(2), string(id(101)), 0), connect(string(id(101)), card(3), 0),
		draft.Op{Kind: draft.Move, Move: map[string]engine.Point{card(2): {X: 40, Y: 50}}})

	after, delta, err := draft.Apply(body, draft.Op{Kind: draft.DelNode, Card: card(2)}, names())
	must(t, err)
	if got := len(after.Triggers); got != 2 {
		t.Errorf("%d triggers are left, want 2: the pill goes with its end", got)
	}
	if got, want := draft.WaitsFor(after.Trigger(id(101)), names()), "a succeeds"; got != want {
		t.Errorf("the gate waits for %q, want %q", got, want)
	}
	if _, placed := after.Layout[card(2)]; placed || len(after.Refs()) != 2 {
		t.Errorf("b is still on the canvas: %v, %v", after.Refs(), after.Layout)
	}

	inverse := delta.Inverse()
	back := apply(t, after, draft.Op{Kind: draft.Restore, Of: draft.Undo, Delta: &inverse})
	if !reflect.DeepEqual(back, body) {
		t.Errorf("after the undo %+v, want %+v", back, body)
	}
}

func TestDisconnectedJobsStayOnTheCanvas(t *testing.T) {
	t.Parallel()
	body := apply(t, engine.WorkflowBody{}, add(1), add(2), connect(card(1), card(2), 100))

	body = apply(t, body, draft.Op{Kind: draft.Disconnect, Card: card(1), To: card(2), Trigger: id(100)})
	again := apply(t, body, draft.Op{Kind: draft.Disconnect, Card: card(1), To: card(2), Trigger: id(100)})

	if want := []engine.Ref{job(1), job(2)}; !reflect.DeepEqual(body.Cards, want) || len(body.Triggers) != 0 {
		t.Errorf("cards %v, triggers %v; want %v and none", body.Cards, body.Triggers, want)
	}
	if !reflect.DeepEqual(again, body) {
		t.Error("cutting an edge that is gone changed the draft")
	}
}

// Case E01: two people edit what the other has not seen. Both edits stand where
// both can; the second is refused by name where they meet in one field.
func TestE01TwoTabsLoseNothing(t *testing.T) {
	t.Parallel()
	old, theirs, mine := "daily", "nightly", "hourly"
	zone := "Europe/Berlin"
	body := apply(t, engine.WorkflowBody{}, add(1), start(100))

	body = apply(t, body, add(2)) // tab one
	body = apply(t, body, draft.Op{Kind: draft.SetTrigger, Card: string(id(100)), Patch: &draft.Fields{Name: &theirs}, Prev: &draft.Fields{Name: &old}})
	body = apply(t, body, draft.Op{Kind: draft.SetTrigger, Card: string(id(100)), Patch: &draft.Fields{Zone: &zone}}) // tab two, another field
	_, _, err := draft.Apply(body, draft.Op{Kind: draft.SetTrigger, Card: string(id(100)), Patch: &draft.Fields{Name: &mine}, Prev: &draft.Fields{Name: &old}}, names())

	if engine.CodeOf(err) != engine.Conflict || engine.MessageOf(err) != "nightly was changed meanwhile." {
		t.Errorf("the second name = %v, want a conflict that names the trigger", err)
	}
	if got := body.Triggers[0]; got.Name != theirs || got.Zone != zone || len(body.Cards) != 2 {
		t.Errorf("the draft lost an edit: %+v, cards %v", got, body.Cards)
	}
}

// Case E01, as a property: whatever two clients send from views of any age, the
// draft stays without loops, whoever follows the changes has the same draft,
// and taking every change back ends where it began.
func TestE01ClientsConvergeAndUndoIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first := engine.WorkflowBody{}
		server, follower := first, first
		views := []engine.WorkflowBody{first, first}
		var made []draft.Delta
		for step := range rapid.IntRange(1, 60).Draw(t, "steps") {
			client := rapid.IntRange(0, 1).Draw(t, "client")
			op := drawOp(t, views[client], step)
			next, delta, err := draft.Apply(server, op, names())
			if rapid.Bool().Draw(t, "sees the newest") {
				views[client] = next
			}
			if err != nil {
				if _, ok := errors.AsType[*draft.Refusal](err); !ok {
					t.Fatalf("Apply(%+v) = %v, want a refusal", op, err)
				}
				continue
			}
			server = next
			made = append(made, delta)
			follower = restore(t, follower, delta)
			if loop := graph.Cycle(&server); loop != nil {
				t.Fatalf("%+v made the loop %v", op, loop)
			}
			if !reflect.DeepEqual(follower, server) {
				t.Fatalf("after %+v the follower has\n%s\nthe server\n%s", op, text(follower), text(server))
			}
		}
		for i := range made {
			server = restore(t, server, made[len(made)-1-i].Inverse())
		}
		if !reflect.DeepEqual(server, first) {
			t.Fatalf("after undoing everything: %s", text(server))
		}
	})
}

func restore(t *rapid.T, body engine.WorkflowBody, delta draft.Delta) engine.WorkflowBody {
	var sent draft.Delta // over the wire, as a client gets it
	if err := json.Unmarshal([]byte(text(delta)), &sent); err != nil {
		t.Fatal(err)
	}
	next, _, err := draft.Apply(body, draft.Op{Kind: draft.Restore, Delta: &sent}, names())
	if err != nil {
		t.Fatalf("restore %s over %s: %v", text(delta), text(body), err)
	}
	return next
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// drawOp makes an operation that makes sense on what a client sees.
func drawOp(t *rapid.T, seen engine.WorkflowBody, step int) draft.Op {
	cards := append(graph.New(&seen).Cards(), card(1), card(2))
	pick := func(label string) string { return rapid.SampledFrom(cards).Draw(t, label) }
	number := rapid.IntRange(1, 8).Draw(t, "number")
	switch rapid.IntRange(0, 10).Draw(t, "kind") {
	case 0, 1:
		return draft.Op{Kind: draft.AddNode, Card: card(number), At: &engine.Point{X: step, Y: number}}
	case 2:
		return draft.Op{Kind: draft.DelNode, Card: pick("card")}
	case 3:
		return draft.Op{Kind: draft.DelTrigger, Card: pick("card")}
	case 4:
		return draft.Op{Kind: draft.AddTrigger, At: &engine.Point{X: step}, New: &engine.Trigger{
			ID: id(100 + step), Type: rapid.SampledFrom([]engine.TriggerType{engine.OnDemand, engine.Conditional}).Draw(t, "type"),
		}}
	case 5:
		return draft.Op{Kind: draft.Move, Move: map[string]engine.Point{pick("card"): {X: step, Y: step}}}
	case 6:
		state := rapid.SampledFrom([]engine.State{engine.Failed, engine.EndedAny}).Draw(t, "state")
		return draft.Op{Kind: draft.SetCondition, Card: pick("card"), To: pick("to"), Patch: &draft.Fields{State: &state}}
	case 7:
		return draft.Op{Kind: draft.Tidy}
	case 8:
		passed := map[string]string{"Step": string(rune('a' + number))}
		return draft.Op{Kind: draft.SetStart, Card: pick("card"), To: pick("to"), Patch: &draft.Fields{
			Arguments: &passed, Limits: &draft.Limits{Timeout: engine.Minutes(number), Retries: new(number)},
		}}
	default:
		op := connect(pick("from"), pick("to"), 500+step)
		to, err := engine.ParseRef(op.To)
		if gate, ask := draft.Suggest(graph.New(&seen), to); err == nil && gate+ask != "" {
			op.Trigger, op.Join = gate+ask, true
		}
		return op
	}
}

func TestNamesAreKeptWithinBounds(t *testing.T) {
	t.Parallel()
	all := names()
	all[job(1)] = strings.Repeat("é", 255)
	body := apply(t, engine.WorkflowBody{}, add(1), add(2), add(3))

	for n, to := range []string{card(2), card(3)} {
		next, _, err := draft.Apply(body, connect(card(1), to, 100+n), all)
		must(t, err)
		body = next
	}

	if first, second := body.Triggers[0].Name, body.Triggers[1].Name; first == second {
		t.Errorf("both triggers are called %q", first)
	}
	bad := "two\nlines"
	_, _, err := draft.Apply(body, draft.Op{Kind: draft.SetTrigger, Card: string(id(100)), Patch: &draft.Fields{Name: &bad}}, all)
	if engine.CodeOf(err) != engine.Invalid {
		t.Errorf("a name of two lines = %v, want invalid", err)
	}
	taken := body.Triggers[1].Name
	_, _, err = draft.Apply(body, draft.Op{Kind: draft.SetTrigger, Card: string(id(100)), Patch: &draft.Fields{Name: &taken}}, all)
	if engine.CodeOf(err) != engine.Invalid {
		t.Errorf("a name that is taken = %v, want invalid", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
