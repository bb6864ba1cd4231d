package web

import (
	"errors"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"dogear/engine"
)

const requestIDKey = "request-id"

// policy allows what our own build brings and nothing else. Style attributes
// are allowed because lengths of bars are data; they cannot run anything.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; " +
	"img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'"

// secure sets the headers that every answer carries.
func secure(next Handler) Handler {
	return func(c Ctx) error {
		header := c.Response().Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		// Not no-referrer: with it browsers send "Origin: null" on forms.
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		return next(c)
	}
}

// knownHost refuses a request that calls the server by a name that is not its
// own: that is how a page elsewhere reaches a server on this machine.
func knownHost(hosts []string) echo.MiddlewareFunc {
	return func(next Handler) Handler {
		return func(c Ctx) error {
			if len(hosts) > 0 && !slices.Contains(hosts, hostOnly(c.Request().Host)) {
				return engine.Errorf(engine.Forbidden,
					"This server does not answer to the name %q. Open it by the address that it printed when it started.",
					c.Request().Host)
			}
			return next(c)
		}
	}
}

func hostOnly(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return strings.ToLower(name)
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// sameOrigin refuses changes that a page of another site asked for, and bodies
// of types that a plain form elsewhere can send without asking.
func sameOrigin(origin string) echo.MiddlewareFunc {
	return func(next Handler) Handler {
		return func(c Ctx) error {
			r := c.Request()
			if r.Method == http.MethodGet || r.Method == http.MethodHead {
				return next(c)
			}
			if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
				return errForeign()
			}
			if r.Header.Get("Origin") != "" && !SameOrigin(r, origin) {
				return errForeign()
			}
			if !plainBody(r) {
				return echo.NewHTTPError(http.StatusUnsupportedMediaType)
			}
			return next(c)
		}
	}
}

// onlyText refuses fields that hold what is no text: no database takes it, and a
// script would be told half of it.
func onlyText(next Handler) Handler {
	return func(c Ctx) error {
		if forScripts(c.Request().URL.Path) { // what is signed is read as it came
			return next(c)
		}
		fields := []url.Values{c.QueryParams()}
		if kind, _, err := mime.ParseMediaType(c.Request().Header.Get("Content-Type")); err == nil && kind == "application/x-www-form-urlencoded" {
			form, err := c.FormParams()
			if _, theirs := errors.AsType[*echo.HTTPError](err); theirs {
				return err
			}
			if err != nil {
				return engine.Errorf(engine.Invalid, "The form that was sent cannot be read.")
			}
			fields = append(fields, form)
		}
		for _, of := range fields {
			for name, values := range of {
				for _, value := range slices.Concat(values, []string{name}) {
					if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
						return engine.Errorf(engine.Invalid, "The field %q holds a character that is no text, such as a zero byte. Take it out and try again.", name)
					}
				}
			}
		}
		return next(c)
	}
}

func errForeign() error {
	return engine.Errorf(engine.Forbidden, "This change was asked for by a page of another site, so it was not made.")
}

// SameOrigin reports whether the Origin of r is the server's own: origin where
// that is set, else the scheme and host by which r came.
func SameOrigin(r *http.Request, origin string) bool {
	if origin == "" {
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		origin = scheme + "://" + r.Host
	}
	return strings.EqualFold(r.Header.Get("Origin"), strings.TrimSuffix(origin, "/"))
}

// plainBody reports whether the body of r, if any, is a form or JSON.
func plainBody(r *http.Request) bool {
	if r.ContentLength == 0 && r.Header.Get("Content-Type") == "" {
		return true
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && slices.Contains([]string{
		"application/x-www-form-urlencoded", "multipart/form-data", "application/json",
	}, kind)
}

func isSocket(c Ctx) bool { return strings.EqualFold(c.Request().Header.Get("Upgrade"), "websocket") }

// logRequests writes one line for each request. Queries are left out: they may
// hold a sign-in token or what somebody searches for.
func logRequests(log *slog.Logger, now func() time.Time) echo.MiddlewareFunc {
	return func(next Handler) Handler {
		return func(c Ctx) error {
			start := now()
			err := next(c)
			if err != nil {
				c.Error(err) // writes the answer, so that its status is known here
			}
			r := c.Request()
			level := slog.LevelInfo
			switch {
			case c.Response().Status >= http.StatusInternalServerError:
				level = slog.LevelError
			case strings.HasPrefix(r.URL.Path, "/static/"), r.URL.Path == "/healthz", r.URL.Path == "/readyz", r.URL.Path == "/metrics":
				level = slog.LevelDebug
			}
			log.LogAttrs(r.Context(), level, "request",
				slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", c.Response().Status),
				slog.Duration("took", now().Sub(start)), slog.Any("id", c.Get(requestIDKey)))
			return nil
		}
	}
}

func logPanic(log *slog.Logger) func(c Ctx, err error, stack []byte) error {
	return func(c Ctx, err error, stack []byte) error {
		log.ErrorContext(c.Request().Context(), "handler panicked", "path", c.Request().URL.Path, "err", err, "stack", string(stack))
		return err
	}
}

// requestID names a request in the log and on the page of an error.
func requestID(now func() time.Time) func() string {
	return func() string { return string(engine.NewID(now())) }
}

// outgrownKey keeps in a context why the server changes nothing any more.
const outgrownKey = "outgrown"

// outgrown lets every page say why a server changes nothing any more, and refuses what
// would change something.
func outgrown(why func() error) echo.MiddlewareFunc {
	return func(next Handler) Handler {
		return func(c Ctx) error {
			if why == nil {
				return next(c)
			}
			err := why()
			if err == nil {
				return next(c)
			}
			c.Set(outgrownKey, engine.MessageOf(err))
			switch c.Request().Method {
			case http.MethodGet, http.MethodHead, http.MethodOptions:
				return next(c)
			}
			return err
		}
	}
}
