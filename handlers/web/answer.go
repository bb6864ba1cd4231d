package web

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"dogear/engine"
	"dogear/static"
	"dogear/views/layout"
)

// buffers are reused, so that a page costs no new memory.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Render answers with a component. It is rendered whole before the first byte
// is sent, so that an error in it is an error page and not half a page.
func Render(c Ctx, status int, component templ.Component) error {
	buffer := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buffer)
	buffer.Reset()
	if err := component.Render(c.Request().Context(), buffer); err != nil {
		return err
	}
	c.Response().Header().Set("Vary", "HX-Request")
	return c.HTMLBlob(status, buffer.Bytes())
}

// Go sends the browser to another page after a change.
func Go(c Ctx, address string) error {
	if IsFragment(c) {
		c.Response().Header().Set("HX-Redirect", address)
		return c.NoContent(http.StatusOK)
	}
	return c.Redirect(http.StatusSeeOther, address)
}

// Refresh lets htmx load the whole page again after a change; a plain form is
// sent back to address.
func Refresh(c Ctx, address string) error {
	if IsFragment(c) {
		c.Response().Header().Set("HX-Refresh", "true")
		return c.NoContent(http.StatusOK)
	}
	return c.Redirect(http.StatusSeeOther, address)
}

// Say tells that something was done and leaves the page as it is, because what
// it shows follows by itself; a plain form is sent back to address.
func Say(c Ctx, text, address string) error {
	if !IsFragment(c) {
		return c.Redirect(http.StatusSeeOther, address)
	}
	toToasts(c)
	return Render(c, http.StatusOK, layout.Toast(text, false))
}

// toToasts lets htmx put the answer among the messages.
func toToasts(c Ctx) {
	c.Response().Header().Set("HX-Retarget", "#toasts")
	c.Response().Header().Set("HX-Reswap", "beforeend")
}

// ToBody lets htmx put the answer, a dialog, beside the page as it is.
func ToBody(c Ctx) {
	c.Response().Header().Set("HX-Retarget", "body")
	c.Response().Header().Set("HX-Reswap", "beforeend")
}

// InPlaceOf lets htmx put the answer where the element is that a selector finds.
func InPlaceOf(c Ctx, selector string) {
	c.Response().Header().Set("HX-Retarget", selector)
	c.Response().Header().Set("HX-Reswap", "outerHTML")
}

// IsFragment reports whether htmx asks for a part of a page.
func IsFragment(c Ctx) bool { return c.Request().Header.Get("HX-Request") == "true" }

// Frame is what the frame of a page needs to know of the request.
func Frame(c Ctx, sessions *Sessions, files static.Files, now time.Time) layout.Frame {
	frame := layout.Frame{CSRF: sessions.Token(c), User: User(c).Name, Now: now, URL: files.URL}
	frame.Outgrown, _ = c.Get(outgrownKey).(string)
	if cookie, err := c.Cookie("theme"); err == nil {
		frame.Theme = cookie.Value
	}
	return frame
}

// statusBrokenOff stands in the log for requests whose reader has left. HTTP has
// no word for it; others write this number as well.
const statusBrokenOff = 499

// failures answers requests that ended with an error.
type failures struct {
	files    static.Files
	sessions *Sessions
	explain  func(error) error
	log      *slog.Logger
	now      func() time.Time
}

// answer turns an error into what its reader can use: a message beside the
// page for htmx, JSON for scripts, a page for everyone else. The text of an
// error that is not ours goes to the log and nowhere else.
func (f failures) answer(err error, c Ctx) {
	if c.Response().Committed {
		return
	}
	if c.Request().Context().Err() != nil {
		// Who asked has left: what broke by that is no failure, and nobody reads it.
		f.log.DebugContext(c.Request().Context(), "a request was broken off", "path", c.Request().URL.Path, "err", err)
		c.Response().WriteHeader(statusBrokenOff)
		return
	}
	broken := err
	if f.explain != nil {
		err = f.explain(err)
	}
	status, title, message := explain(err)
	reference := ""
	if status >= http.StatusInternalServerError {
		reference, _ = c.Get(requestIDKey).(string)
		f.log.ErrorContext(c.Request().Context(), "request failed", "path", c.Request().URL.Path, "id", reference, "err", broken)
	}
	header := c.Response().Header()
	switch {
	case status == http.StatusUnauthorized && IsFragment(c):
		header.Set("HX-Refresh", "true")
		err = c.NoContent(status)
	case IsFragment(c):
		toToasts(c)
		if reference != "" {
			message += " Reference " + reference + "."
		}
		err = Render(c, status, layout.Toast(message, true))
	case forScripts(c.Request().URL.Path):
		err = c.JSON(status, map[string]string{"code": codeOf(err), "message": message})
	default:
		page := layout.Page{Title: title, Frame: Frame(c, f.sessions, f.files, f.now())}
		err = Render(c, status, layout.AroundPlain(page, layout.Failure(title, message, reference, page.Frame.User != "")))
	}
	if err != nil {
		f.log.ErrorContext(c.Request().Context(), "error page failed", "err", err)
	}
}

// forScripts reports whether nobody but a program asks for what is at path.
func forScripts(path string) bool {
	return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/hooks/")
}

// codeOf is the code of err for scripts.
func codeOf(err error) string {
	theirs, ok := errors.AsType[*echo.HTTPError](err)
	if !ok {
		return string(engine.CodeOf(err))
	}
	return strings.ReplaceAll(strings.ToLower(http.StatusText(theirs.Code)), " ", "_")
}

// explain says what err means on the wire and to a person.
func explain(err error) (status int, title, message string) {
	if theirs, ok := errors.AsType[*echo.HTTPError](err); ok {
		return explainHTTP(theirs.Code)
	}
	message = engine.MessageOf(err)
	switch engine.CodeOf(err) {
	case engine.Invalid:
		return http.StatusUnprocessableEntity, "That cannot be done", message
	case engine.NotFound:
		return http.StatusNotFound, "Not found", message
	case engine.Conflict:
		return http.StatusConflict, "It changed meanwhile", message
	case engine.Forbidden:
		return http.StatusForbidden, "Not allowed", message
	case engine.LimitHit:
		return http.StatusTooManyRequests, "Limit reached", message
	case engine.Away:
		return http.StatusServiceUnavailable, "That cannot be done now", message
	default:
		return http.StatusInternalServerError, "Something went wrong", message
	}
}

func explainHTTP(code int) (status int, title, message string) {
	switch code {
	case http.StatusUnauthorized:
		return code, "Please sign in", "You are not signed in, or your session has ended. Open the sign-in link that the server printed when it first started, or run `dogear signin` on the server for a new one."
	case http.StatusNotFound:
		return code, "Not found", "There is nothing at this address. It may have been deleted, or the address was cut off."
	case http.StatusMethodNotAllowed:
		return code, "Not like this", "This address exists, but not for this kind of request."
	case http.StatusRequestEntityTooLarge:
		return code, "Too large", "What was sent is larger than 4 MB."
	case http.StatusUnsupportedMediaType:
		return code, "Not understood", "This address takes forms and JSON."
	default:
		if code >= http.StatusInternalServerError {
			return code, "Something went wrong", engine.MessageOf(errors.New("internal"))
		}
		return code, "Not understood", "The server could not read this request."
	}
}
