package cli

import (
	"context"
	"strings"

	"dogear/engine"
	"dogear/handlers/control"
)

// Pool are the commands about pools.
type Pool struct {
	List   poolList   `cmd:"" help:"List the pools: their places, and what holds and waits for them."`
	Set    poolSet    `cmd:"" help:"Make a pool, or give it another number of places. It counts at once."`
	Delete poolDelete `cmd:"" help:"Delete a pool that no published job is in."`
}

type poolList struct{ target }

// Run lists the pools.
func (c *poolList) Run(ctx context.Context, term Terminal) error {
	all, err := get[[]engine.Pool](ctx, c.Data, "/pools", nil)
	if err != nil {
		return err
	}
	return c.pools(term, all)
}

// pools prints pools.
func (t target) pools(term Terminal, all []engine.Pool) error {
	return t.print(term, all, func(rows *table) {
		rows.row("NAME", "PLACES", "TAKEN", "WAITING", "JOBS", "NOTE")
		for _, p := range all {
			var jobs []string
			for _, j := range p.Jobs {
				jobs = append(jobs, j.Name)
			}
			note := p.Shut()
			if p.Name == engine.Backfills {
				note = strings.TrimSpace(engine.InBackfills + " " + note)
			}
			rows.row(p.Name, p.Places, p.Taken, p.Waiting, strings.Join(jobs, ", "), note)
		}
	})
}

type poolSet struct {
	target
	Name   string `arg:"" help:"Name of the pool."`
	Places int    `arg:"" help:"How many jobs in it may work at once; with 0 nothing of it starts."`
}

// Run makes or changes a pool.
func (c *poolSet) Run(ctx context.Context, term Terminal) error {
	all, err := post[[]engine.Pool](ctx, c.Data, "/pool", control.Pool{Name: c.Name, Places: c.Places})
	if err != nil {
		return err
	}
	return c.pools(term, all)
}

type poolDelete struct {
	target
	Name string `arg:"" help:"Name of the pool."`
}

// Run deletes a pool.
func (c *poolDelete) Run(ctx context.Context, term Terminal) error {
	all, err := post[[]engine.Pool](ctx, c.Data, "/pool/delete", control.Pool{Name: c.Name})
	if err != nil {
		return err
	}
	return c.pools(term, all)
}
