package page

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/form"
	"dogear/views/layout"
	"dogear/views/pool"
)

type poolStore interface {
	Pools(ctx context.Context) ([]engine.Pool, error)
	PutPool(ctx context.Context, name string, places int, by string, now time.Time) error
	DeletePool(ctx context.Context, name string) error
}

func (p *Pages) poolRoutes() []web.Route {
	return []web.Route{get("/pools", p.pools), post("/pools", p.savePool), post("/pools/delete", p.deletePool)}
}

// pools answers GET /pools.
func (p *Pages) pools(c web.Ctx) error { return p.showPools(c, http.StatusOK, pool.View{}) }

func (p *Pages) showPools(c web.Ctx, status int, v pool.View) error {
	var err error
	if v.Pools, err = p.Store.Pools(c.Request().Context()); err != nil {
		return err
	}
	v.CSRF = p.Sessions.Token(c)
	if web.IsFragment(c) {
		return web.Render(c, status, pool.Page(v))
	}
	return p.show(c, status, layout.Page{Section: "Pools", Crumbs: []layout.Crumb{{Label: "Pools"}}, Live: []string{"changed:pools"}}, pool.Page(v))
}

// savePool answers POST /pools: it makes a pool or changes its places, which
// counts at once.
func (p *Pages) savePool(c web.Ctx) error {
	name, text := strings.TrimSpace(c.FormValue("name")), strings.TrimSpace(c.FormValue("places"))
	again := func(field, message string) error {
		v := pool.View{Errors: form.Errors{field: message}, Name: name, Places: text}
		if c.FormValue("new") == "" { // it stands in its own row
			v = pool.View{Wrong: message}
		}
		return p.showPools(c, http.StatusUnprocessableEntity, v)
	}
	places, err := strconv.Atoi(text)
	if err != nil || places < 0 {
		return again("places", "Write a number of places, 0 or more; with 0 nothing of it starts.")
	}
	if c.FormValue("new") != "" {
		if taken, err := p.hasPool(c.Request().Context(), name); err != nil || taken {
			if err != nil {
				return err
			}
			return again("name", "There is a pool of this name already.")
		}
	}
	err = p.Store.PutPool(c.Request().Context(), name, places, user(c), p.Now())
	if engine.CodeOf(err) == engine.Invalid {
		return again("name", engine.MessageOf(err))
	}
	if err == nil {
		err = p.Exec.PoolsChanged(c.Request().Context())
	}
	if err != nil {
		return err
	}
	return p.poolsDone(c, fmt.Sprintf("%s has %d places now.", name, places))
}

func (p *Pages) hasPool(ctx context.Context, name string) (bool, error) {
	all, err := p.Store.Pools(ctx)
	for i := range all {
		if all[i].Name == name {
			return true, nil
		}
	}
	return false, err
}

// deletePool answers POST /pools/delete.
func (p *Pages) deletePool(c web.Ctx) error {
	name := c.FormValue("name")
	err := p.Store.DeletePool(c.Request().Context(), name)
	if code := engine.CodeOf(err); code == engine.Conflict || code == engine.NotFound {
		return p.showPools(c, http.StatusConflict, pool.View{Wrong: engine.MessageOf(err)})
	}
	if err == nil {
		err = p.Exec.PoolsChanged(c.Request().Context())
	}
	if err != nil {
		return err
	}
	return p.poolsDone(c, name+" was deleted.")
}

func (p *Pages) poolsDone(c web.Ctx, said string) error {
	if web.IsFragment(c) {
		return p.showPools(c, http.StatusOK, pool.View{Said: said})
	}
	return c.Redirect(http.StatusSeeOther, "/pools")
}
