package exec

import (
	"context"

	"dogear/engine"
	"dogear/engine/graph"
)

// pin is what a run has pinned, kept while it is open: its nodes need not read
// it again for every transition.
type pin struct {
	run   engine.Run
	graph *graph.Graph // nil for a job or crawl alone
}

// action is what started a node in its workflow; nil for one alone.
func (p *pin) action(n *engine.NodeRun) *engine.Action {
	if p.graph == nil {
		return nil
	}
	return p.graph.Action(n.By, n.Ref)
}

// pinned returns what a run has pinned. Of the run only what was so at its
// start is current.
func (e *Exec) pinned(ctx context.Context, id engine.ID) (pin, error) {
	e.mu.Lock()
	p, ok := e.pins[id]
	e.mu.Unlock()
	if ok {
		return p, nil
	}
	// Who is told to end reads it too: it must know what to end.
	run, err := e.Store.Run(context.WithoutCancel(ctx), id)
	if err != nil {
		return pin{}, err
	}
	p.run = run
	if run.Kind == engine.RunWorkflow {
		p.graph = graph.New(&run.Body)
	}
	if run.Open() { // nothing would take that of an ended one away again
		e.keep(p)
	}
	return p, nil
}

// jobVersion names what never changes again.
type jobVersion struct {
	id      engine.ID
	version int
}

// maxJobs bounds how many versions of jobs are kept.
const maxJobs = 16_384

// job returns the version of a job that a node started with.
func (e *Exec) job(ctx context.Context, n *engine.NodeRun) (engine.Job, error) {
	if n.Version == 0 {
		job, err := e.Store.Job(context.WithoutCancel(ctx), n.Ref.ID)
		if err == nil && job.Version == 0 {
			err = engine.Errorf(engine.Invalid, "Job %s has never been published. Publish it, then start again.", job.Name)
		}
		return job, err
	}
	key := jobVersion{n.Ref.ID, n.Version}
	e.mu.Lock()
	job, ok := e.jobs[key]
	e.mu.Unlock()
	if ok {
		job.Name = n.Name // a rename makes no version
		return job, nil
	}
	job, err := e.Store.JobVersion(context.WithoutCancel(ctx), n.Ref.ID, n.Version)
	if err != nil {
		return job, err
	}
	job.Name = n.Name
	e.keepJob(job)
	return job, nil
}

// published returns the newest versions of the jobs among refs, without those
// that are deleted: their nodes fail when they start, and say so. It asks for
// the bodies only of those it has not seen.
func (e *Exec) published(ctx context.Context, refs []engine.Ref) ([]engine.Job, error) {
	var ids []engine.ID
	for _, ref := range refs {
		if ref.Kind == engine.KindJob {
			ids = append(ids, ref.ID)
		}
	}
	heads, err := e.Store.JobHeads(ctx, ids)
	if err != nil {
		return nil, err
	}
	jobs := make([]engine.Job, 0, len(heads))
	for _, id := range ids {
		head := heads[id]
		if head.Version == 0 {
			continue
		}
		ref := engine.Ref{Kind: engine.KindJob, ID: head.ID}
		job, err := e.job(ctx, &engine.NodeRun{Ref: ref, Name: head.Name, Version: head.Version})
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// keepJob spares the nodes of a run a query each: the start of the run has
// read their jobs already.
func (e *Exec) keepJob(job engine.Job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.jobs) >= maxJobs {
		clear(e.jobs)
	}
	e.jobs[jobVersion{job.ID, job.Version}] = job
}

func (e *Exec) keep(p pin) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pins[p.run.ID] = p
}

func (e *Exec) forget(id engine.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.pins, id)
}
