package page

import (
	"net/http"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/layout"
)

func (p *Pages) signinRoutes() []web.Route {
	return []web.Route{
		{Method: http.MethodGet, Path: "/signin", Handler: p.signinPage, Public: true},
		{Method: http.MethodPost, Path: "/signin", Handler: p.signIn, Public: true},
		post("/signout", p.signOut),
	}
}

// signinPage answers GET /signin?token=… with a button. The link alone signs
// nobody in, so that a preview of it in a chat does not use it up.
func (p *Pages) signinPage(c web.Ctx) error {
	token := c.QueryParam("token")
	if token == "" {
		return engine.Errorf(engine.Forbidden, "This address needs the token of a sign-in link. Run `dogear signin` on the server for a new link.")
	}
	page := layout.Page{Title: "Sign in", Frame: web.Frame(c, p.Sessions, p.Files, p.Now())}
	return web.Render(c, http.StatusOK, layout.AroundPlain(page, layout.SignIn(token)))
}

// signIn answers POST /signin.
func (p *Pages) signIn(c web.Ctx) error {
	user, err := p.Auth.Redeem(c.Request().Context(), c.FormValue("token"))
	if err != nil {
		return err
	}
	if err := p.Sessions.SignIn(c, user); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/workflows")
}

// signOut answers POST /signout.
func (p *Pages) signOut(c web.Ctx) error {
	if err := p.Sessions.SignOut(c); err != nil {
		return err
	}
	page := layout.Page{Title: "Signed out", Frame: web.Frame(c, p.Sessions, p.Files, p.Now())}
	page.Frame.CSRF = ""
	return web.Render(c, http.StatusOK, layout.AroundPlain(page, layout.SignedOut()))
}
