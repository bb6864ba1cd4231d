package page

import (
	"context"
	"net/http"
	"strings"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/bookmark"
)

const (
	coveragePage = 1000   // partitions read at once
	coverageMost = 20_000 // partitions compared at most
)

// bookmarkCoverage answers GET /bookmarks/:id/coverage with what the source has
// against what the target got; with nothing where the catalog knows no table of
// the target, or its partitions name no date.
func (p *Pages) bookmarkCoverage(c web.Ctx) error {
	ctx := c.Request().Context()
	mark, err := p.Store.Bookmark(ctx, web.ID(c))
	if err != nil {
		return err
	}
	table, err := p.targetOf(ctx, mark.Job)
	if err != nil {
		return err
	}
	if table == nil || len(table.Keys) == 0 {
		return web.Render(c, http.StatusOK, bookmark.NoCoverage(bookmark.View{Mark: mark}))
	}
	partitions, err := p.partitionsOf(ctx, table.ID)
	if err != nil {
		return err
	}
	covered, ok, err := p.Bookmarks.Coverage(ctx, mark.ID, *table, partitions)
	if err != nil && engine.CodeOf(err) == engine.Internal {
		return err
	}
	if err != nil || !ok || len(covered.Cells) == 0 { // what is wrong with the source the page says already
		return web.Render(c, http.StatusOK, bookmark.NoCoverage(bookmark.View{Mark: mark}))
	}
	return web.Render(c, http.StatusOK, bookmark.Covered(bookmark.View{Mark: mark}, covered))
}

// targetOf is the table of the catalog that a job writes, or nil: the one that
// a sink owns, or one that a crawler found where the job wrote last.
func (p *Pages) targetOf(ctx context.Context, id engine.ID) (*engine.Table, error) {
	job, err := p.Store.Job(ctx, id)
	if engine.CodeOf(err) == engine.NotFound || err == nil && job.SQL == nil {
		return nil, nil // deleted, or never published
	}
	if err != nil {
		return nil, err
	}
	places, err := p.wroteTo(ctx, id)
	if err != nil {
		return nil, err
	}
	tables, err := p.Store.Tables(ctx)
	if err != nil {
		return nil, err
	}
	for _, sink := range job.SQL.Sinks {
		for i, t := range tables {
			found := t.Connection == sink.Connection && places[strings.TrimRight(t.Location, "/")]
			if found || sink.CatalogTable != "" && t.FullName() == sink.CatalogTable {
				return &tables[i], nil
			}
		}
	}
	return nil, nil
}

// wroteTo are the places, as they were resolved then, that the last attempt of
// a job to write anything wrote to.
func (p *Pages) wroteTo(ctx context.Context, job engine.ID) (map[string]bool, error) {
	attempts, err := p.Store.NodeHistory(ctx, engine.Ref{Kind: engine.KindJob, ID: job}, historyLen)
	if err != nil {
		return nil, err
	}
	places := map[string]bool{}
	for _, n := range attempts {
		if n.Batch == "" || n.State != engine.Succeeded {
			continue
		}
		batch, err := p.Store.Batch(ctx, n.Batch)
		if err != nil && engine.CodeOf(err) != engine.NotFound {
			return nil, err
		}
		for _, sink := range batch.Manifest.Sinks {
			places[strings.TrimRight(sink.Root, "/")] = true
		}
		if len(places) > 0 {
			break
		}
	}
	return places, nil
}

// partitionsOf reads the partitions of a table, page by page.
func (p *Pages) partitionsOf(ctx context.Context, table engine.ID) ([]engine.Partition, error) {
	var all []engine.Partition
	for int64(len(all)) < coverageMost {
		page, err := p.Store.Partitions(ctx, table, int64(len(all)), coveragePage)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); len(page) < coveragePage {
			break
		}
	}
	return all, nil
}
