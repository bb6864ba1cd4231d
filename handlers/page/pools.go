package page

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/handlers/web"
	"dogear/views/form"
	"dogear/views/layout"
	"dogear/views/pool"
	"dogear/views/show"
)

type poolStore interface {
	Pools(ctx context.Context) ([]engine.Pool, error)
	// PoolPlaces is how many places each pool has, by name.
	PoolPlaces(ctx context.Context) (map[string]int, error)
	PutPool(ctx context.Context, name string, places int, by string, now time.Time) error
	DeletePool(ctx context.Context, name string) error
}

func (p *Pages) poolRoutes() []web.Route {
	return []web.Route{get("/pools", p.pools), post("/pools", p.savePool), get("/pools/delete", p.askDeletePool), post("/pools/delete", p.deletePool)}
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
	places, err := strconv.Atoi(text)
	if err != nil {
		places = -1 // which is no number of places either
	}
	made, wrong := engine.Pool{Name: name, Places: places}, form.Errors{}
	for _, fault := range made.Faults() {
		wrong[fault.Field] = fault.Message
	}
	there, err := p.poolNamed(c.Request().Context(), name)
	isNew := c.FormValue("new") != ""
	switch {
	case err != nil:
		return err
	case isNew && there != nil:
		wrong["name"] = "There is a pool of this name already."
	case !isNew && there == nil && wrong["name"] == "":
		wrong["name"] = fmt.Sprintf("There is no pool %s: it was deleted meanwhile, or never made.", name)
	}
	if len(wrong) > 0 && isNew {
		return p.showPools(c, http.StatusUnprocessableEntity, pool.View{Errors: wrong, Name: name, Places: text})
	}
	if len(wrong) > 0 { // it stands in its own row
		return p.showPools(c, http.StatusUnprocessableEntity, pool.View{Wrong: cmp.Or(wrong["name"], wrong["places"])})
	}
	err = p.Store.PutPool(c.Request().Context(), name, places, user(c), p.Now())
	if err == nil {
		err = p.Exec.PoolsChanged(c.Request().Context())
	}
	if err != nil {
		return err
	}
	return p.poolsDone(c, strings.TrimSpace(fmt.Sprintf("%s has %s now. %s", name, show.Many(int64(places), "place"), made.Shut())))
}

// poolNamed is the pool of that name, or nil.
func (p *Pages) poolNamed(ctx context.Context, name string) (*engine.Pool, error) {
	all, err := p.Store.Pools(ctx)
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
	}
	return nil, err
}

// askDeletePool answers GET /pools/delete?name= with what uses the pool.
func (p *Pages) askDeletePool(c web.Ctx) error {
	ctx, name := c.Request().Context(), c.QueryParam("name")
	there, err := p.poolNamed(ctx, name)
	if err != nil {
		return err
	}
	if there == nil {
		return engine.Errorf(engine.NotFound, "There is no pool named %q.", name)
	}
	leaving := pool.Leaving{Pool: *there, CSRF: p.Sessions.Token(c)}
	drafts, err := p.Store.JobDrafts(ctx)
	if err != nil {
		return err
	}
	for i := range drafts {
		published := func(j engine.Head) bool { return j.ID == drafts[i].ID }
		if drafts[i].Body.Pool == name && !slices.ContainsFunc(there.Jobs, published) {
			leaving.Drafts = append(leaving.Drafts, drafts[i].Head)
		}
	}
	return web.Render(c, http.StatusOK, pool.Removal(leaving))
}

// deletePool answers POST /pools/delete.
func (p *Pages) deletePool(c web.Ctx) error {
	err := p.Store.DeletePool(c.Request().Context(), c.FormValue("name"))
	if err == nil {
		err = p.Exec.PoolsChanged(c.Request().Context())
	}
	if err != nil {
		return err
	}
	return web.Go(c, "/pools")
}

func (p *Pages) poolsDone(c web.Ctx, said string) error {
	if web.IsFragment(c) {
		return p.showPools(c, http.StatusOK, pool.View{Said: said})
	}
	return c.Redirect(http.StatusSeeOther, "/pools")
}
