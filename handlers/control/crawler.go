package control

import (
	"net/http"

	"dogear/engine"
	"dogear/engine/exec"
)

// StartCrawler asks for a run of one crawler alone.
type StartCrawler struct {
	Crawler string `json:"crawler"`
	// Token is a text of the caller's own for this one start (see StartJob).
	Token string `json:"token,omitempty"`
}

// crawlers answers GET /crawlers.
func (c *control) crawlers(w http.ResponseWriter, r *http.Request) error {
	crawlers, err := c.Store.Crawlers(r.Context())
	if err != nil {
		return err
	}
	return answer(w, crawlers)
}

// startCrawler answers POST /crawler with the run that was started.
func (c *control) startCrawler(w http.ResponseWriter, r *http.Request) error {
	start, err := read[StartCrawler](w, r)
	if err != nil {
		return err
	}
	crawler, err := c.Store.CrawlerNamed(r.Context(), start.Crawler)
	if err != nil {
		return err
	}
	by, err := c.byCommand(r.Context())
	if err != nil {
		return err
	}
	run, err := c.Exec.Start(r.Context(), exec.Order{Kind: engine.RunCrawl, Object: crawler.ID, By: by, Token: start.Token})
	if err != nil {
		return err
	}
	return c.answerRun(w, r, run)
}
