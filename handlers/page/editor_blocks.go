package page

import (
	"net/http"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/canvas"
	"dogear/views/editor"
)

// block is what a canvas asks to be made: something new, or a copy.
type block struct {
	Kind engine.Kind `json:"kind"` // or blockPython
	Of   engine.ID   `json:"of"`   // the job or crawler to copy; "" for none
}

// blockPython asks for a job that is a script.
const blockPython engine.Kind = "python"

// newBlock answers POST /api/ui/workflows/:id/blocks with a new job or crawler.
// It is a draft until it is published with the workflow. A copy gets bookmarks
// of its own, because it is another job.
func (p *Pages) newBlock(c web.Ctx) error {
	var wanted block
	if err := c.Bind(&wanted); err != nil {
		return err
	}
	desk, err := p.desk(c)
	if err != nil {
		return err
	}
	ctx, by, now := c.Request().Context(), user(c), p.Now()
	kind := engine.JobSQL
	if wanted.Kind == blockPython {
		wanted.Kind, kind = engine.KindJob, engine.JobPython
	}
	ref := engine.Ref{Kind: wanted.Kind}
	var info canvas.Info
	switch wanted.Kind {
	case engine.KindJob:
		made := engine.Draft[engine.JobBody]{Body: newJob(kind), Open: true}
		made.Name = desk.freeName("new-job")
		if wanted.Of != "" {
			old, err := p.Store.JobDraft(ctx, wanted.Of)
			if err != nil {
				return err
			}
			made.Name, made.Body = desk.freeName(old.Name+" copy"), old.Body
		}
		ref.ID, err = p.Store.CreateJob(ctx, made.Name, made.Body, by, now)
		info = editor.InfoOfJob(made)
	case engine.KindCrawler:
		made := engine.Draft[engine.CrawlerBody]{Body: engine.CrawlerBody{Targets: []engine.CrawlerTarget{{}}}, Open: true}
		made.Name = desk.freeName("new-crawler")
		if wanted.Of != "" {
			old, err := p.Store.CrawlerDraft(ctx, wanted.Of)
			if err != nil {
				return err
			}
			made.Name, made.Body = desk.freeName(old.Name+" copy"), old.Body
		}
		ref.ID, err = p.Store.CreateCrawler(ctx, made.Name, made.Body, by, now)
		info = editor.InfoOfCrawler(made)
	default:
		return engine.Errorf(engine.Invalid, "There is no block of the kind %q.", wanted.Kind)
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"card": ref.String(), "info": info})
}

// freeName is name, or name with the first number that nobody has.
func (d *desk) freeName(name string) string {
	taken := map[string]bool{}
	for _, other := range d.names {
		taken[other] = true
	}
	free := name
	for n := 2; taken[free]; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}

// renameBlock answers POST /api/ui/workflows/:id/names/:node: it renames a job
// or crawler in place. The name is that of the object, in every workflow, and
// counts at once.
func (p *Pages) renameBlock(c web.Ctx) error {
	ref, err := engine.ParseRef(c.Param("node"))
	if err != nil {
		return err
	}
	var wanted struct {
		Name string `json:"name"`
	}
	if err := c.Bind(&wanted); err != nil {
		return err
	}
	name := strings.TrimSpace(wanted.Name)
	if err := p.Store.RenameObject(c.Request().Context(), ref.Kind, ref.ID, name); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"name": name})
}
