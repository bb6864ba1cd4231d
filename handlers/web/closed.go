package web

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"dogear/static"
	"dogear/views/layout"
)

// lookAgain is after how many seconds a browser looks whether there are pages.
const lookAgain = "5"

// Closed answers everybody that the server cannot work yet, and why, until it
// can. It knows no sessions, for there may be no database; what it says of the
// machine is for everybody.
func Closed(files static.Files, hosts []string, title, text string) http.Handler {
	e := echo.New()
	e.HTTPErrorHandler = func(err error, c Ctx) {
		status, _, message := explain(err)
		_ = c.String(status, message+"\n")
	}
	e.Use(secure, knownHost(hosts))
	e.GET("/healthz", func(c Ctx) error { return c.String(http.StatusOK, "ok\n") })
	e.GET("/readyz", func(c Ctx) error { return c.String(http.StatusServiceUnavailable, text+"\n") })
	e.GET(static.Prefix+"*", serveFiles(files))
	e.Any("/*", func(c Ctx) error {
		c.Response().Header().Set("Retry-After", lookAgain)
		if forScripts(c.Request().URL.Path) {
			return c.JSON(http.StatusServiceUnavailable, map[string]string{"code": "away", "message": text})
		}
		c.Response().Header().Set("Refresh", lookAgain)
		page := layout.Page{Title: title, Frame: layout.Frame{Now: time.Now(), URL: files.URL}}
		return Render(c, http.StatusServiceUnavailable, layout.AroundPlain(page, layout.Closed(title, text)))
	})
	return e
}
