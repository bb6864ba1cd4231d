package portable

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/engine/schedule"
)

// Store is what exports and imports need of the database.
type Store interface {
	WorkflowNamed(ctx context.Context, name string) (engine.Workflow, error)
	Workflows(ctx context.Context) ([]engine.Workflow, error)
	Draft(ctx context.Context, workflow engine.ID) (draft.Draft, error)
	Jobs(ctx context.Context) ([]engine.Job, error)
	JobDrafts(ctx context.Context) ([]engine.Draft[engine.JobBody], error)
	Crawlers(ctx context.Context) ([]engine.Crawler, error)
	CrawlerDrafts(ctx context.Context) ([]engine.Draft[engine.CrawlerBody], error)
	Connections(ctx context.Context) ([]engine.Connection, error)
	// PoolPlaces lists the pools by name.
	PoolPlaces(ctx context.Context) (map[string]int, error)
	// Import writes and publishes a set in one transaction. The entry is that
	// of the draft's log; nil where the workflow stayed as it was.
	Import(ctx context.Context, set *Set, by string, now time.Time, next func(engine.Trigger) time.Time) (engine.Workflow, *draft.Entry, error)
}

// Service exports and imports workflows.
type Service struct {
	Store Store
	Now   func() time.Time
	// Schedules is what the server asks of schedules.
	Schedules schedule.Rules
	// MayUse says why a path may not be used by this server.
	MayUse func(path string) error
	// Fails says, for each of jobs, what its next run would fail of, as far as that
	// is seen without running anything. It may be nil.
	Fails func(ctx context.Context, jobs []*engine.JobBody) [][]engine.Fault
	// Next says when a trigger fires next.
	Next func(t engine.Trigger, after time.Time) time.Time
	// Imported is told of an import that was written. It may be nil.
	Imported func(w engine.Workflow, entry *draft.Entry)
}

// Export writes the workflow of that name as YAML.
func (s *Service) Export(ctx context.Context, name string) ([]byte, error) {
	w, err := s.Store.WorkflowNamed(ctx, name)
	if err != nil {
		return nil, err
	}
	var parts Parts
	if parts.Jobs, err = s.Store.Jobs(ctx); err != nil {
		return nil, err
	}
	if parts.Crawlers, err = s.Store.Crawlers(ctx); err != nil {
		return nil, err
	}
	if parts.Connections, err = s.Store.Connections(ctx); err != nil {
		return nil, err
	}
	d, err := Export(w, parts)
	if err != nil {
		return nil, err
	}
	return d.YAML()
}

// Ask is an import as somebody asks for it.
type Ask struct {
	Text []byte // of the file
	Dry  bool   // only say what it would do
	// Seen is the digest of the dry run that somebody looked at; "" asks for no such.
	Seen string
	By   string
}

// Report says what an import did, or would do.
type Report struct {
	// Digest is another for every other file, and wherever it would do something else.
	Digest string `json:"digest"`
	// Stale says that this is not what was seen, and that nothing was written.
	Stale    bool           `json:"stale,omitempty"`
	Workflow engine.ID      `json:"workflow,omitempty"` // "" where nothing was written
	Name     string         `json:"name"`
	Written  bool           `json:"written"`
	Objects  []Line         `json:"objects"`
	Changes  []draft.Change `json:"changes,omitempty"` // of the workflow that was there
	Paused   []Paused       `json:"paused,omitempty"`  // triggers that are not enabled, though the file says so
}

// Line is one object of a report.
type Line struct {
	Verb Verb        `json:"verb"`
	Kind engine.Kind `json:"kind"`
	Name string      `json:"name"`
	// Fields are what a change changes in a job or crawler.
	Fields []draft.Field `json:"fields,omitempty"`
	// Fails is what the next run of a job would fail of: whole sentences.
	Fails []string `json:"fails,omitempty"`
}

