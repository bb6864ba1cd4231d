package exec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"dogear/engine"
	"dogear/engine/flow"
)

// Order asks for a run.
type Order struct {
	Kind       engine.RunKind
	Object     engine.ID // the workflow, job or crawler
	Trigger    engine.ID // of a workflow, the start trigger that fires; "" is the first
	Properties map[string]string
	// Pick, of a job, are files that are read again beside its bookmarks, and
	// nothing else.
	Pick *engine.Selection
	// Again is a run that is run once more: Properties are those it had, with the
	// ids of the events that started it.
	Again engine.ID
	By    string // who asks
	// Token is a text that whoever asks makes up for this one start: asked again
	// with it, because the answer got lost, the same run is the answer and no
	// second one starts. It counts for TokenWindow. "" asks for a run each time.
	Token string
}

// TokenWindow is how long the token of an order counts.
const TokenWindow = 24 * time.Hour

// maxToken is the longest token in bytes, as in AWS Glue's own.
const maxToken = 255

// Start starts the run that o asks for, or returns the one that it has started
// before.
func (e *Exec) Start(ctx context.Context, o Order) (engine.Run, error) {
	if len(o.Properties) == 0 {
		o.Properties = nil // an empty list asks for the same as none
	}
	if o.Again == "" {
		if err := checkGiven(o.Properties); err != nil {
			return engine.Run{}, err
		}
	}
	token, err := e.token(o.Token, o.asked()...)
	if err != nil {
		return engine.Run{}, err
	}
	run, err := e.once(ctx, o.Object, token, func() (engine.Run, error) { return e.begins(ctx, o, token) })
	if e.Store.Broken(err) { // by a question: what becomes of a step that breaks is found out
		e.Log.Warn("the line to the database broke before a start", "object", o.Object, "err", err)
		return run, engine.Errorf(engine.Away, "The database does not answer. Nothing was started; try again in a minute.")
	}
	return run, err
}

// asked is everything that o asks for.
func (o *Order) asked() []any {
	asked := []any{o.Kind, o.Properties, o.Pick}
	if o.Trigger != "" { // without one, tokens of older versions still count
		asked = append(asked, o.Trigger)
	}
	return asked
}

// once starts a run of an object, or returns the one that token has started
// before. Without a token it starts one.
func (e *Exec) once(ctx context.Context, object engine.ID, token *flow.Token, start func() (engine.Run, error)) (engine.Run, error) {
	if token == nil {
		return start()
	}
	if run, err := e.startedBy(ctx, object, token); engine.CodeOf(err) != engine.NotFound {
		return run, err
	}
	run, err := start()
	if err == nil {
		return run, nil
	}
	// The other call with this token may have come first: the start was refused
	// for that, or for the room that its run has taken.
	if run, again := e.startedBy(ctx, object, token); engine.CodeOf(again) != engine.NotFound {
		return run, again
	}
	return run, err
}

func (e *Exec) begins(ctx context.Context, o Order, token *flow.Token) (engine.Run, error) {
	switch o.Kind {
	case engine.RunWorkflow:
		return e.orderWorkflow(ctx, o, token)
	case engine.RunJob:
		return e.orderJob(ctx, o, token)
	case engine.RunCrawl:
		return e.orderCrawl(ctx, o, token)
	}
	return engine.Run{}, engine.Errorf(engine.Invalid, "There is no run of the kind %q.", o.Kind)
}

// startedBy is the run that a token has started; NotFound where there is none.
func (e *Exec) startedBy(ctx context.Context, object engine.ID, token *flow.Token) (engine.Run, error) {
	id, asked, err := e.Store.StartedBy(ctx, object, token.Text, token.Since)
	if err != nil {
		return engine.Run{}, err
	}
	if asked != token.Asked {
		return engine.Run{}, engine.Errorf(engine.Invalid, "The token %q has started run %s, which was asked for otherwise. Make up a new token for each start that is meant to be a new run.", token.Text, id)
	}
	return e.Store.Run(ctx, id)
}

// token is what a start writes of the token text, with a sum of everything that
// it asks for; nil where it has none.
func (e *Exec) token(text string, asked ...any) (*flow.Token, error) {
	if text == "" {
		return nil, nil
	}
	if err := checkToken(text); err != nil {
		return nil, err
	}
	whole, err := json.Marshal(asked)
	if err != nil {
		return nil, fmt.Errorf("write down what a start asks for: %w", err)
	}
	sum := sha256.Sum256(whole)
	return &flow.Token{Text: text, Asked: hex.EncodeToString(sum[:]), Since: e.Now().Add(-TokenWindow)}, nil
}

func checkToken(text string) error {
	if len(text) > maxToken {
		return engine.Errorf(engine.Invalid, "A token has at most %d bytes; this one has %d.", maxToken, len(text))
	}
	if !utf8.ValidString(text) {
		return engine.Errorf(engine.Invalid, "A token is UTF-8 text.")
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return engine.Errorf(engine.Invalid, "A token is one line of text; this one holds the character U+%04X.", r)
		}
	}
	return nil
}

// StartWorkflow starts a run of the published version of a workflow, as if its
// start trigger had fired.
func (e *Exec) StartWorkflow(ctx context.Context, id engine.ID, properties map[string]string, by string) (engine.Run, error) {
	return e.Start(ctx, Order{Kind: engine.RunWorkflow, Object: id, Properties: properties, By: by})
}

// StartJob starts a run of one job alone.
func (e *Exec) StartJob(ctx context.Context, id engine.ID, properties map[string]string, pick *engine.Selection, by string) (engine.Run, error) {
	return e.Start(ctx, Order{Kind: engine.RunJob, Object: id, Properties: properties, Pick: pick, By: by})
}

// StartCrawl starts one crawler alone.
func (e *Exec) StartCrawl(ctx context.Context, id engine.ID, by string) (engine.Run, error) {
	return e.Start(ctx, Order{Kind: engine.RunCrawl, Object: id, By: by})
}
