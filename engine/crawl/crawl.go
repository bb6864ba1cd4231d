// Package crawl finds tables and partitions in folders and buckets, works out
// their columns and says what has changed in the catalog. It keeps a ledger of
// its own, so that it looks only into what is new or changed.
package crawl

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/runner"
)

// Files shows what lies in a target and the beginning of a file.
type Files interface {
	bookmark.Lister
	Head(ctx context.Context, src engine.Source, o engine.Object, n int64) ([]byte, error)
}

// Describer reads the columns of JSON and Parquet files; dir is scratch.
type Describer interface {
	Describe(ctx context.Context, src engine.Source, objects []engine.Object, dir string) ([]engine.Column, error)
}

// Planner makes the plan of what a crawl looks into.
type Planner interface {
	Plan(ctx context.Context, q bookmark.Request) (engine.Plan, error)
}

// Catalog knows the tables there are.
type Catalog interface {
	TableNamed(ctx context.Context, fullName string) (engine.Table, error)
	TableAt(ctx context.Context, connection engine.ID, location string) (*engine.Table, error)
}

// Service crawls. It is the runner of crawler nodes.
type Service struct {
	Files     Files
	Describer Describer
	Planner   Planner
	Catalog   Catalog
	Now       func() time.Time
}

var _ runner.Runner = (*Service)(nil)

// Context names the ledger of one target of a crawler.
func Context(target engine.CrawlerTarget) string { return "crawl:" + target.Path }

// source is a target in the words of a plan: everything in it, whose changed
// files are looked into again.
func source(target engine.CrawlerTarget) engine.Source {
	settle := int64(0)
	return engine.Source{
		Name: target.Path, Connection: target.Connection, Path: target.Path, Ctx: Context(target),
		Options: engine.SourceOptions{Exclude: target.Exclude, SettleMS: &settle},
		Policy:  engine.Policy{Changed: "read"},
	}
}

// Run crawls every target of a crawler. A target that cannot be listed fails
// the crawl, and then nothing of it is written.
func (s *Service) Run(ctx context.Context, a runner.Attempt, h runner.Host) (runner.Result, error) {
	if err := h.Started(ctx, engine.Process{}); err != nil {
		return runner.Result{}, err
	}
	c := &crawling{Service: s, a: a, h: h}
	result, err := c.run(ctx)
	if engine.CodeOf(err) == engine.Internal && err != nil {
		return result, err
	}
	if err != nil {
		return runner.Result{State: engine.Failed, Error: engine.MessageOf(err)}, nil
	}
	return result, nil
}

// Publish has nothing to do: a crawl writes the catalog and nothing else.
func (s *Service) Publish(context.Context, engine.Batch, runner.Host) ([]engine.TableChange, error) {
	return nil, nil
}

// Discard has nothing to do.
func (s *Service) Discard(context.Context, engine.Batch) error { return nil }

// crawling is one crawl.
type crawling struct {
	*Service
	a      runner.Attempt
	h      runner.Host
	result runner.Result
	// seen are the tables of this crawl by name, so that two folders never
	// write one table.
	seen   map[string]string
	tables int // found so far
}

func (c *crawling) run(ctx context.Context) (runner.Result, error) {
	c.result.State = engine.Succeeded
	c.seen = map[string]string{}
	crawler := c.a.Crawler
	if strings.TrimSpace(crawler.Database) == "" || len(crawler.Targets) == 0 {
		return c.result, engine.Errorf(engine.Invalid, "Crawler %s needs a database to write to and at least one folder or bucket to look into.", crawler.Name)
	}
	plan, err := c.plan(ctx)
	if err != nil {
		return c.result, err
	}
	for i, target := range crawler.Targets {
		if err := c.target(ctx, target, plan.Sources[i]); err != nil {
			return c.result, err
		}
	}
	c.h.Log(runner.Info, fmt.Sprintf("%d tables, %d partitions, %d files looked into", c.result.Counts.Tables, c.result.Counts.Partitions, c.result.Counts.Files))
	return c.result, nil
}

// plan stores what the crawl will look into before it looks.
func (c *crawling) plan(ctx context.Context) (engine.Plan, error) {
	if c.a.Recover != nil {
		return c.a.Recover.Plan, nil
	}
	job := engine.Job{
		Head:    engine.Head{ID: c.a.Crawler.ID, Name: c.a.Crawler.Name},
		JobBody: engine.JobBody{Bookmark: engine.BookmarkOn, SQL: &engine.SQLJob{}},
	}
	for _, target := range c.a.Crawler.Targets {
		job.SQL.Sources = append(job.SQL.Sources, source(target))
	}
	plan, err := c.Planner.Plan(ctx, bookmark.Request{Job: job, Run: c.a.Run.ID, Now: c.Now().UTC()})
	if err != nil {
		return plan, err
	}
	batch, err := c.h.Planned(ctx, plan)
	return batch.Plan, err
}