// Import makes and changes what a document says and publishes it, all or
// nothing. A dry run only says what it would do; so does one that was asked for
// after a look at something else.
func (s *Service) Import(ctx context.Context, ask Ask) (Report, error) {
	d, err := Parse(ask.Text)
	if err != nil {
		return Report{}, err
	}
	here, err := s.here(ctx, d.Workflow.Name)
	if err != nil {
		return Report{}, err
	}
	now := s.Now().UTC()
	set, err := Resolve(d, here, now)
	if err != nil {
		return Report{}, err
	}
	report := set.report()
	if report.Digest, err = report.digest(ask.Text); err != nil {
		return Report{}, err
	}
	report.Stale = ask.Seen != "" && ask.Seen != report.Digest
	s.warn(ctx, &set, &report)
	if ask.Dry || report.Stale {
		return report, nil
	}
	made, entry, err := s.Store.Import(ctx, &set, ask.By, now, func(t engine.Trigger) time.Time { return s.Next(t, now) })
	if err != nil {
		return Report{}, err
	}
	report.Workflow, report.Written = made.ID, true
	if s.Imported != nil {
		s.Imported(made, entry)
	}
	return report, nil
}

// digest tells a file and what its import would do from every other. A report names
// what is new and not what it holds, so the text is part of it.
func (r Report) digest(text []byte) (string, error) {
	whole, err := json.Marshal(struct {
		Would Report
		Text  []byte
	}{r, text})
	if err != nil {
		return "", fmt.Errorf("write down what an import would do: %w", err)
	}
	sum := sha256.Sum256(whole)
	return hex.EncodeToString(sum[:]), nil
}

// warn adds to the lines of jobs what their next run would fail of.
func (s *Service) warn(ctx context.Context, set *Set, report *Report) {
	if s.Fails == nil {
		return
	}
	bodies := make([]*engine.JobBody, len(set.Jobs))
	for i := range set.Jobs {
		bodies[i] = &set.Jobs[i].Body
	}
	for i, faults := range s.Fails(ctx, bodies) {
		line := &report.Objects[1+i] // behind the workflow, as report has them
		for _, fault := range faults {
			line.Fails = append(line.Fails, fault.Message)
		}
	}
}

// here reads what a document is compared with.
func (s *Service) here(ctx context.Context, name string) (Here, error) {
	here := Here{Schedules: s.Schedules, MayUse: s.MayUse}
	var err error
	if here.Workflows, err = s.Store.Workflows(ctx); err != nil {
		return here, err
	}
	if here.Jobs, err = s.Store.JobDrafts(ctx); err != nil {
		return here, err
	}
	if here.Crawlers, err = s.Store.CrawlerDrafts(ctx); err != nil {
		return here, err
	}
	if here.Pools, err = s.Store.PoolPlaces(ctx); err != nil {
		return here, err
	}
	if here.Connections, err = s.Store.Connections(ctx); err != nil {
		return here, err
	}
	w, err := s.Store.WorkflowNamed(ctx, name)
	if engine.CodeOf(err) == engine.NotFound {
		return here, nil
	}
	if err != nil {
		return here, err
	}
	d, err := s.Store.Draft(ctx, w.ID)
	here.Workflow = &engine.Draft[engine.WorkflowBody]{
		Head: w.Head, Body: d.Body, Seq: d.Seq, Open: w.Version == 0 || !same(d.Body, w.WorkflowBody),
	}
	return here, err
}

// report says what a set is, before it is written.
func (set *Set) report() Report {
	report := Report{Name: set.Workflow.Name, Paused: set.Paused, Objects: []Line{{Verb: set.Workflow.Verb, Kind: engine.KindWorkflow, Name: set.Workflow.Name}}}
	for _, p := range set.Jobs {
		line := Line{Verb: p.Verb, Kind: engine.KindJob, Name: p.Name}
		if p.Verb == Change {
			line.Fields = draft.JobFields(p.Was, p.Body, set.Names)
		}
		report.Objects = append(report.Objects, line)
	}
	for _, p := range set.Crawlers {
		line := Line{Verb: p.Verb, Kind: engine.KindCrawler, Name: p.Name}
		if p.Verb == Change {
			line.Fields = draft.CrawlerFields(p.Was, p.Body, set.Names)
		}
		report.Objects = append(report.Objects, line)
	}
	if set.Workflow.Verb == Change {
		report.Changes = draft.Changes(&set.Was, &set.Workflow.Body, set.Names)
	}
	return report
}
