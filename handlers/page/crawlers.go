package page

import (
	"context"
	"net/http"
	"time"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/crawler"
	"dogear/views/layout"
)

// crawlerStore is what the screens of crawlers read and write.
type crawlerStore interface {
	CrawlerDrafts(ctx context.Context) ([]engine.Draft[engine.CrawlerBody], error)
	Crawlers(ctx context.Context) ([]engine.Crawler, error)
	Crawler(ctx context.Context, id engine.ID) (engine.Crawler, error)
	CrawlerDraft(ctx context.Context, id engine.ID) (engine.Draft[engine.CrawlerBody], error)
	CreateCrawler(ctx context.Context, name string, body engine.CrawlerBody, by string, now time.Time) (engine.ID, error)
	SaveCrawlerDraft(ctx context.Context, id engine.ID, body engine.CrawlerBody, base int64, by string, now time.Time) (int64, error)
	PublishCrawler(ctx context.Context, id engine.ID, by string, now time.Time) (engine.Crawler, error)
}

func (p *Pages) crawlerRoutes() []web.Route {
	return []web.Route{
		get("/crawlers", p.crawlers),
		post("/crawlers", p.createCrawler),
		get("/crawlers/:id", p.crawler),
		post("/crawlers/:id", p.saveCrawler),
		post("/crawlers/:id/form/target", p.growCrawler),
		post("/crawlers/:id/run", p.runCrawler),
	}
}

// crawlers answers GET /crawlers.
func (p *Pages) crawlers(c web.Ctx) error {
	ctx := c.Request().Context()
	drafts, err := p.Store.CrawlerDrafts(ctx)
	if err != nil {
		return err
	}
	list := crawler.Listing{Now: p.Now(), CSRF: p.Sessions.Token(c)}
	for _, d := range drafts {
		last, err := p.Store.NodeHistory(ctx, engine.Ref{Kind: engine.KindCrawler, ID: d.ID}, 1)
		if err != nil {
			return err
		}
		list.Items = append(list.Items, crawler.Item{Draft: d, Last: last})
	}
	if web.IsFragment(c) {
		return web.Render(c, http.StatusOK, crawler.Table(list))
	}
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Crawlers", Crumbs: []layout.Crumb{{Label: "Crawlers"}}, Actions: crawler.ListActions(), Live: []string{"changed:runs"},
	}, crawler.List(list))
}

// createCrawler answers POST /crawlers.
func (p *Pages) createCrawler(c web.Ctx) error {
	body := engine.CrawlerBody{Targets: []engine.CrawlerTarget{{}}}
	id, err := p.Store.CreateCrawler(c.Request().Context(), c.FormValue("name"), body, user(c), p.Now())
	if err != nil {
		return err
	}
	return web.Go(c, "/crawlers/"+string(id))
}

func (p *Pages) crawlerView(c web.Ctx) (crawler.View, error) {
	ctx := c.Request().Context()
	v := crawler.View{Now: p.Now(), CSRF: p.Sessions.Token(c)}
	var err error
	if v.Draft, err = p.Store.CrawlerDraft(ctx, web.ID(c)); err != nil {
		return v, err
	}
	if v.Connections, err = p.Store.Connections(ctx); err != nil {
		return v, err
	}
	ref := engine.Ref{Kind: engine.KindCrawler, ID: v.Draft.ID}
	if v.History, err = p.Store.NodeHistory(ctx, ref, historyLen); err != nil {
		return v, err
	}
	v.Form = crawler.FormOf(v.Draft)
	return v, nil
}

// crawler answers GET /crawlers/:id.
func (p *Pages) crawler(c web.Ctx) error {
	v, err := p.crawlerView(c)
	if err != nil {
		return err
	}
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Crawlers",
		Crumbs:  []layout.Crumb{{Label: "Crawlers", Href: "/crawlers"}, {Label: v.Draft.Name}},
		Actions: crawler.Actions(v),
	}, crawler.Page(v))
}

func (p *Pages) crawlerForm(c web.Ctx) (crawler.View, error) {
	v, err := p.crawlerView(c)
	if err != nil {
		return v, err
	}
	values, err := c.FormParams()
	if err != nil {
		return v, engine.Errorf(engine.Invalid, "The form could not be read: %w", err)
	}
	v.Form = crawler.ReadForm(values, v.Draft)
	return v, nil
}

// saveCrawler answers POST /crawlers/:id: it saves and publishes at once.
func (p *Pages) saveCrawler(c web.Ctx) error {
	v, err := p.crawlerForm(c)
	if err != nil {
		return err
	}
	if len(v.Form.Errors) > 0 {
		return web.Render(c, http.StatusUnprocessableEntity, crawler.Form(v))
	}
	ctx, id, now := c.Request().Context(), v.Draft.ID, p.Now()
	err = p.rename(ctx, engine.KindCrawler, id, v.Draft.Name, v.Form.Name)
	if taken(err, v.Form.Errors) {
		return web.Render(c, http.StatusUnprocessableEntity, crawler.Form(v))
	}
	if err != nil {
		return err
	}
	if _, err := p.Store.SaveCrawlerDraft(ctx, id, v.Form.Body, v.Form.Base, user(c), now); err != nil {
		return err
	}
	if _, err := p.Store.PublishCrawler(ctx, id, user(c), now); err != nil {
		return err
	}
	return web.Go(c, "/crawlers/"+string(id))
}

// growCrawler answers POST /crawlers/:id/form/target with one target more.
func (p *Pages) growCrawler(c web.Ctx) error {
	v, err := p.crawlerForm(c)
	if err != nil {
		return err
	}
	v.Form.Errors = nil
	v.Form.Body.Targets = append(v.Form.Body.Targets, engine.CrawlerTarget{})
	return web.Render(c, http.StatusOK, crawler.Form(v))
}

// runCrawler answers POST /crawlers/:id/run.
func (p *Pages) runCrawler(c web.Ctx) error {
	run, err := p.Exec.Start(c.Request().Context(), order(c, engine.RunCrawl, web.ID(c), nil))
	if err != nil {
		return err
	}
	return web.Go(c, "/runs/"+string(run.ID))
}
