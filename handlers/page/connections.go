package page

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/connection"
	"dogear/views/job"
	"dogear/views/layout"
	"dogear/views/picker"
)

// connectionStore is what the screens of connections read and write. A secret
// goes in and never comes out.
type connectionStore interface {
	Connections(ctx context.Context) ([]engine.Connection, error)
	Connection(ctx context.Context, id engine.ID) (engine.Connection, error)
	SaveConnection(ctx context.Context, id engine.ID, name string, body engine.ConnectionBody, secret *string, by string, now time.Time) (engine.Connection, error)
}

// Places looks into folders and buckets.
type Places interface {
	// Browse lists one level; an empty path is the top.
	Browse(ctx context.Context, connection engine.ID, path string) (engine.Level, error)
	// MayUse says why a folder of the server, or a path in it, may not be used.
	// It lists nothing; of a bucket it knows nothing.
	MayUse(path string) error
	// Tables lists the tables of a database connection, and TableColumns
	// describes one, in the database's own types.
	Tables(ctx context.Context, connection engine.ID) ([]string, error)
	TableColumns(ctx context.Context, connection engine.ID, table string) ([]engine.TableColumn, error)
	// TestConnection tries a connection and says what it found, such as the
	// number of buckets; an Invalid error says why it does not work.
	TestConnection(ctx context.Context, id engine.ID) (string, error)
}

func (p *Pages) connectionRoutes() []web.Route {
	return []web.Route{
		get("/connections", p.connections),
		get("/connections/new", p.newConnection),
		post("/connections", p.saveConnection),
		get("/connections/:id", p.connection),
		post("/connections/:id", p.saveConnection),
		post("/connections/:id/test", p.testConnection),
	}
}

func (p *Pages) pickerRoutes() []web.Route {
	return []web.Route{get("/browse", p.browse), get("/browse/sample", p.browseSample), get("/tables", p.tables), get("/tables/columns", p.tableColumns)}
}

// connections answers GET /connections.
func (p *Pages) connections(c web.Ctx) error {
	list, err := p.Store.Connections(c.Request().Context())
	if err != nil {
		return err
	}
	return p.show(c, http.StatusOK, layout.Page{
		Section: "Connections", Crumbs: []layout.Crumb{{Label: "Connections"}}, Actions: connection.ListActions(),
	}, connection.List(list, p.Now()))
}

// newConnection answers GET /connections/new; with ?type= its form is that of
// a kind of connection, with what was typed before that was chosen.
func (p *Pages) newConnection(c web.Ctx) error {
	v := connection.View{Name: strings.TrimSpace(c.QueryParam("name"))}
	v.Body.Type = engine.ConnectionType(c.QueryParam("type"))
	v.Body.Description = strings.TrimSpace(c.QueryParam("description"))
	return p.showConnection(c, http.StatusOK, v)
}

// connection answers GET /connections/:id.
func (p *Pages) connection(c web.Ctx) error {
	found, err := p.Store.Connection(c.Request().Context(), web.ID(c))
	if err != nil {
		return err
	}
	return p.showConnection(c, http.StatusOK, connection.View{ID: found.ID, Name: found.Name, Body: found.ConnectionBody})
}

func (p *Pages) showConnection(c web.Ctx, status int, v connection.View) error {
	v.CSRF = p.Sessions.Token(c)
	if web.IsFragment(c) {
		return web.Render(c, status, connection.Form(v))
	}
	label := v.Name
	if v.ID == "" {
		label = "New connection"
	}
	return p.show(c, status, layout.Page{
		Section: "Connections", Crumbs: []layout.Crumb{{Label: "Connections", Href: "/connections"}, {Label: label}},
		Actions: connection.Actions(v),
	}, connection.Form(v))
}

