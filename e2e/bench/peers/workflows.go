package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cschleiden/go-workflows/backend"
	"github.com/cschleiden/go-workflows/backend/monoprocess"
	"github.com/cschleiden/go-workflows/backend/sqlite"
	"github.com/cschleiden/go-workflows/client"
	"github.com/cschleiden/go-workflows/worker"
	"github.com/cschleiden/go-workflows/workflow"
)

// workflowsEngine is go-workflows, which replays a history of events. It knows
// SQLite and no PostgreSQL.
type workflowsEngine struct {
	client *client.Client
	stop   context.CancelFunc
	worker *worker.Worker
	store  backend.Backend
	notes  *notes
	runs   int
}

func openWorkflows(ctx context.Context, at place, notes *notes) (engine, error) {
	if at.file == "" {
		return nil, fmt.Errorf("go-workflows has no PostgreSQL")
	}
	ctx, stop := context.WithCancel(ctx)
	store := monoprocess.NewMonoprocessBackend(sqlite.NewSqliteBackend(at.file, sqlite.WithBackendOptions(backend.WithLogger(quiet()))))
	options := worker.DefaultOptions
	options.SingleWorkerMode = true
	e := &workflowsEngine{client: client.New(store), stop: stop, worker: worker.New(store, &options), store: store, notes: notes}
	for _, f := range []any{e.Chain, e.Fan} {
		if err := e.worker.RegisterWorkflow(f); err != nil {
			return nil, err
		}
	}
	if err := e.worker.RegisterActivity(e.Step); err != nil {
		return nil, err
	}
	return e, e.worker.Start(ctx)
}

// Step is an activity.
func (e *workflowsEngine) Step(context.Context) (int, error) {
	e.notes.step()
	return 0, nil
}

// Chain is a workflow of n activities, one after the other.
func (e *workflowsEngine) Chain(ctx workflow.Context, n int) (int, error) {
	for range n {
		if _, err := workflow.ExecuteActivity[int](ctx, workflow.DefaultActivityOptions, e.Step).Get(ctx); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// Fan is a workflow of n activities at once.
func (e *workflowsEngine) Fan(ctx workflow.Context, n int) (int, error) {
	var open []workflow.Future[int]
	for range n {
		open = append(open, workflow.ExecuteActivity[int](ctx, workflow.DefaultActivityOptions, e.Step))
	}
	for _, o := range open {
		if _, err := o.Get(ctx); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func (e *workflowsEngine) chain(ctx context.Context, n int) error { return e.run(ctx, e.Chain, n) }

func (e *workflowsEngine) fan(ctx context.Context, n int) error { return e.run(ctx, e.Fan, n) }

func (e *workflowsEngine) run(ctx context.Context, what any, n int) error {
	e.runs++
	made, err := e.client.CreateWorkflowInstance(ctx, client.WorkflowInstanceOptions{InstanceID: fmt.Sprint("run", e.runs)}, what, n)
	if err != nil {
		return err
	}
	_, err = client.GetWorkflowResult[int](ctx, e.client, made, 2*time.Minute)
	return err
}

func (e *workflowsEngine) close() {
	e.stop()
	_ = e.worker.WaitForCompletion()
	_ = e.store.Close()
}
