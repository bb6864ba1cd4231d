package draft_test

import (
	"reflect"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/draft"
)

// started is a -> b, where b is started by the trigger 101.
func started(t *testing.T) engine.WorkflowBody {
	t.Helper()
	return apply(t, engine.WorkflowBody{}, add(1), add(2), start(100),
		connect(string(id(100)), card(1), 0), connect(card(1), card(2), 101))
}

func setStart(patch, prev *draft.Fields) draft.Op {
	return draft.Op{Kind: draft.SetStart, Card: string(id(101)), To: card(2), Patch: patch, Prev: prev}
}

func TestTwoPeopleWhoSetAStartKeepBoth(t *testing.T) {
	t.Parallel()
	body := started(t)
	day := map[string]string{"Day": "2026-11-30"}

	both := apply(t, body,
		setStart(&draft.Fields{Limits: &draft.Limits{Timeout: 30, Retries: new(0)}}, &draft.Fields{Limits: &draft.Limits{}}),
		setStart(&draft.Fields{Arguments: &day}, &draft.Fields{Arguments: &map[string]string{}}))

	want := engine.Action{Ref: job(2), Timeout: 30, Retries: new(0), Arguments: day}
	if got := both.Trigger(id(101)).Actions[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("the start is %+v, want %+v", got, want)
	}
	if was := body.Trigger(id(101)).Actions[0]; was.Timeout != 0 || was.Retries != nil {
		t.Errorf("the draft before has changed too: %+v", was)
	}
}

func TestAStartIsRefusedForWhatIsStaleOrOutOfBounds(t *testing.T) {
	t.Parallel()
	limited := apply(t, started(t), setStart(&draft.Fields{Limits: &draft.Limits{Retries: new(2)}}, nil))
	tests := map[string]struct {
		op   draft.Op
		code engine.Code
		says string
	}{
		"limits changed meanwhile": {
			setStart(&draft.Fields{Limits: &draft.Limits{Timeout: 5}}, &draft.Fields{Limits: &draft.Limits{}}),
			engine.Conflict, "The limits with which after a starts b were changed meanwhile.",
		},
		"arguments changed meanwhile": {
			setStart(&draft.Fields{Arguments: &map[string]string{"A": "1"}}, &draft.Fields{Arguments: &map[string]string{"B": "2"}}),
			engine.Conflict, "The arguments with which after a starts b were changed meanwhile.",
		},
		"too many retries": {
			setStart(&draft.Fields{Limits: &draft.Limits{Retries: new(101)}}, nil),
			engine.Invalid, "The retries with which after a starts a job: Write a number from 0 to 100.",
		},
		"too long": {
			setStart(&draft.Fields{Limits: &draft.Limits{Timeout: engine.MostMinutes + 1}}, nil),
			engine.Invalid, "The timeout with which after a starts a job: Write a number from 0 to 43200.",
		},
		"an argument without a name": {
			setStart(&draft.Fields{Arguments: &map[string]string{" ": "1"}}, nil),
			engine.Invalid, "The arguments with which after a starts a job: An argument needs a name.",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, _, err := draft.Apply(limited, tt.op, names())

			if engine.CodeOf(err) != tt.code || engine.MessageOf(err) != tt.says {
				t.Errorf("Apply = %s %q, want %s %q", engine.CodeOf(err), engine.MessageOf(err), tt.code, tt.says)
			}
		})
	}
}

// A crawler would ignore them, and what is ignored is refused.
func TestLimitsOfTheStartOfACrawlerAreRefused(t *testing.T) {
	t.Parallel()
	crawler := engine.Ref{Kind: engine.KindCrawler, ID: id(1)}

	for field, action := range map[string]engine.Action{
		"timeout":   {Ref: crawler, Timeout: 5},
		"retries":   {Ref: crawler, Retries: new(0)},
		"arguments": {Ref: crawler, Arguments: map[string]string{"A": "1"}},
	} {
		faults := action.Faults()
		if len(faults) != 1 || faults[0].Field != field || !strings.HasPrefix(faults[0].Message, "A crawler") {
			t.Errorf("faults of a crawler's %s: %v", field, faults)
		}
	}
}

func TestAPublishSaysWhichLimitsOfStartsChange(t *testing.T) {
	t.Parallel()
	old := started(t)
	body := apply(t, old, setStart(&draft.Fields{Limits: &draft.Limits{Timeout: 30, Retries: new(0)}, Arguments: &map[string]string{"Day": "1"}}, nil))

	got := draft.Changes(&old, &body, names())

	want := []draft.Change{{What: draft.Altered, Card: string(id(101)), Name: "Trigger after a", Fields: []draft.Field{
		{Name: "Arguments", To: "b Day=1"}, {Name: "Timeout of this start", To: "b 30 min"}, {Name: "Retries of this start", To: "b 0"},
	}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Changes =\n%+v\nwant\n%+v", got, want)
	}
}

// What each start of a job passes need not be declared by the workflow; what
// only one of them passes must.
func TestAPropertyThatEveryStartPassesNeedsNoDeclaration(t *testing.T) {
	t.Parallel()
	facts := draft.Facts{Names: names(), Uses: func(ref engine.Ref) []string { return map[engine.Ref][]string{job(2): {"Day"}}[ref] }}
	passes := apply(t, started(t), setStart(&draft.Fields{Arguments: &map[string]string{"Day": "1"}}, nil))

	if found := draft.Problems(&passes, facts); draft.Hard(found) {
		t.Errorf("what the only start passes is a problem: %+v", found)
	}
	two := apply(t, passes, connect(string(id(100)), card(2), 0))
	if found := draft.Problems(&two, facts); !draft.Hard(found) {
		t.Errorf("what one of two starts passes is no problem: %+v", found)
	}
}

// TestAnArgumentWithAPlaceholderThatIsNoneIsRefused and says which there are; those
// that there are, are kept as they stand until the job is started.
func TestAnArgumentWithAPlaceholderThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	wrong := engine.Action{Ref: job(2), Arguments: map[string]string{"Day": "{{due.day}}"}}
	right := engine.Action{Ref: job(2), Arguments: map[string]string{"Day": "{{due.date}} {{ run.id }}", "Braces": "{ {x} }"}}

	faults := wrong.Faults()
	if len(faults) != 1 || faults[0].Field != "arguments" || !strings.Contains(faults[0].Message, "The argument Day uses {{due.day}}, which does not exist, at character 1. There are {{due.date}}") {
		t.Errorf("faults of {{due.day}}: %v, want one that says which there are", faults)
	}
	if faults := right.Faults(); len(faults) != 0 {
		t.Errorf("faults of what there is: %v", faults)
	}
}
