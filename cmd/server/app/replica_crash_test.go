package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	doer "dogear/engine/exec"
	"dogear/engine/flow"
)

const (
	databaseEnv = "DOGEAR_TEST_DATABASE"
	rootEnv     = "DOGEAR_TEST_ROOT"
	// The lease of the servers under test: a dead one shall cost its lease and nothing
	// else (docs/adr/0013).
	leaseForTest = 2 * time.Second
)

// keyForTest is the secret key of all servers under test.
const keyForTest = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// serveReplica is one of several servers of a PostgreSQL. It works until it is
// told to end.
func serveReplica() error {
	return Run(context.Background(), Config{
		Data: os.Getenv(dataEnv), Out: os.Stderr,
		Options: Options{
			Addr: "127.0.0.1:0", Slots: 2, Drain: time.Second, TTL: leaseForTest, Key: keyForTest,
			Database: os.Getenv(databaseEnv), Root: []string{os.Getenv(rootEnv)},
		},
		store: func(s doer.Store) doer.Store { return newRecorder(s, os.Getenv(historyEnv)) },
	})
}

// fleet is several servers of one database as processes of their own.
type fleet struct {
	t    *testing.T
	env  []string
	n    int    // of servers that were started
	data string // of the first server, where it keeps it through kills
	// histories is where the servers write what they do.
	histories string
	cmds      []*exec.Cmd
	out       []*lines
}

// lines collects what a process says.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newFleet(t *testing.T, database, root string, n int) *fleet {
	f := &fleet{t: t, env: append(os.Environ(), roleEnv+"=replica", databaseEnv+"="+database, rootEnv+"="+root), cmds: make([]*exec.Cmd, n), out: make([]*lines, n), histories: t.TempDir()}
	for i := range n {
		f.start(i)
	}
	t.Cleanup(func() {
		for i := range f.cmds {
			f.signal(i, syscall.SIGCONT)
			f.signal(i, syscall.SIGKILL)
			_ = f.cmds[i].Wait()
			if t.Failed() {
				t.Logf("server %d said:\n%s", i, f.out[i])
			}
		}
	})
	return f
}

// add starts one more server.
func (f *fleet) add() {
	f.cmds, f.out = append(f.cmds, nil), append(f.out, nil)
	f.start(len(f.cmds) - 1)
}

// start starts server i on a data folder of its own, again after its end.
func (f *fleet) start(i int) {
	self, err := os.Executable()
	must(f.t, err)
	if f.out[i] == nil {
		f.out[i] = &lines{}
	}
	data := f.data
	if data == "" {
		data = filepath.Join(f.t.TempDir(), "data")
	}
	cmd := exec.Command(self)
	f.n++
	history := filepath.Join(f.histories, fmt.Sprintf("%d.history", f.n))
	cmd.Env = append(slices.Clone(f.env), dataEnv+"="+data, historyEnv+"="+history)
	cmd.Stdout, cmd.Stderr = f.out[i], f.out[i]
	must(f.t, cmd.Start())
	f.cmds[i] = cmd
}

func (f *fleet) signal(i int, s syscall.Signal) { _ = f.cmds[i].Process.Signal(s) }

// kill ends server i at once and starts another in its place.
func (f *fleet) kill(i int) {
	f.signal(i, syscall.SIGKILL)
	_ = f.cmds[i].Wait()
	f.start(i)
}

// halt stops server i for longer than its lease, as a machine that hangs.
func (f *fleet) halt(i int) {
	f.signal(i, syscall.SIGSTOP)
	time.Sleep(leaseForTest + leaseForTest/2) // the hang itself, not a wait for something
	f.signal(i, syscall.SIGCONT)
}

// trouble kills and halts servers at random moments, n times, two of three at
// once at most.
func (f *fleet) trouble(random *rand.Rand, n int) (kills, halts int) {
	var halted sync.WaitGroup
	one := -1 // is halted
	free := make(chan struct{}, 1)
	free <- struct{}{}
	for range n {
		time.Sleep(time.Duration(20+random.IntN(700)) * time.Millisecond) // when it comes is what is tried
		i := random.IntN(len(f.cmds))
		select {
		case <-free:
			one = -1
			if random.IntN(2) == 0 {
				one = i
				halts++
				halted.Go(func() { f.halt(i); free <- struct{}{} })
				continue
			}
			free <- struct{}{}
		default:
		}
		if i == one {
			i = (i + 1) % len(f.cmds)
		}
		kills++
		f.kill(i)
	}
	halted.Wait()
	return kills, halts
}

// copies makes n jobs that each append the files of a folder of their own.
func copies(t *testing.T, store *db.Store, root string, n int) []engine.Head {
	t.Helper()
	now := time.Now().UTC()
	var jobs []engine.Head
	for i := range n {
		dir := filepath.Join(root, fmt.Sprintf("in%d", i))
		must(t, os.MkdirAll(dir, 0o700))
		id, err := store.CreateJob(t.Context(), fmt.Sprintf("copy %d", i), engine.JobBody{
			Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, MemoryMB: engine.MinMemoryMB,
			SQL: &engine.SQLJob{
				Sources: []engine.Source{{Name: "raw", Path: dir + "/*.csv", Format: engine.CSV, Read: engine.ReadNew, Schema: []engine.Column{{Name: "id", Type: "BIGINT"}}}},
				Sinks:   []engine.Sink{{From: "raw", Path: filepath.Join(root, fmt.Sprintf("out%d", i)), Format: engine.Parquet, Mode: engine.Append}},
			},
		}, "test", now)
		must(t, err)
		_, err = store.PublishJob(t.Context(), id, "test", now)
		must(t, err)
		job, err := store.Job(t.Context(), id)
		must(t, err)
		jobs = append(jobs, job.Head)
	}
	return jobs
}

