package editor

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/views/form"
	"dogear/views/job"
	"dogear/views/show"
)

// Start is how one trigger starts one job: what it passes, and the limits that
// hold for this start instead of the job's own.
type Start struct {
	Trigger engine.Trigger
	Ref     engine.Ref
	Action  engine.Action   // as the draft has it
	Name    string          // of the job
	Job     *engine.JobBody // whose limits hold where the start has none; nil for a deleted one
	// Typed is what the form shows, Seen what it showed at first, so that a save
	// tells what the person changed.
	Typed, Seen StartText
}

// StartText is a start as text.
type StartText struct{ Timeout, Retries, Arguments string }

// NewStart shows how t starts a job.
func NewStart(t engine.Trigger, a engine.Action, name string, made *engine.JobBody) Start {
	text := textOf(a)
	return Start{Trigger: t, Ref: a.Ref, Action: a, Name: name, Job: made, Typed: text, Seen: text}
}

func textOf(a engine.Action) StartText {
	text := StartText{Timeout: form.Number(int(a.Timeout)), Arguments: job.PairsText(a.Arguments)}
	if a.Retries != nil {
		text.Retries = strconv.Itoa(*a.Retries)
	}
	return text
}

// See shows what was typed beside what the draft has now: after a refusal the
// next save is made knowing what somebody else has changed.
func (s *Start) See() { s.Seen = textOf(s.Action) }

// Read takes over what was sent. The fields are absent where the form did not
// show this start: then nothing of it changes.
func (s *Start) Read(values url.Values) {
	if !values.Has(s.field("timeout")) {
		return
	}
	text := func(before string) StartText {
		return StartText{
			Timeout:   strings.TrimSpace(values.Get(before + s.field("timeout"))),
			Retries:   strings.TrimSpace(values.Get(before + s.field("retries"))),
			Arguments: strings.ReplaceAll(values.Get(before+s.field("arguments")), "\r\n", "\n"),
		}
	}
	s.Typed, s.Seen = text(""), text("seen.")
}

// Op is the operation that makes the start what was typed, or nil where nothing
// was changed. What is wrong comes by field of the form.
func (s *Start) Op() (*draft.Op, map[string]string) {
	if s.Typed == s.Seen {
		return nil, nil
	}
	typed, wrong := s.action(s.Typed)
	if len(wrong) > 0 {
		return nil, wrong
	}
	op := draft.Op{Kind: draft.SetStart, Card: string(s.Trigger.ID), To: s.Ref.String(), Patch: &draft.Fields{}, Prev: &draft.Fields{}}
	seen, _ := s.action(s.Seen) // a form that was tampered with saw nothing
	if s.Typed.Arguments != s.Seen.Arguments {
		op.Patch.Arguments, op.Prev.Arguments = &typed.Arguments, &seen.Arguments
	}
	if to, from := draft.LimitsOf(typed), draft.LimitsOf(seen); !to.Equal(from) {
		op.Patch.Limits, op.Prev.Limits = &to, &from
	}
	return &op, nil
}

// action reads t by the rules of every way in.
func (s *Start) action(t StartText) (engine.Action, map[string]string) {
	a, wrong := engine.Action{Ref: s.Ref}, map[string]string{}
	number := func(field, text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			wrong[s.field(field)] = "Write a whole number, or nothing for the job's own."
		}
		return n
	}
	if t.Timeout != "" {
		a.Timeout = engine.Minutes(number("timeout", t.Timeout))
	}
	if t.Retries != "" {
		a.Retries = new(number("retries", t.Retries))
	}
	var err error
	if a.Arguments, err = job.ReadPairs(t.Arguments, "argument"); err != nil {
		wrong[s.field("arguments")] = engine.MessageOf(err)
	}
	for _, fault := range a.Faults() {
		if field := s.field(fault.Field); wrong[field] == "" {
			wrong[field] = fault.Message
		}
	}
	return a, wrong
}

// field is the name of a field of the form.
func (s *Start) field(name string) string {
	return startField + string(s.Trigger.ID) + "." + s.Ref.String() + "." + name
}

// startField begins the names of all fields of starts.
const startField = "start."

// by says what starts the job: "By Daily", "When extract succeeds".
func (s *Start) by(names draft.Names) string {
	if s.Trigger.Type == engine.Conditional && len(s.Trigger.Predicate.Conditions) > 0 {
		return "When " + draft.WaitsFor(&s.Trigger, names)
	}
	return "By " + s.Trigger.Name
}

// says is the start in a few words.
func (s *Start) says() string {
	var words []string
	if s.Action.Timeout > 0 {
		words = append(words, fmt.Sprintf("%d min", s.Action.Timeout))
	}
	if s.Action.Retries != nil {
		words = append(words, show.Many(int64(*s.Action.Retries), "retry"))
	}
	if n := len(s.Action.Arguments); n > 0 {
		words = append(words, show.Many(int64(n), "argument"))
	}
	if len(words) == 0 {
		return "as the job says"
	}
	return strings.Join(words, " · ")
}

// open reports whether the fields are shown from the beginning.
func (s *Start) open(wrong form.Errors) bool {
	for field := range wrong {
		if strings.HasPrefix(field, s.field("")) {
			return true
		}
	}
	return s.Seen != (StartText{}) || s.Typed != s.Seen
}

// ownTimeout and ownRetries are what holds where nothing is typed.
func (s *Start) ownTimeout() string {
	minutes := engine.DefaultTimeout
	if s.Job != nil && s.Job.Timeout > 0 {
		minutes = s.Job.Timeout
	}
	return fmt.Sprintf("%d, the job's", minutes)
}

func (s *Start) ownRetries() string {
	retries := 0
	if s.Job != nil {
		retries = s.Job.Retries
	}
	return fmt.Sprintf("%d, the job's", retries)
}
