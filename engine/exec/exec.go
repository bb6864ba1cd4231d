// Package exec is the doer: it queues what happens to runs, hands groups of it
// to the store, and does afterwards what the rules say. Each transition is one
// transaction that also makes the node runs that follow, so that a crash at
// any moment leaves either the old state or the new one.
package exec

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/graph"
	"dogear/engine/runner"
)

// Store is what exec needs of the database.
type Store interface {
	Commit(ctx context.Context, steps []flow.Step) []flow.Written
	Run(ctx context.Context, id engine.ID) (engine.Run, error)
	NodeRuns(ctx context.Context, run engine.ID) ([]engine.NodeRun, error)
	TriggerRuns(ctx context.Context, run engine.ID) ([]engine.TriggerRun, error)
	// PausedRuns lists the open runs that are paused.
	PausedRuns(ctx context.Context) ([]engine.ID, error)
	OpenNodes(ctx context.Context) ([]engine.NodeRun, error)
	Members
	Logs
	// PoolPlaces is how many places each pool has.
	PoolPlaces(ctx context.Context) (map[string]int, error)
	// OverTime lists the open runs whose time is over, and says when that of the
	// next one is.
	OverTime(ctx context.Context, now time.Time) (over []engine.ID, next time.Time, err error)
	// Ping asks the database whether it answers.
	Ping(ctx context.Context) error
	// HoldTargets makes a node run the only writer of all targets named, or of
	// none and says who writes one of them.
	HoldTargets(ctx context.Context, key engine.NodeKey, names []string) (holder *engine.NodeKey, err error)
	Batch(ctx context.Context, id engine.ID) (engine.Batch, error)
	Workflow(ctx context.Context, id engine.ID) (engine.Workflow, error)
	Job(ctx context.Context, id engine.ID) (engine.Job, error)
	JobVersion(ctx context.Context, id engine.ID, version int) (engine.Job, error)
	Crawler(ctx context.Context, id engine.ID) (engine.Crawler, error)
	BookmarkOf(ctx context.Context, job engine.ID, name string) (*engine.Bookmark, error)
	Page(ctx context.Context, id string) ([]byte, error)
	PutPages(ctx context.Context, pages map[string][]byte) error
}

// Members are the servers of the database, and what each of them works on.
type Members interface {
	// Shared reports whether there may be others at all.
	Shared() bool
	Join(ctx context.Context, r engine.Replica, ttl time.Duration) error
	// Renew is a Conflict where the lease has run out.
	Renew(ctx context.Context, id engine.ID, ttl time.Duration) error
	Leave(ctx context.Context, id engine.ID) error
	Replicas(ctx context.Context) ([]engine.Replica, error)
	// Orphans are the node runs under way whose server is gone.
	Orphans(ctx context.Context) ([]engine.NodeRun, error)
	Held(ctx context.Context, owner engine.ID) ([]engine.NodeRun, error)
	ReadyNodes(ctx context.Context, limit int) ([]engine.NodeRun, error)
}

// Processes tells whether a recorded process still lives, and ends it.
type Processes interface {
	Alive(p engine.Process) bool
	Kill(p engine.Process) error
	// Marked lists the processes of this machine that carry the marker of an
	// attempt.
	Marked() []runner.Marked
}

// Config is what an Exec is made of.
type Config struct {
	Store     Store
	Runners   map[engine.Kind]runner.Runner
	Processes Processes
	Log       *slog.Logger
	Now       func() time.Time
	// Self is this server as others see it; its id and start are filled in.
	Self engine.Replica
	// TTL is how long this server may be silent before others take up its work;
	// 0 is 15 s.
	TTL time.Duration
	// Slots is how many nodes run at once; 0 is 4.
	Slots int
	// Dir is where attempts get their directories and logs.
	Dir string
	// Target names where a sink writes, the same however the sink spells it and
	// with folders as engine.Area has them, so that no two attempts write one
	// target at once. Nil is the sink's own text.
	Target func(ctx context.Context, s engine.Sink) string
	// Fits reports whether this server has the folders that a job or crawler
	// reads; nil is always. It may take its time.
	Fits func(ctx context.Context, ref engine.Ref) bool
	// Committed is told of every step that was written, after it was. It must
	// not block.
	Committed func(flow.Writes)
	// Progress is told how far a running node has come. It must not block.
	Progress func(engine.NodeKey, runner.Progress)
	// Logged is told that an attempt's log has grown. It must not block.
	Logged func(engine.NodeKey)
	// Backoff is how long to wait before try n of something that must succeed,
	// such as a publish. Nil is an exponential one of 1 s to 5 minutes.
	Backoff func(n int) time.Duration
	// Retry is how long to wait before the attempt that follows number n of a
	// job. Nil is what the job says, spread at random.
	Retry func(job *engine.JobBody, n int) time.Duration
	// Drain is how long a stopping server lets running attempts go on.
	Drain time.Duration
}

const defaultSlots = 4

