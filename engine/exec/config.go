package exec

import (
	"context"
	"log/slog"
	"time"

	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// Store is what exec needs of the database.
type Store interface {
	// Broken reports whether an error of the store says that its line to the database
	// broke, and nothing about what was asked.
	Broken(err error) bool
	Commit(ctx context.Context, steps []flow.Step) []flow.Written
	Run(ctx context.Context, id engine.ID) (engine.Run, error)
	NodeRuns(ctx context.Context, run engine.ID) ([]engine.NodeRun, error)
	TriggerRuns(ctx context.Context, run engine.ID) ([]engine.TriggerRun, error)
	// Events lists the events of a run after since, oldest first.
	Events(ctx context.Context, run engine.ID, since int64) ([]engine.Event, error)
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
	JobHeads(ctx context.Context, ids []engine.ID) (map[engine.ID]engine.Head, error)
	JobVersion(ctx context.Context, id engine.ID, version int) (engine.Job, error)
	Crawler(ctx context.Context, id engine.ID) (engine.Crawler, error)
	BookmarkOf(ctx context.Context, job engine.ID, name string) (*engine.Bookmark, error)
	// StartedBy returns the run that a token has started, with the sum of what
	// was asked for; NotFound where there is none since then.
	StartedBy(ctx context.Context, object engine.ID, token string, since time.Time) (run engine.ID, asked string, err error)
	// PropertiesOf is what an attempt was told of the properties of its run.
	PropertiesOf(ctx context.Context, key engine.NodeKey) (map[string]string, error)
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
	// Newer is a step by which a newer version has changed the schema of the
	// database under this one; "" while none has.
	Newer(ctx context.Context) (step string, err error)
	Replicas(ctx context.Context) ([]engine.Replica, error)
	// Orphans are the node runs under way whose server is gone.
	Orphans(ctx context.Context) ([]engine.NodeRun, error)
	Held(ctx context.Context, owner engine.ID) ([]engine.NodeRun, error)
	ReadyNodes(ctx context.Context, limit int) ([]engine.NodeRun, error)
	// Taken is how many node runs of each job or crawler, and in each pool, are under
	// way on all servers.
	Taken(ctx context.Context) (refs map[engine.Ref]int, pools map[string]int, err error)
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
	// Outgrown is told once that a newer version has changed the schema under this
	// server, which does nothing any more. It must not block.
	Outgrown func(why error)
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
	if c.Outgrown == nil {
		c.Outgrown = func(error) {}
	}
	patience, hurry := context.WithCancel(context.Background())
	return &Exec{
		Config: c, patience: patience, hurry: hurry, outgrown: make(chan struct{}), wake: make(chan struct{}, 1), slots: slots{free: c.Slots, busy: map[seat]int{}, back: map[engine.NodeKey]bool{}, limits: map[seat]int{}}, timed: make(chan struct{}, 1),
		pins: map[engine.ID]pin{}, jobs: map[jobVersion]engine.Job{}, paused: map[engine.ID]bool{}, working: map[engine.NodeKey]*attempt{},
		starts: newTogether[engine.ID, drawn](), heard: make(chan struct{}, 1), free: make(chan struct{}), blocked: map[engine.Ref]bool{}, adopting: map[engine.NodeKey]bool{}, early: map[engine.NodeKey]error{}, alone: true, oldest: true, fits: map[engine.Ref]fit{},
		reserved: map[engine.NodeKey]bool{}, called: map[engine.NodeKey]*engine.NodeRun{}, readied: map[engine.NodeKey]*engine.NodeRun{},
	}
}

func backoff(n int) time.Duration {
	const least, most = time.Second, 5 * time.Minute
	if n > 8 {
		return most
	}
	return min(least<<max(0, n-1), most)
}