// order writes a run of a job without being a server: the next one that looks
// starts it.
func order(t *testing.T, store *db.Store, by doer.Store, job engine.Head) engine.ID {
	t.Helper()
	now := time.Now().UTC()
	run := engine.Run{ID: engine.NewID(now), Kind: engine.RunJob, Object: job.ID, Name: job.Name, Version: job.Version, Started: now, By: "test"}
	written := by.Commit(t.Context(), []flow.Step{{Run: run.ID, New: &run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		return flow.BeginAlone(st, run, engine.Ref{Kind: engine.KindJob, ID: job.ID}, now), nil
	}}})
	must(t, written[0].Err)
	store.Tell("run", db.Word{Topic: "run:" + string(run.ID), Seq: written[0].Run.Seq})
	return run.ID
}

// TestServersAreKilledAndHalted: three servers of one database are killed and
// halted at random moments while jobs run; every row of every file arrives
// exactly once, and every run ends.
func TestServersAreKilledAndHalted(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test that can be repeated
	const jobs, rows = 3, 10
	troubles := 12
	if n, err := strconv.Atoi(os.Getenv("DOGEAR_TROUBLES")); err == nil {
		troubles = n
	}
	database, root := dbtest.PostgresAddress(t), t.TempDir()
	store := dbtest.Open(t, database)
	listening, quiet := context.WithCancel(t.Context())
	var ear sync.WaitGroup
	changed := make(chan struct{}, 1)
	ear.Go(func() {
		_ = store.Listen(listening, func([]db.Word) {
			select {
			case changed <- struct{}{}:
			default:
			}
		}, func() {})
	})
	t.Cleanup(func() { quiet(); ear.Wait() })
	heads := copies(t, store, root, jobs)
	servers := newFleet(t, database, root, 3)
	customer := newRecorder(store, filepath.Join(servers.histories, "customer.history"))

	var kills, halts, rounds int
	done := make(chan struct{})
	go func() {
		defer close(done)
		kills, halts = servers.trouble(random, troubles)
	}()
	var runs []engine.ID
	for over := false; !over; rounds++ {
		select {
		case <-done:
			over = true // and one round in peace
		default:
		}
		for i, head := range heads {
			put(t, filepath.Join(root, fmt.Sprintf("in%d", i), fmt.Sprintf("%d.csv", rounds)), rounds*rows, rows)
			runs = append(runs, order(t, store, customer, head))
		}
		for _, id := range runs[len(runs)-jobs:] {
			awaitEnd(t, store, id, changed)
		}
	}
	for _, head := range heads { // what a run failed to read the next one reads
		awaitEnd(t, store, order(t, store, customer, head), changed)
	}

	for i := range heads {
		target := fmt.Sprintf("out%d", i)
		if got := idsIn(t, filepath.Join(root, target)); len(got) != rounds*rows {
			t.Errorf("%s holds %d different rows, want %d", target, len(got), rounds*rows)
		}
		left, err := filepath.Glob(filepath.Join(root, target, ".dogear", "*"))
		must(t, err)
		if len(left) > 0 {
			t.Errorf("%v is left over in %s", left, target)
		}
	}
	for _, id := range runs {
		run, err := store.Run(t.Context(), id)
		must(t, err)
		if run.Outcome != engine.RunSucceeded {
			nodes, _ := store.NodeRuns(t.Context(), id)
			t.Errorf("run %s %s: %s; a server that dies is no failure of a job", id, run.Outcome, nodes[len(nodes)-1].Error)
		}
	}
	t.Logf("%d kills, %d halts, %d runs", kills, halts, len(runs))
	assertLinearizable(t, servers.histories)
}

// awaitEnd waits until a run has ended. On a busy machine its servers may be killed many
// times before one of them comes to the end of it; what must not be is that nobody goes
// on with it.
func awaitEnd(t *testing.T, store *db.Store, id engine.ID, changed <-chan struct{}) {
	t.Helper()
	const patience = time.Minute
	var last string // how far it was, since when nothing has changed
	since := time.Now()
	for {
		run, err := store.Run(t.Context(), id)
		must(t, err)
		if !run.Open() {
			return
		}
		nodes, err := store.NodeRuns(t.Context(), id)
		must(t, err)
		now := fmt.Sprint(run.Seq)
		for i := range nodes {
			now += fmt.Sprint(" ", nodes[i].State, nodes[i].Fence)
		}
		if now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > patience {
			t.Fatalf("nothing has changed in run %s for %s; its nodes are %+v", id, patience, nodes)
		}
		select {
		case <-changed:
		case <-time.After(time.Second): // a word may be lost
		}
	}
}