// Exec runs runs. Make it with New, then Run it.
type Exec struct {
	Config
	slots slots
	heard chan struct{} // holds one token while there is something to look at
	timed chan struct{} // holds one token while there are new time limits of runs

	mu       sync.Mutex
	lease    lease
	fenced   bool                // there is no lease: nothing may be written
	free     chan struct{}       // closed and made anew when a node run ends
	blocked  map[engine.Ref]bool // jobs and crawlers that other servers run as often as they may
	adopting map[engine.NodeKey]bool
	alone    bool // no other server works on the database
	fits     map[engine.Ref]fit
	queue    []item
	wake     chan struct{} // holds one token while the queue is not empty
	pins     map[engine.ID]pin
	jobs     map[jobVersion]engine.Job
	working  map[engine.NodeKey]*attempt
	paused   map[engine.ID]bool
	waiting  []engine.NodeRun // ready nodes that found no room, oldest first
	stopped  bool

	work sync.WaitGroup
}

type item struct {
	step flow.Step
	done chan flow.Written // nil where nobody waits
	// starts is the waiting node that the step starts, where it is that. Without
	// room for it the step writes nothing and the node waits on.
	starts *engine.NodeRun
}

// New makes an Exec.
func New(c Config) *Exec {
	if c.Slots <= 0 {
		c.Slots = defaultSlots
	}
	if c.TTL <= 0 {
		c.TTL = defaultTTL
	}
	if c.Backoff == nil {
		c.Backoff = backoff
	}
	if c.Retry == nil {
		c.Retry = retryAfter
	}
	if c.Target == nil {
		c.Target = spelled
	}
	if c.Committed == nil {
		c.Committed = func(flow.Writes) {}
	}
	if c.Progress == nil {
		c.Progress = func(engine.NodeKey, runner.Progress) {}
	}
	if c.Logged == nil {
		c.Logged = func(engine.NodeKey) {}
	}
	return &Exec{
		Config: c, wake: make(chan struct{}, 1), slots: slots{free: c.Slots, busy: map[seat]int{}, back: map[engine.NodeKey]bool{}, limits: map[seat]int{}}, timed: make(chan struct{}, 1),
		pins: map[engine.ID]pin{}, jobs: map[jobVersion]engine.Job{}, paused: map[engine.ID]bool{}, working: map[engine.NodeKey]*attempt{},
		heard: make(chan struct{}, 1), free: make(chan struct{}), blocked: map[engine.Ref]bool{}, adopting: map[engine.NodeKey]bool{}, alone: true, fits: map[engine.Ref]fit{},
	}
}

func backoff(n int) time.Duration {
	const least, most = time.Second, 5 * time.Minute
	if n > 8 {
		return most
	}
	return min(least<<max(0, n-1), most)
}

// maxGroup bounds how many steps share one transaction.
const maxGroup = 512

// Run commits what is queued until ctx ends, then lets running attempts drain.
// Everything that queued up while one group was being written is the next one.
func (e *Exec) Run(ctx context.Context) error {
	left, err := e.begin(ctx)
	if ctx.Err() != nil {
		return nil // it was stopped before it had begun
	}
	if err != nil {
		return err
	}
	// A transition is never cut off: the loop outlives ctx until all work is done.
	loop, end := context.WithCancel(context.WithoutCancel(ctx))
	var ended, others sync.WaitGroup
	ended.Go(func() { e.loop(loop) })
	defer func() {
		end()
		ended.Wait()
	}()
	e.recover(ctx, left)
	others.Go(func() { e.timekeeper(ctx) })
	if e.Store.Shared() {
		others.Go(func() { e.lookout(ctx) })
		others.Go(func() { e.keepLease(loop) })
	}
	<-ctx.Done()
	e.drain()
	e.work.Wait()
	end()
	others.Wait()
	return e.Store.Leave(context.WithoutCancel(ctx), e.id())
}

// begin takes the lease and stock.
func (e *Exec) begin(ctx context.Context) (left []engine.NodeRun, err error) {
	if err := e.join(ctx); err != nil {
		return nil, err
	}
	return e.takeStock(ctx)
}

// takeStock reads what an earlier server left before anything new is written,
// so that no node of this server is taken for one of them.
func (e *Exec) takeStock(ctx context.Context) (left []engine.NodeRun, err error) {
	if left, err = e.Store.Orphans(ctx); err != nil {
		return nil, fmt.Errorf("find what was under way: %w", err)
	}
	ready, err := e.Store.ReadyNodes(ctx, math.MaxInt32)
	if err != nil {
		return nil, fmt.Errorf("find what waits: %w", err)
	}
	paused, err := e.Store.PausedRuns(ctx)
	if err != nil {
		return nil, fmt.Errorf("find which runs are paused: %w", err)
	}
	for _, id := range paused {
		e.paused[id] = true
	}
	if err := e.PoolsChanged(ctx); err != nil {
		return nil, err
	}
	for i := range left { // its slots are kept before anything new can take them
		e.slots.take(&left[i])
		e.adopting[left[i].Key()] = true
	}
	for _, n := range ready {
		e.await(n)
	}
	e.tidy()
	return left, nil
}