// saveConnection answers POST /connections and /connections/:id. An empty
// secret leaves the one that is kept; the box beside it removes that one.
func (p *Pages) saveConnection(c web.Ctx) error {
	v := connection.View{ID: web.ID(c), Name: strings.TrimSpace(c.FormValue("name")), Errors: map[string]string{}}
	if v.ID != "" {
		kept, err := p.Store.Connection(c.Request().Context(), v.ID)
		if err != nil {
			return err
		}
		v.Body = kept.ConnectionBody
	}
	if v.ID == "" {
		v.Body.Type = engine.ConnectionType(c.FormValue("type"))
	}
	v.Body.Description = strings.TrimSpace(c.FormValue("description"))
	v.Body.Endpoint = strings.TrimSpace(c.FormValue("endpoint"))
	v.Body.Region = strings.TrimSpace(c.FormValue("region"))
	v.Body.PathStyle = c.FormValue("path_style") != ""
	v.Body.AccessKey = strings.TrimSpace(c.FormValue("access_key"))
	v.Body.Host = strings.TrimSpace(c.FormValue("host"))
	v.Body.Port = portOf(c.FormValue("port"))
	v.Body.Database = strings.TrimSpace(c.FormValue("database"))
	v.Body.User = strings.TrimSpace(c.FormValue("user"))
	v.Body.TLS = engine.TLSMode(c.FormValue("tls"))
	v.Body.CA = strings.TrimSpace(strings.ReplaceAll(c.FormValue("ca"), "\r\n", "\n"))
	v.Body.ServerName = strings.TrimSpace(c.FormValue("server_name"))
	var secret *string
	if given := c.FormValue("secret"); given != "" || c.FormValue("forget") != "" {
		secret = &given
	}
	v.Check(secret != nil && *secret != "")
	if len(v.Errors) > 0 {
		return p.showConnection(c, http.StatusUnprocessableEntity, v)
	}
	saved, err := p.Store.SaveConnection(c.Request().Context(), v.ID, v.Name, v.Body, secret, user(c), p.Now())
	if err != nil {
		return err
	}
	return web.Go(c, "/connections/"+string(saved.ID))
}

// portOf reads a port; -1 is none, which the form says.
func portOf(text string) int {
	if text = strings.TrimSpace(text); text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n == 0 {
		return -1
	}
	return n
}

// testConnection answers POST /connections/:id/test.
func (p *Pages) testConnection(c web.Ctx) error {
	found, err := p.Places.TestConnection(c.Request().Context(), web.ID(c))
	if code := engine.CodeOf(err); err != nil && code != engine.Internal && code != engine.NotFound {
		return web.Render(c, http.StatusOK, connection.Tested(false, engine.MessageOf(err)))
	}
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, connection.Tested(true, found))
}

// browse answers GET /browse with the path picker. The field that asks is
// named by ?for=; its own value and connection come with the request.
func (p *Pages) browse(c web.Ctx) error {
	field := c.QueryParam("for")
	v := picker.View{For: field, Connection: engine.ID(c.QueryParam("connection"))}
	at := c.QueryParam("at")
	if !c.QueryParams().Has("at") {
		at = picker.Folder(c.QueryParam(field))
		v.Connection = engine.ID(c.QueryParam(strings.TrimSuffix(field, "path") + "connection"))
	}
	level, err := p.Places.Browse(c.Request().Context(), v.Connection, at)
	if engine.CodeOf(err) == engine.Invalid || engine.CodeOf(err) == engine.NotFound {
		// What was typed leads nowhere: say so and begin at the top.
		v.Trouble = engine.MessageOf(err)
		level, err = p.Places.Browse(c.Request().Context(), v.Connection, "")
	}
	if err != nil {
		return err
	}
	v.Level = level
	if c.QueryParams().Has("at") {
		return web.Render(c, http.StatusOK, picker.Level(v))
	}
	return web.Render(c, http.StatusOK, picker.Dialog(v))
}

// tables answers GET /tables?for=source.0.table with the tables of the
// connection beside that field. One that cannot be asked offers none: Test
// connection says why.
func (p *Pages) tables(c web.Ctx) error {
	names, err := p.Places.Tables(c.Request().Context(), besideTable(c, "connection"))
	if engine.CodeOf(err) == engine.Internal {
		return err
	}
	return web.Render(c, http.StatusOK, job.TableNames(names))
}

// tableColumns answers GET /tables/columns?for=source.0.table with what the
// table of that field has.
func (p *Pages) tableColumns(c web.Ctx) error {
	columns, err := p.Places.TableColumns(c.Request().Context(), besideTable(c, "connection"), c.QueryParam(c.QueryParam("for")))
	if err != nil && engine.CodeOf(err) != engine.Internal {
		return web.Render(c, http.StatusOK, job.NoColumns(c.QueryParam("for"), engine.MessageOf(err)))
	}
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, job.TableColumns(columns))
}

// besideTable is a field of the part of a form in which a table is named.
func besideTable(c web.Ctx, name string) engine.ID {
	return engine.ID(c.QueryParam(strings.TrimSuffix(c.QueryParam("for"), "table") + name))
}

// browseSample answers GET /browse/sample?connection=…&path=… with the first
// rows of a file. Places checks that the path lies below an allowed root.
func (p *Pages) browseSample(c web.Ctx) error {
	path := c.QueryParam("path")
	rows, err := p.SQL.SampleFile(c.Request().Context(), engine.ID(c.QueryParam("connection")), path, picker.FormatOf(path))
	if engine.CodeOf(err) == engine.Invalid {
		return web.Render(c, http.StatusOK, picker.NoSample(engine.MessageOf(err)))
	}
	if err != nil {
		return err
	}
	return web.Render(c, http.StatusOK, picker.Sample(rows))
}
