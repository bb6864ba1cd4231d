package main

import (
	"context"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // its SQLite, with synchronous=NORMAL as it sets it
)

// dbosEngine is DBOS Transact: a workflow is a function, and the result of each
// of its steps is a row.
type dbosEngine struct {
	ctx   dbos.Context
	notes *notes
}

func openDBOS(ctx context.Context, at place, notes *notes) (engine, error) {
	address := at.postgres
	if at.file != "" {
		address = "sqlite:" + at.file
	}
	made, err := dbos.NewContext(ctx, dbos.Config{AppName: "bench", DatabaseURL: address, Logger: quiet()})
	if err != nil {
		return nil, err
	}
	e := &dbosEngine{ctx: made, notes: notes}
	dbos.RegisterWorkflow(made, e.chained, dbos.WithWorkflowName("chain"))
	dbos.RegisterWorkflow(made, e.fanned, dbos.WithWorkflowName("fan"))
	return e, dbos.Launch(made)
}

func (e *dbosEngine) step(context.Context) (int, error) {
	e.notes.step()
	return 0, nil
}

func (e *dbosEngine) chained(ctx dbos.Context, n int) (int, error) {
	for range n {
		if _, err := dbos.RunAsStep(ctx, e.step); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func (e *dbosEngine) fanned(ctx dbos.Context, n int) (int, error) {
	var open []<-chan dbos.StepOutcome[int]
	for range n {
		outcome, err := dbos.Go(ctx, e.step)
		if err != nil {
			return 0, err
		}
		open = append(open, outcome)
	}
	for _, outcome := range open {
		if o := <-outcome; o.Err != nil {
			return 0, o.Err
		}
	}
	return n, nil
}

func (e *dbosEngine) chain(_ context.Context, n int) error { return e.run(e.chained, n) }

func (e *dbosEngine) fan(_ context.Context, n int) error { return e.run(e.fanned, n) }

func (e *dbosEngine) run(workflow dbos.Workflow[int, int], n int) error {
	handle, err := dbos.RunWorkflow(e.ctx, workflow, n)
	if err != nil {
		return err
	}
	_, err = handle.GetResult()
	return err
}

func (e *dbosEngine) close() { _ = dbos.Shutdown(e.ctx, 5*time.Second) }
