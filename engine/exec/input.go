package exec

import (
	"context"
	"errors"

	"dogear/engine"
	"dogear/engine/runner"
)

// loadThrough loads, again where the line to the database breaks meanwhile. A stop
// does not break it off: what is stopped, and how, is the runner's to say.
func (a *attempt) loadThrough(ctx context.Context) (*runner.Attempt, error) {
	loading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), runner.ErrStop) {
			cancel()
		}
	})()
	for try := 1; ; try++ {
		input, err := a.load(loading)
		if !a.e.Store.Broken(err) || !a.pause(ctx, a.e.Backoff(try)) {
			return input, err
		}
	}
}

// load reads what the attempt works on, as it is now.
func (a *attempt) load(ctx context.Context) (*runner.Attempt, error) {
	p, err := a.e.pinned(ctx, a.node.Run)
	if err != nil {
		return nil, err
	}
	a.run, a.run.Properties = p.run, a.told
	input := &runner.Attempt{Node: a.node, Run: a.run, Dir: a.e.path("work", a.node.Key()), Recover: a.batch}
	switch a.node.Ref.Kind {
	case engine.KindJob:
		job, err := a.e.job(ctx, &a.node)
		if err != nil {
			return input, err
		}
		if a.batch != nil { // a recovered attempt goes on with the job as it was
			job.JobBody = a.batch.Body
		}
		a.job, input.Job = &job, &job
		a.node.Name, a.node.Version = job.Name, job.Version
		a.limit = jobLimit(&p, &a.node, &job)
		if own := p.action(&a.node); own != nil && own.Retries != nil {
			job.Retries = *own.Retries
		}
	case engine.KindCrawler:
		crawler, err := a.e.Store.Crawler(ctx, a.node.Ref.ID)
		if err != nil {
			return input, err
		}
		if crawler.Version == 0 {
			return input, engine.Errorf(engine.Invalid, "Crawler %s has never been published. Publish it, then start again.", crawler.Name)
		}
		input.Crawler = &crawler
		a.node.Name, a.node.Version = crawler.Name, crawler.Version
		a.limit = limited(crawler.Timeout, "", "Give the crawler more time, or let it look through less at once.")
	case engine.KindWorkflow, engine.KindConnection:
	}
	input.Node, input.Waits, a.waits = a.node, a.waits, false
	if a.node.Process.Apart && !input.Waits {
		input.Left = &runner.Left{Process: a.node.Process, Logged: a.log.counts()}
	}
	return input, nil
}
