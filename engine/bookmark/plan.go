package bookmark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"dogear/engine"
)

// Ledger is what a plan needs of the store.
type Ledger interface {
	Pages
	// BookmarkOf returns the bookmark of one context of a job, or nil where
	// none was written yet.
	BookmarkOf(ctx context.Context, job engine.ID, name string) (*engine.Bookmark, error)
}

// Tables finds the catalog table that a source names.
type Tables interface {
	TableNamed(ctx context.Context, fullName string) (engine.Table, error)
}

// Hasher reads the content of an object where only its time differs, to tell
// touched from changed.
type Hasher interface {
	Hash(ctx context.Context, src engine.Source, o engine.Object) (string, error)
}

// Surveyor looks at tables of databases.
type Surveyor interface {
	Survey(ctx context.Context, q engine.TableQuestion) (engine.TableSurvey, error)
	// Rows yields every row of a table that has a key, in the order of the
	// bytes of its key, from one moment.
	Rows(ctx context.Context, src engine.Source, columns []engine.Column, keys []string) iter.Seq2[engine.RowPrint, error]
}

// Planner makes the one Plan that runs, dry runs and previews share.
type Planner struct {
	Ledger   Ledger
	Lister   Lister
	Tables   Tables
	Hasher   Hasher   // may be nil: a file of the same size is then taken as touched
	Surveyor Surveyor // may be nil where no source is a table
}

// Request is what a plan is asked for.
type Request struct {
	Job engine.Job
	Run engine.ID // the run that will read; "" for a preview
	Now time.Time
	// Roots replace the ledger's newest root by context: what a rewind or a
	// reset would make of it.
	Roots map[string]string
	// Pick, where it is set, are files read again beside the bookmarks: only
	// they are taken, and no bookmark moves.
	Pick *engine.Selection
	// Adopt accepts a source whose fingerprint has changed.
	Adopt bool
	// Whole leaves out the bounds and settle times of the sources: what there
	// is, not what the next run takes of it.
	Whole bool
	// Looks says that nothing is read by the plan, so that what forbids to
	// read it is no error: moves that mend it are made from such a plan.
	Looks bool
}

// Plan compares what the sources of the job hold with what its ledgers say was
// read. It reads no content but where a Hasher must decide.
func (p *Planner) Plan(ctx context.Context, q Request) (engine.Plan, error) {
	if q.Job.SQL == nil {
		return engine.Plan{}, engine.Errorf(engine.Invalid, "Job %s has no SQL definition.", q.Job.Name)
	}
	plan := engine.Plan{
		ID:  engine.NewID(q.Now),
		Job: q.Job.ID,
		At:  q.Now,
	}
	for _, src := range q.Job.SQL.Sources {
		part, err := p.source(ctx, q, src)
		if err != nil {
			return engine.Plan{}, err
		}
		plan.Sources = append(plan.Sources, part)
	}
	return plan, nil
}

// source plans one source.
func (p *Planner) source(ctx context.Context, q Request, src engine.Source) (engine.SourcePlan, error) {
	spec, err := p.resolve(ctx, src)
	if err != nil {
		return engine.SourcePlan{}, err
	}
	part := engine.SourcePlan{
		Spec: spec, Source: src.Name, Ctx: src.Context(), Read: src.Read, Root: p.root(spec),
		Fingerprint: Fingerprint(src), Schema: spec.Schema, Counts: map[engine.Reason]engine.Tally{},
	}
	if part.Read == "" {
		part.Read = engine.ReadNew
	}
	if part.Read == engine.ReadAll || q.Job.Bookmark == engine.BookmarkOff {
		part.Read = engine.ReadAll
		if spec.Table != "" {
			return part, p.wholeTable(ctx, q, &part)
		}
		return part, p.all(ctx, spec, &part)
	}

	mark, err := p.Ledger.BookmarkOf(ctx, q.Job.ID, part.Ctx)
	if err != nil {
		return part, err
	}
	if mark != nil {
		if mark.Fingerprint != part.Fingerprint && !q.Adopt {
			return part, engine.Errorf(engine.Conflict,
				"Source %s is not the one its bookmark was made for: its path, glob, table, key or format has changed. Open the bookmark of %s and say whether it is the same thing, or reset it.",
				src.Name, q.Job.Name)
		}
		part.LedgerVersion, part.LedgerRoot = mark.Version, mark.Root
	}
	if root, ok := q.Roots[part.Ctx]; ok {
		part.LedgerRoot = root
	}
	part.Moves = q.Job.Bookmark == engine.BookmarkOn && (mark == nil || !mark.Paused) && q.Pick == nil
	if spec.Table != "" {
		return part, p.table(ctx, q, &part)
	}
	var pick *picker
	if q.Pick != nil {
		if pick, err = newPicker(*q.Pick); err != nil {
			return part, err
		}
	}
	m := &merge{pick: pick, planner: p, src: spec, now: q.Now, part: &part, changed: changedPolicy(spec, q.Job.SQL.Sinks), whole: q.Whole, looks: q.Looks}
	if err := m.run(ctx); err != nil {
		return part, err
	}
	if overwrites(q.Job.SQL.Sinks) && spec.Options.Partition != "" {
		if err := m.reopen(ctx); err != nil {
			return part, err
		}
	}
	return part, nil
}

// resolve turns a catalog table into the path it stands for.
func (p *Planner) resolve(ctx context.Context, src engine.Source) (engine.Source, error) {
	if src.CatalogTable == "" {
		return src, nil
	}
	table, err := p.Tables.TableNamed(ctx, src.CatalogTable)
	if err != nil {
		return src, err
	}
	src.Path, src.Connection, src.Format = table.Location, table.Connection, table.Format
	src.Options.CSV = table.Dialect
	if len(src.Schema) == 0 {
		src.Schema = append(slices.Clone(table.Columns), table.Keys...)
	}
	return src, nil
}

// all takes everything the source holds.
func (p *Planner) all(ctx context.Context, src engine.Source, part *engine.SourcePlan) error {
	for o, err := range p.Lister.List(ctx, src) {
		if err != nil {
			return fmt.Errorf("list source %s: %w", src.Name, err)
		}
		if o.Filtered != "" {
			count(part, engine.ReasonFiltered, o.Object)
			continue
		}
		part.Taken = append(part.Taken, engine.Planned{Object: o.Object, Taken: true, Reason: engine.ReasonNew})
		count(part, engine.ReasonNew, o.Object)
	}
	part.Complete = true
	return nil
}

// Fingerprint names what makes a source the same thing (cases B09, B27).
func Fingerprint(src engine.Source) string {
	parts := []any{src.Connection, strings.TrimRight(src.Path, "/"), src.CatalogTable, src.Format}
	if src.Table != "" {
		parts = []any{src.Connection, src.Table, src.Keys, src.Options.Table.Descending}
		if src.Read == engine.ReadCompare || src.Options.Table.Instead != "" { // left out where it was not known yet
			parts = append(parts, src.Read == engine.ReadCompare, src.Options.Table.Instead)
		}
	}
	text, _ := json.Marshal(parts)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// changedPolicy says what happens to an object whose content has changed: read
// again only where the target can take the rows twice (Safe writes).
func changedPolicy(src engine.Source, sinks []engine.Sink) string {
	if src.Policy.Changed != "" {
		return src.Policy.Changed
	}
	for _, sink := range sinks {
		if sink.Mode == engine.Append || sink.Mode == "" {
			return "hold"
		}
	}
	return "read"
}

func overwrites(sinks []engine.Sink) bool {
	return slices.ContainsFunc(sinks, func(s engine.Sink) bool { return s.Mode == engine.OverwritePartitions })
}
