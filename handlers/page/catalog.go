package page

import (
	"context"
	"net/http"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/catalog"
	"dogear/views/layout"
	"dogear/views/show"
)

// catalogStore is what the screens of the catalog read.
type catalogStore interface {
	Tables(ctx context.Context) ([]engine.Table, error)
	Table(ctx context.Context, id engine.ID) (engine.Table, error)
	TableVersions(ctx context.Context, id engine.ID) ([]engine.Table, error)
	Partitions(ctx context.Context, table engine.ID, offset, limit int64) ([]engine.Partition, error)
}

// partitionPage is how many partitions a table's page shows at once.
const partitionPage = 100

func (p *Pages) catalogRoutes() []web.Route {
	return []web.Route{
		get("/catalog", p.catalog),
		get("/catalog/:id", p.table),
		get("/catalog/:id/sample", p.tableSample),
		get("/catalog/:id/partitions", p.tablePartitions),
	}
}

// catalog answers GET /catalog.
func (p *Pages) catalog(c web.Ctx) error {
	tables, err := p.Store.Tables(c.Request().Context())
	if err != nil {
		return err
	}
	list := catalog.NewListing(tables, p.Now())
	if web.IsFragment(c) {
		return web.Render(c, http.StatusOK, catalog.List(list))
	}
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Catalog", Crumbs: []layout.Crumb{{Label: "Catalog"}}, Live: []string{"changed:tables"},
	}, catalog.List(list))
}

// table answers GET /catalog/:id.
func (p *Pages) table(c web.Ctx) error {
	ctx := c.Request().Context()
	v := catalog.View{Now: p.Now()}
	var err error
	if v.Table, err = p.Store.Table(ctx, web.ID(c)); err != nil {
		return err
	}
	if v.Versions, err = p.Store.TableVersions(ctx, v.Table.ID); err != nil {
		return err
	}
	if v.Partitions, err = p.Store.Partitions(ctx, v.Table.ID, 0, partitionPage); err != nil {
		return err
	}
	if v.Table.OwnerJob != "" {
		if v.Owner, err = p.nameOf(ctx, v.Table.OwnerJob); err != nil {
			return err
		}
	}
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Catalog",
		Crumbs:  []layout.Crumb{{Label: "Catalog", Href: "/catalog"}, {Label: v.Table.FullName()}},
		Actions: catalog.Actions(v),
	}, catalog.Page(v))
}

// tablePartitions answers GET /catalog/:id/partitions?from=N with more rows.
func (p *Pages) tablePartitions(c web.Ctx) error {
	ctx := c.Request().Context()
	v := catalog.View{Now: p.Now(), From: number(c, "from", 0)}
	var err error
	if v.Table, err = p.Store.Table(ctx, web.ID(c)); err != nil {
		return err
	}
	if v.Partitions, err = p.Store.Partitions(ctx, v.Table.ID, v.From, partitionPage); err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, catalog.PartitionRows(v))
}

// tableSample answers GET /catalog/:id/sample with the first rows.
func (p *Pages) tableSample(c web.Ctx) error {
	rows, err := p.SQL.SampleTable(c.Request().Context(), web.ID(c))
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, show.Rows(rows))
}
