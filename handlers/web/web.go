// Package web is the way in by HTTP: the router and its one table of routes,
// sessions, the checks that stand before every handler, rendering and the
// pages of errors. It is the only package that names the web framework.
package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"dogear/engine"
	"dogear/static"
)

// Ctx is one request and its answer.
type Ctx = echo.Context

// Handler answers a request.
type Handler = echo.HandlerFunc

// Route is one line of the table of routes. Whatever is not Public needs a
// session; a change of any kind also needs the token of the session.
type Route struct {
	Method  string
	Path    string // exact; ":id" is an id of ours, see params
	Handler Handler
	Public  bool
	// Rate is how many requests a second one address may send for long; 0 is no
	// limit. Four times as many are taken at once.
	Rate int
}

// Config is what the server's way in is made of.
type Config struct {
	Routes   []Route
	Files    static.Files
	Sessions *Sessions
	// Origin is the address at which people see the server, such as
	// "https://dogear.example". Empty: the host that the request names.
	Origin string
	// Hosts are the names that a request may call the server by, without port.
	// Empty: any. A server on loopback gives LoopbackHosts, so that no name
	// that somebody else owns can be made to lead to it.
	Hosts []string
	// Outgrown says why this server changes nothing any more; nil, or nil from it,
	// while it works.
	Outgrown func() error
	// Explain puts errors into words that say nothing of what was asked, such as that
	// the database is away, and leaves others as they are; nil leaves all.
	Explain func(error) error
	Log     *slog.Logger
	Now     func() time.Time
}

// LoopbackHosts are the names of this machine.
var LoopbackHosts = []string{"localhost", "127.0.0.1", "::1"}

// maxBody bounds what a request may send: a form, a definition, a workflow to
// import.
const maxBody = "4M"

// New returns the server's handler, or an error where the table of routes
// breaks a rule.
func New(cfg Config) (http.Handler, error) {
	routes := append(slices.Clone(cfg.Routes), Route{
		Method: http.MethodGet, Path: static.Prefix + "*", Handler: serveFiles(cfg.Files), Public: true,
	})
	if err := check(routes); err != nil {
		return nil, err
	}

	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.IPExtractor = echo.ExtractIPDirect() // a header could be anything
	e.HTTPErrorHandler = failures{files: cfg.Files, sessions: cfg.Sessions, explain: cfg.Explain, log: cfg.Log, now: cfg.Now}.answer
	e.Use(
		middleware.RequestIDWithConfig(middleware.RequestIDConfig{
			Generator:        requestID(cfg.Now),
			RequestIDHandler: func(c Ctx, id string) { c.Set(requestIDKey, id) },
		}),
		logRequests(cfg.Log, cfg.Now),
		middleware.RecoverWithConfig(middleware.RecoverConfig{DisablePrintStack: true, LogErrorFunc: logPanic(cfg.Log)}),
		secure,
		knownHost(cfg.Hosts),
		middleware.GzipWithConfig(middleware.GzipConfig{MinLength: 1024, Skipper: isSocket}),
		middleware.BodyLimit(maxBody),
		cfg.Sessions.load,
		sameOrigin(cfg.Origin),
		onlyText,
		outgrown(cfg.Outgrown),
	)
	for _, r := range routes {
		guards := []echo.MiddlewareFunc{checkParams}
		if r.Rate > 0 {
			guards = []echo.MiddlewareFunc{limitRate(r.Rate), checkParams}
		}
		if !r.Public {
			guards = []echo.MiddlewareFunc{cfg.Sessions.need, cfg.Sessions.needToken, checkParams}
		}
		e.Add(r.Method, r.Path, r.Handler, guards...)
	}
	return e, nil
}

// check refuses a table that holds a route twice, without a handler, or with
// a parameter of which nobody knows what it may be.
func check(routes []Route) error {
	seen := map[string]bool{}
	for _, r := range routes {
		name := r.Method + " " + r.Path
		switch {
		case r.Handler == nil:
			return fmt.Errorf("route %s has no handler", name)
		case seen[name]:
			return fmt.Errorf("route %s stands twice in the table", name)
		case strings.HasSuffix(r.Path, "*") && r.Path != static.Prefix+"*":
			return fmt.Errorf("route %s would match paths of any length", name)
		}
		seen[name] = true
		for part := range strings.SplitSeq(r.Path, "/") {
			if param, ok := strings.CutPrefix(part, ":"); ok && params[param] == nil {
				return fmt.Errorf("route %s has the parameter %q, which is not in the list of params", name, param)
			}
		}
	}
	return nil
}

// params says what each parameter of a path may be. What a person names never
// stands in a path, so no name can be taken for a place.
var params = map[string]func(text string) error{
	"id":   isID,
	"node": isRef,
	"card": isCard,
	"n":    isNumber,
	"word": isWord,
}

func isID(text string) error {
	_, err := engine.ParseID(text)
	return err
}

func isRef(text string) error {
	_, err := engine.ParseRef(text)
	return err
}

// isCard takes what stands on a canvas: a node or a trigger.
func isCard(text string) error {
	if isRef(text) == nil {
		return nil
	}
	return isID(text)
}

func isNumber(text string) error {
	if text == "" || len(text) > 9 || strings.Trim(text, "0123456789") != "" {
		return engine.Errorf(engine.Invalid, "%q is not a number.", text)
	}
	return nil
}

// isWord takes the words that we make up ourselves, such as "read_again".
func isWord(text string) error {
	if text == "" || len(text) > 32 || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz-_") != "" {
		return engine.Errorf(engine.Invalid, "%q is not a word of ours.", text)
	}
	return nil
}

// checkParams answers NotFound where a parameter of the path cannot be what
// its name says, before any handler sees it.
func checkParams(next Handler) Handler {
	return func(c Ctx) error {
		for _, name := range c.ParamNames() {
			if valid := params[name]; valid != nil && valid(c.Param(name)) != nil {
				return engine.Errorf(engine.NotFound, "There is nothing at this address.")
			}
		}
		return next(c)
	}
}

// ID returns a parameter that checkParams has seen.
func ID(c Ctx) engine.ID { return engine.ID(c.Param("id")) }

// Node returns the parameter :node, which checkParams has seen.
func Node(c Ctx) engine.Ref {
	ref, _ := engine.ParseRef(c.Param("node"))
	return ref
}

// serveFiles answers from the embedded build. A name is looked up among the
// names that exist and is never taken for a path.
func serveFiles(files static.Files) Handler {
	return func(c Ctx) error {
		file, ok := files[c.Param("*")]
		if !ok {
			return engine.Errorf(engine.NotFound, "There is no such file.")
		}
		header := c.Response().Header()
		etag := `"` + file.Hash + `"`
		header.Set("ETag", etag)
		header.Set("Cache-Control", "no-cache")
		if c.QueryParam("v") == file.Hash {
			header.Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		if c.Request().Header.Get("If-None-Match") == etag {
			return c.NoContent(http.StatusNotModified)
		}
		return c.Blob(http.StatusOK, file.Type, file.Body)
	}
}