// target crawls one folder or prefix by its plan.
func (c *crawling) target(ctx context.Context, target engine.CrawlerTarget, part engine.SourcePlan) error {
	src := source(target)
	fresh := map[string]bool{}
	var entries []engine.Entry
	for _, o := range part.Taken {
		fresh[o.Key] = true
		entries = append(entries, engine.Entry{Object: o.Object, State: engine.EntryRead})
		c.result.Counts.Files++
		c.result.Counts.BytesIn += o.Size
	}
	c.h.Log(runner.Info, fmt.Sprintf("%s: %d files new or changed, %d gone, %d left out", target.Path,
		len(part.Taken), part.Counts[engine.ReasonGone].Files, part.Counts[engine.ReasonFiltered].Files))
	c.result.Ledger = append(c.result.Ledger, runner.LedgerChange{Ctx: part.Ctx, Fingerprint: part.Fingerprint, Entries: entries})

	tree := newFolder("")
	for o, err := range c.Files.List(ctx, src) {
		if err != nil {
			return err
		}
		if o.Filtered == "" {
			tree.add(o.Object, fresh[o.Key])
		}
	}
	all := tables(tree)
	if err := c.mayFind(all, target); err != nil {
		return err
	}
	for i, t := range all {
		c.h.Progress(runner.Progress{Percent: 100 * float64(i) / float64(len(all)), Note: cmp.Or(t.root.path, target.Path)})
		if err := c.table(ctx, src, t); err != nil {
			return err
		}
	}
	return nil
}

// maxExampleTables is how many tables the refusal of too many names.
const maxExampleTables = 5

// mayFind refuses more tables than the crawler may make, and names those that
// were found with a file of each, which shows what made it a table (C12).
func (c *crawling) mayFind(all []found, target engine.CrawlerTarget) error {
	c.tables += len(all)
	most := c.a.Crawler.MaxTables
	if most == 0 || c.tables <= most {
		return nil
	}
	var examples []string
	for _, t := range all[:min(len(all), maxExampleTables)] {
		name := cmp.Or(t.root.path, target.Path)
		t.root.walk(func(f *folder) {
			if len(f.examples) > 0 && !strings.Contains(name, " (") {
				name += " (" + f.examples[0].Key + ")"
			}
		})
		examples = append(examples, name)
	}
	return engine.Errorf(engine.LimitHit, "The crawl found %d tables and may make at most %d, so nothing was written. In %s it found %d, such as %s. Leave out what is no table, look into one folder below it, or raise the limit.",
		c.tables, most, target.Path, len(all), strings.Join(examples, ", "))
}

// table writes down one table, or only reports where a job's sink owns it.
func (c *crawling) table(ctx context.Context, src engine.Source, t found) error {
	location := locate(c.Files.Root(src), t.root.path)
	name := TableName(c.a.Crawler.TablePrefix, location)
	if other, ok := c.seen[name]; ok {
		return engine.Errorf(engine.Conflict, "%s and %s would both be the table %s. Give them to two crawlers with different table prefixes.", other, location, name)
	}
	c.seen[name] = location
	for _, n := range t.notices {
		c.h.Log(runner.Warn, n)
	}
	c.result.Counts.Tables++
	if len(t.keys) > 0 {
		c.result.Counts.Partitions += int64(len(t.partitions))
	}
	owned, err := c.Catalog.TableAt(ctx, src.Connection, location)
	if err != nil {
		return err
	}
	if owned != nil && owned.OwnerJob != "" {
		return c.compare(ctx, src, *owned, t)
	}
	change, err := c.change(ctx, src, t, location, name)
	if err != nil || change == nil {
		return err
	}
	c.result.Tables = append(c.result.Tables, *change)
	return nil
}

// locate joins the root of a target and the path of a table below it.
func locate(root, below string) string {
	if below == "" {
		return strings.TrimSuffix(root, "/")
	}
	return strings.TrimSuffix(root, "/") + "/" + below
}

// compare reports how the files of a table differ from what the job that owns
// it has declared; the job alone changes the table.
func (c *crawling) compare(ctx context.Context, src engine.Source, owned engine.Table, t found) error {
	columns, _, _, err := c.columns(ctx, src, t)
	if err != nil {
		return err
	}
	var extra []string
	for _, column := range columns {
		known := func(k engine.Column) bool { return strings.EqualFold(k.Name, column.Name) }
		if !slices.ContainsFunc(owned.Columns, known) && !slices.ContainsFunc(owned.Keys, known) {
			extra = append(extra, column.Name)
		}
	}
	if len(extra) > 0 {
		c.h.Log(runner.Warn, fmt.Sprintf("%s is owned by a job; its files also hold %s, which the table does not name.", owned.FullName(), strings.Join(extra, ", ")))
		return nil
	}
	c.h.Log(runner.Info, fmt.Sprintf("%s is owned by a job and agrees with its files: %d partitions.", owned.FullName(), len(t.partitions)))
	return nil
}
