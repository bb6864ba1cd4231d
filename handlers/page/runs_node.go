package page

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/handlers/web"
)

// skipNode answers POST /runs/:id/nodes/:card/skip, of a node that has not begun.
func (p *Pages) skipNode(c web.Ctx) error {
	ref, name, err := p.cardOf(c)
	if err != nil {
		return err
	}
	run, err := p.Exec.Skip(c.Request().Context(), web.ID(c), ref, user(c), strings.TrimSpace(c.FormValue("why")))
	if err != nil {
		return err
	}
	return web.Say(c, name+" is skipped in this run.", "/runs/"+string(run.ID))
}

// unskipNode answers POST /runs/:id/nodes/:card/unskip, of a node that has not had
// its turn.
func (p *Pages) unskipNode(c web.Ctx) error {
	ref, name, err := p.cardOf(c)
	if err != nil {
		return err
	}
	run, err := p.Exec.Unskip(c.Request().Context(), web.ID(c), ref, user(c))
	if err != nil {
		return err
	}
	return web.Say(c, name+" runs in this run after all.", "/runs/"+string(run.ID))
}

// stopNode answers POST /runs/:id/nodes/:card/stop, with the start that is meant. It asks
// as stopRun does.
func (p *Pages) stopNode(c web.Ctx) error {
	ref, name, err := p.cardOf(c)
	if err != nil {
		return err
	}
	start, err := strconv.Atoi(c.FormValue("start"))
	if err != nil || start < 1 {
		return engine.Errorf(engine.Invalid, "The request does not say which start of %s is to be stopped.", name)
	}
	if asked, err := p.asksStop(c, ref, start); asked || err != nil {
		return err
	}
	run, err := p.Exec.StopNode(c.Request().Context(), web.ID(c), ref, start, user(c))
	if err != nil {
		return err
	}
	return web.Say(c, name+" is being stopped; the run goes on.", "/runs/"+string(run.ID))
}

// cardOf is the node that the address names, and how it is called.
func (p *Pages) cardOf(c web.Ctx) (engine.Ref, string, error) {
	ref, err := engine.ParseRef(c.Param("card"))
	if err != nil {
		return ref, "", err
	}
	name, err := p.nameOf(c.Request().Context(), ref.ID)
	return ref, name, err
}

// skipped names what a person has told a run not to do, each with who said so.
func (p *Pages) skipped(ctx context.Context, r *engine.Run) ([]string, error) {
	var list []string
	for card, why := range r.Skips {
		ref, err := engine.ParseRef(card)
		if err != nil {
			return nil, err
		}
		name, err := p.nameOf(ctx, ref.ID)
		if err != nil {
			return nil, err
		}
		list = append(list, name+" ("+why+")")
	}
	slices.Sort(list)
	return list, nil
}
