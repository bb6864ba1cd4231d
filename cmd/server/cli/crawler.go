package cli

import (
	"context"
	"strings"

	"dogear/engine"
	"dogear/handlers/control"
)

// Crawler are the commands about crawlers.
type Crawler struct {
	List crawlerList `cmd:"" help:"List the crawlers."`
	Run  crawlerRun  `cmd:"" help:"Run one crawler alone."`

	Discard crawlerDiscard `cmd:"" help:"Make the draft of a crawler again what is published. That cannot be taken back."`
}

type crawlerList struct{ target }

// Run lists the crawlers.
func (c *crawlerList) Run(ctx context.Context, term Terminal) error {
	list, err := get[[]engine.Crawler](ctx, c.Data, "/crawlers", nil)
	if err != nil {
		return err
	}
	return c.print(term, list, func(t *table) {
		t.row("NAME", "VERSION", "DATABASE", "LOOKS INTO")
		for i := range list {
			crawler := &list[i]
			paths := make([]string, len(crawler.Targets))
			for k, into := range crawler.Targets {
				paths[k] = into.Path
			}
			t.row(crawler.Name, version(crawler.Version), crawler.Database, strings.Join(paths, ", "))
		}
	})
}

type crawlerRun struct {
	target
	wait
	Name string `arg:"" help:"Name of the crawler."`
	token
}

// Run starts the crawler.
func (c *crawlerRun) Run(ctx context.Context, term Terminal) error {
	run, err := c.start(ctx, c.Data, "/crawler", func(token string) any {
		return control.StartCrawler{Crawler: c.Name, Token: token}
	})
	if err != nil {
		return err
	}
	return c.started(ctx, term, c.target, run)
}