func (e *Exec) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		}
		for group := e.gather(); len(group) > 0; group = e.gather() {
			e.commit(ctx, group)
		}
	}
}

// push queues an item. It never blocks, so the loop itself may call it.
func (e *Exec) push(i item) {
	e.mu.Lock()
	e.queue = append(e.queue, i)
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// gather takes what has queued up, up to one group.
func (e *Exec) gather() []item {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(e.queue), maxGroup)
	group := e.queue[:n:n]
	e.queue = e.queue[n:]
	return group
}

// commit writes a group and then does what follows from it. Nodes that wait
// for the slots of those that end are started in the same transaction.
func (e *Exec) commit(ctx context.Context, group []item) {
	group = append(group, e.successors(group)...)
	steps := make([]flow.Step, len(group))
	for i := range group {
		steps[i] = e.claiming(group[i])
	}
	e.slots.begin()
	written := e.store(steps)
	claimed := e.slots.end(written)
	for i, w := range written {
		if w.Err == nil {
			e.effects(w.Writes, claimed)
		}
		switch {
		case group[i].done != nil:
			group[i].done <- w
		case w.Err != nil:
			e.refused(&group[i], w.Err)
		}
	}
	e.fill()
}

// store writes a group under the lease: without one it writes nothing.
func (e *Exec) store(steps []flow.Step) []flow.Written {
	if !e.isFenced() {
		return e.Store.Commit(e.leased(), steps)
	}
	written := make([]flow.Written, len(steps))
	for i := range written {
		written[i].Err = errFenced
	}
	return written
}

// refused deals with a step that nobody waits for and that wrote nothing.
func (e *Exec) refused(i *item, err error) {
	switch {
	case i.starts != nil && errors.Is(err, errNoRoom):
		e.awaitFirst(*i.starts)
	case i.starts != nil && errors.Is(err, errNoRoomElsewhere):
		e.block(i.starts.Ref)
		e.awaitFirst(*i.starts)
	case i.starts != nil && away(err): // the next look at the database finds it
	case i.starts != nil && engine.CodeOf(err) == engine.Conflict: // it was stopped meanwhile
	default:
		e.Log.Error("a transition was refused", "run", i.step.Run, "err", err)
	}
}

// do queues a step and waits for what became of it.
func (e *Exec) do(ctx context.Context, step flow.Step) (flow.Writes, error) {
	if step.New != nil && e.stopping() {
		return flow.Writes{}, engine.Errorf(engine.LimitHit, "The server is stopping and starts nothing new.")
	}
	done := make(chan flow.Written, 1)
	e.push(item{step: step, done: done})
	select {
	case w := <-done:
		return w.Writes, w.Err
	case <-ctx.Done():
		return flow.Writes{}, context.Cause(ctx)
	}
}

// effects does what a committed step asks for: it starts what was claimed,
// stops what is to stop, and tells those who watch.
func (e *Exec) effects(w flow.Writes, claimed map[engine.NodeKey]bool) {
	for _, n := range w.Nodes {
		switch n.State {
		case engine.Starting:
			if claimed[n.Key()] {
				e.launch(n)
			}
		case engine.Ready:
			e.await(n)
		case engine.Stopping:
			e.cancel(n.Key(), runner.ErrStop)
		case engine.Stopped:
			e.unwait(n.Key())
		case engine.Waiting, engine.Running, engine.Publishing, engine.Succeeded, engine.Failed,
			engine.TimedOut, engine.Skipped, engine.Lost:
		}
		if n.State.Done() {
			e.unblock()
		}
	}
	e.mu.Lock()
	if w.Run.Open() && !w.Run.Paused.IsZero() {
		e.paused[w.Run.ID] = true
	} else {
		delete(e.paused, w.Run.ID)
	}
	if !w.Run.Open() {
		delete(e.pins, w.Run.ID)
	}
	if w.Run.Seq == int64(len(w.Events)) && !w.Run.Deadline.IsZero() { // it has just begun
		select {
		case e.timed <- struct{}{}:
		default:
		}
	}
	e.mu.Unlock()
	e.Committed(w)
}

// pin is what a run has pinned, kept while it is open: its nodes need not read
// it again for every transition.
type pin struct {
	run   engine.Run
	graph *graph.Graph // nil for a job or crawl alone
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
	run, err := e.Store.Run(ctx, id)
	if err != nil {
		return pin{}, err
	}
	p.run = run
	if run.Kind == engine.RunWorkflow {
		p.graph = graph.New(&run.Body)
	}
	e.keep(p)
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
		job, err := e.Store.Job(ctx, n.Ref.ID)
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
	job, err := e.Store.JobVersion(ctx, n.Ref.ID, n.Version)
	if err != nil {
		return job, err
	}
	job.Name = n.Name
	e.keepJob(job)
	return job, nil
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

// stopping reports that the server is on its way down.
func (e *Exec) stopping() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stopped
}

func (e *Exec) keep(p pin) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pins[p.run.ID] = p
}
