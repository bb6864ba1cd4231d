package page

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/layout"
	"dogear/views/query"
)

// SQL runs read-only SQL in worker processes. A wrong statement is an Invalid
// error whose cause is an *engine.SQLFault.
type SQL interface {
	// Query runs a statement over the tables of the catalog.
	Query(ctx context.Context, sql string, limit int) (engine.Rows, error)
	// Export writes all rows of a statement as a file of that format.
	Export(ctx context.Context, sql string, format engine.Format, to io.Writer) error
	// SampleFile reads the first rows of one file.
	SampleFile(ctx context.Context, connection engine.ID, path string, format engine.Format) (engine.Rows, error)
	// SampleTable reads the first rows of a table.
	SampleTable(ctx context.Context, table engine.ID) (engine.Rows, error)
	// Preview runs a job up to and with a step on a sample of its sources and
	// writes nothing; step "" is the last one.
	Preview(ctx context.Context, job engine.JobBody, step string) (engine.Rows, error)
	// Columns are what the sources and steps of a job hold, by name.
	Columns(ctx context.Context, job engine.JobBody) (map[string][]engine.Column, error)
}

// maxRows is how many rows a query shows; a download has all of them.
const maxRows = 500

func (p *Pages) queryRoutes() []web.Route {
	return []web.Route{
		get("/query", p.query),
		post("/query", p.runQuery),
		post("/query/download/:word", p.downloadQuery),
	}
}

// query answers GET /query.
func (p *Pages) query(c web.Ctx) error {
	tables, err := p.Store.Tables(c.Request().Context())
	if err != nil {
		return err
	}
	v := query.View{SQL: c.QueryParam("sql"), Tables: tables, Editor: p.Files.URL("editor-sql.js"), CSRF: p.Sessions.Token(c)}
	return p.show(c, http.StatusOK, layout.Page{Section: "Query", Crumbs: []layout.Crumb{{Label: "Query"}}}, query.Page(v))
}

// runQuery answers POST /query with rows, or with what is wrong and where. A
// request that the browser breaks off ends the worker.
func (p *Pages) runQuery(c web.Ctx) error {
	start := p.Now()
	rows, err := p.SQL.Query(c.Request().Context(), c.FormValue("sql"), maxRows)
	if engine.CodeOf(err) == engine.Invalid {
		return web.Render(c, http.StatusUnprocessableEntity, query.Wrong(engine.MessageOf(err), faultOf(err)))
	}
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, query.Result(rows, p.Now().Sub(start)))
}

// faultOf is where SQL is wrong; the zero fault where nobody knows.
func faultOf(err error) engine.SQLFault {
	if fault, ok := errors.AsType[*engine.SQLFault](err); ok {
		return *fault
	}
	return engine.SQLFault{}
}

// downloadQuery answers POST /query/download/csv and /parquet. The answer
// begins with the first byte of the file, so that an error before it is still
// an error page.
func (p *Pages) downloadQuery(c web.Ctx) error {
	format := engine.Format(c.Param("word"))
	kind := map[engine.Format]string{engine.CSV: "text/csv; charset=utf-8", engine.Parquet: "application/vnd.apache.parquet"}[format]
	if kind == "" {
		return engine.Errorf(engine.NotFound, "A result can be downloaded as csv or parquet.")
	}
	header := c.Response().Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Disposition", `attachment; filename="query.`+string(format)+`"`)
	err := p.SQL.Export(c.Request().Context(), strings.TrimSpace(c.FormValue("sql")), format, c.Response())
	if err != nil && !c.Response().Committed {
		header.Del("Content-Disposition")
	}
	return err
}
