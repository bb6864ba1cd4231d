package draft

import (
	"context"
	"errors"
	"time"

	"dogear/engine"
)

// Draft is the draft of a workflow as the store keeps it.
type Draft struct {
	Workflow engine.ID           `json:"workflow"`
	Name     string              `json:"name"`
	Version  int                 `json:"version"` // the published version it stands on; 0 before the first
	Open     bool                `json:"open"`    // whether it is another than is published, if only by the places of cards
	Seq      int64               `json:"seq"`     // of its newest entry
	Body     engine.WorkflowBody `json:"body"`
}

// Entry is one line of a draft's log: an operation that was applied and what
// it changed.
type Entry struct {
	Seq    int64     `json:"seq"` // dense within a workflow; the store numbers it
	Op     string    `json:"op"`  // unique
	Act    string    `json:"act"`
	Kind   Kind      `json:"kind"`
	Of     Of        `json:"of,omitempty"`
	By     string    `json:"by"`
	Client string    `json:"client"` // the tab it came from
	At     time.Time `json:"at"`
	Delta  Delta     `json:"delta"`
}

// Store keeps drafts and their logs.
type Store interface {
	// Draft returns the draft of a workflow, which is its published version
	// where nobody has edited it since, or NotFound.
	Draft(ctx context.Context, workflow engine.ID) (Draft, error)

	// Edit calls change with the newest draft inside one transaction, together
	// with those of ops that the log holds already. Where change returns no
	// error it stores the body, appends the entries in order, and returns the
	// draft as it is now. Nothing is written where change fails.
	Edit(ctx context.Context, workflow engine.ID, ops []string,
		change func(d Draft, done map[string]bool) (engine.WorkflowBody, []Entry, error)) (Draft, error)

	// Discard is Edit that in the same transaction makes the drafts of jobs and
	// crawlers what is published of them. One that was saved since it was seen is a
	// Conflict, and nothing is written.
	Discard(ctx context.Context, workflow engine.ID, with []Seen,
		change func(d Draft, done map[string]bool) (engine.WorkflowBody, []Entry, error)) (Draft, error)

	// Since lists the entries after seq, oldest first.
	Since(ctx context.Context, workflow engine.ID, seq int64) ([]Entry, error)

	// Acts lists the newest limit entries of one user, oldest first.
	Acts(ctx context.Context, workflow engine.ID, by string, limit int) ([]Entry, error)
}

// Catalog knows which jobs and crawlers there are.
type Catalog interface {
	Names(ctx context.Context) (Names, error)
}

// Service edits drafts.
type Service struct {
	store   Store
	catalog Catalog
	tell    func(workflow engine.ID, entries []Entry)
	now     func() time.Time
}

// NewService makes a Service; tell is called after each edit that changed
// something.
func NewService(store Store, catalog Catalog, tell func(engine.ID, []Entry), now func() time.Time) *Service {
	return &Service{store: store, catalog: catalog, tell: tell, now: now}
}

// Patch is what a client sends: operations made on what it saw at Base.
type Patch struct {
	Base   int64  `json:"base"`
	Client string `json:"client"`
	Ops    []Op   `json:"ops"`
}

// MaxOps is the most operations of one request.
const MaxOps = 1000

// maxMissed is up to how many entries a client catches up by; a client that is
// further behind gets the whole draft.
const maxMissed = 500

// Saved answers a Patch: everything that happened since its base, its own
// operations included, in order; or the whole body for a client far behind.
type Saved struct {
	Seq     int64                `json:"seq"`
	Entries []Entry              `json:"entries"`
	Body    *engine.WorkflowBody `json:"body,omitempty"`
}

// Save applies the operations of p for user by to the newest draft, all or
// none. A repeated operation does nothing. A refusal is a *Refusal whose Index
// says which operation it is about.
func (s *Service) Save(ctx context.Context, workflow engine.ID, by string, p Patch) (Saved, error) {
	ids, err := p.ids()
	if err != nil {
		return Saved{}, err
	}
	names, err := s.catalog.Names(ctx)
	if err != nil {
		return Saved{}, err
	}
	var made []Entry
	after, err := s.store.Edit(ctx, workflow, ids, func(d Draft, done map[string]bool) (engine.WorkflowBody, []Entry, error) {
		body, entries, err := s.apply(d.Body, p, by, done, names)
		made = entries
		return body, entries, err
	})
	if err != nil {
		return Saved{}, err
	}
	s.tellMade(after, made)
	return s.missed(ctx, after, p.Base)
}

// tellMade tells of the newest entries of a draft, which the store has numbered.
func (s *Service) tellMade(after Draft, made []Entry) {
	if len(made) == 0 {
		return
	}
	for i := range made {
		made[i].Seq = after.Seq - int64(len(made)-1-i)
	}
	s.tell(after.Workflow, made)
}

func (p *Patch) ids() ([]string, error) {
	if len(p.Ops) > MaxOps {
		return nil, engine.Errorf(engine.LimitHit, "One request carries at most %d operations.", MaxOps)
	}
	ids := make([]string, len(p.Ops))
	for i, op := range p.Ops {
		if op.ID == "" || len(op.ID) > 64 || len(op.Act) > 64 || len(p.Client) > 64 {
			return nil, engine.Errorf(engine.Invalid, "Every operation needs an id of at most 64 characters.")
		}
		ids[i] = op.ID
	}
	return ids, nil
}

func (s *Service) apply(body engine.WorkflowBody, p Patch, by string, done map[string]bool, names Names) (engine.WorkflowBody, []Entry, error) {
	var entries []Entry
	for i, op := range p.Ops {
		if done[op.ID] {
			continue
		}
		next, delta, err := Apply(body, op, names)
		if r, ok := errors.AsType[*Refusal](err); ok {
			r.Index, r.Op = i, op.ID
			return body, nil, r
		}
		if err != nil {
			return body, nil, err
		}
		body = next
		if delta.Empty() {
			continue
		}
		entries = append(entries, Entry{
			Op: op.ID, Act: op.act(), Kind: op.Kind, Of: op.Of,
			By: by, Client: p.Client, At: s.now().UTC(), Delta: delta,
		})
	}
	return body, entries, nil
}

func (s *Service) missed(ctx context.Context, d Draft, base int64) (Saved, error) {
	if d.Seq-base > maxMissed || base > d.Seq {
		return Saved{Seq: d.Seq, Body: &d.Body}, nil
	}
	entries, err := s.store.Since(ctx, d.Workflow, base)
	if err != nil {
		return Saved{}, err
	}
	saved := Saved{Seq: base, Entries: entries}
	if len(entries) > 0 {
		saved.Seq = entries[len(entries)-1].Seq
	}
	return saved, nil
}

// Draft returns the draft of a workflow.
func (s *Service) Draft(ctx context.Context, workflow engine.ID) (Draft, error) {
	return s.store.Draft(ctx, workflow)
}

// Since is what a client that has seen base must catch up with.
func (s *Service) Since(ctx context.Context, workflow engine.ID, base int64) (Saved, error) {
	d, err := s.store.Draft(ctx, workflow)
	if err != nil {
		return Saved{}, err
	}
	return s.missed(ctx, d, base)
}

// History returns what user by can undo and redo.
func (s *Service) History(ctx context.Context, workflow engine.ID, by string) (History, error) {
	entries, err := s.store.Acts(ctx, workflow, by, maxActs)
	if err != nil {
		return History{}, err
	}
	return Stacks(entries), nil
}
