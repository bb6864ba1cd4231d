package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	_ "modernc.org/sqlite" // the driver that River's own tests use
)

// riverEngine is River, a queue of jobs. It has no graphs in its open part: in a
// chain each job inserts the next as its last act, and a fan-out has no join but
// the one who counts.
type riverEngine struct {
	insert func(ctx context.Context, all []river.InsertManyParams) error
	stop   func(ctx context.Context) error
	shut   func()
	notes  *notes
	done   chan struct{}
}

// link is a job: how many follow it in its chain.
type link struct {
	Left int  `json:"left"`
	Fan  bool `json:"fan"`
}

// Kind names the job.
func (link) Kind() string { return "link" }

type linker struct {
	river.WorkerDefaults[link]
	e *riverEngine
}

// Work is a step.
func (l *linker) Work(ctx context.Context, job *river.Job[link]) error {
	l.e.notes.step()
	if job.Args.last() {
		return nil
	}
	return l.e.insert(ctx, []river.InsertManyParams{{Args: link{Left: job.Args.Left - 1}}})
}

// last reports whether no job follows.
func (l link) last() bool { return l.Fan || l.Left == 0 }

// completed tells of each last job that has ended, once River has written that: it
// does so for many at once, some time after the work is done.
func (e *riverEngine) completed(events <-chan *river.Event) {
	for event := range events {
		var job link
		if json.Unmarshal(event.Job.EncodedArgs, &job) == nil && job.last() {
			e.done <- struct{}{}
		}
	}
}

const mostJobs = 100_000

func openRiver(ctx context.Context, at place, notes *notes) (engine, error) {
	e := &riverEngine{notes: notes, done: make(chan struct{}, mostJobs)}
	if at.file == "" {
		pool, err := pgxpool.New(ctx, at.postgres)
		if err != nil {
			return nil, err
		}
		e.shut = pool.Close
		return e, start[pgx.Tx](ctx, e, riverpgxv5.New(pool), 100)
	}
	pool, err := sql.Open("sqlite", "file:"+at.file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1) // as its documentation asks
	e.shut = func() { _ = pool.Close() }
	return e, start[*sql.Tx](ctx, e, riversqlite.New(pool), 100)
}

// start runs workers over a driver, with the shortest times between two looks
// at the queue that River allows. It tells of inserts at most once in that time,
// so of a chain of steps this short every second one would otherwise wait for
// the next look, a second by default.
func start[TTx any](ctx context.Context, e *riverEngine, driver riverdriver.Driver[TTx], workers int) error {
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: quiet()})
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	all := river.NewWorkers()
	river.AddWorker(all, &linker{e: e})
	client, err := river.NewClient(driver, &river.Config{
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers, FetchCooldown: river.FetchCooldownMin, FetchPollInterval: river.FetchPollIntervalMin}},
		Workers: all, Logger: quiet(),
	})
	if err != nil {
		return err
	}
	e.insert = func(ctx context.Context, jobs []river.InsertManyParams) error {
		if len(jobs) == 1 {
			_, err := client.Insert(ctx, jobs[0].Args, nil)
			return err
		}
		_, err := client.InsertManyFast(ctx, jobs)
		return err
	}
	events, cancel := client.SubscribeConfig(&river.SubscribeConfig{ChanSize: mostJobs, Kinds: []river.EventKind{river.EventKindJobCompleted}})
	go e.completed(events)
	e.stop = func(ctx context.Context) error {
		defer cancel()
		return client.Stop(ctx)
	}
	return client.Start(ctx)
}

func (e *riverEngine) chain(ctx context.Context, n int) error {
	return e.run(ctx, []river.InsertManyParams{{Args: link{Left: n - 1}}})
}

func (e *riverEngine) fan(ctx context.Context, n int) error {
	all := make([]river.InsertManyParams, n)
	for i := range all {
		all[i].Args = link{Fan: true}
	}
	return e.run(ctx, all)
}

// run inserts jobs and waits until as many have ended as were inserted.
func (e *riverEngine) run(ctx context.Context, jobs []river.InsertManyParams) error {
	if len(jobs) > mostJobs {
		return errors.New("too many jobs")
	}
	if err := e.insert(ctx, jobs); err != nil {
		return err
	}
	for range jobs {
		select {
		case <-e.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (e *riverEngine) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = e.stop(ctx)
	e.shut()
}
