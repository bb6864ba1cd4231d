package exec

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"dogear/engine"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

var _ runner.Host = (*attempt)(nil)

// Planned stores the plan of the attempt before any of it is read.
func (a *attempt) Planned(ctx context.Context, plan engine.Plan) (engine.Batch, error) {
	batch := engine.Batch{
		ID: engine.NewID(a.e.Now()), Node: a.node.Key(), Job: plan.Job, State: engine.BatchPlanned, Plan: plan, At: a.e.Now().UTC(),
	}
	if a.job != nil {
		batch.Body = a.job.JobBody
	}
	err := a.write(ctx, func(run engine.Run, node engine.NodeRun) (flow.Writes, error) {
		if node.State == engine.Stopping {
			return flow.Writes{}, runner.ErrStop
		}
		fresh := batch
		node.Batch, node.Version, node.Name = batch.ID, a.node.Version, a.node.Name
		return flow.Writes{Run: run, Nodes: []engine.NodeRun{node}, Batch: &fresh}, nil
	})
	if err != nil {
		return batch, err
	}
	return *a.batch, nil
}

// Started records the process that will do the work. Only after this may it
// begin.
func (a *attempt) Started(ctx context.Context, p engine.Process) error {
	defer func() { a.apart.Store(a.node.Process.Apart) }()
	return a.write(ctx, func(run engine.Run, node engine.NodeRun) (flow.Writes, error) {
		if node.State == engine.Stopping {
			return flow.Writes{}, runner.ErrStop
		}
		now := a.e.Now().UTC()
		node.Process, node.Version, node.Name, node.Why = p, a.node.Version, a.node.Name, ""
		node.Deadline = now.Add(a.limit.Duration)
		if node.State == engine.Running { // taken up again after a crash
			return flow.Change(run, node, takenUp, now), nil
		}
		if err := node.Move(engine.Running, now); err != nil {
			return flow.Writes{}, err
		}
		return flow.Change(run, node, "", now), nil
	})
}

// Staged stores what the attempt has staged, before it may be committed.
func (a *attempt) Staged(ctx context.Context, id engine.ID, m engine.Manifest) error {
	if a.batch == nil || a.batch.ID != id {
		return fmt.Errorf("batch %s is not the one of this attempt", id)
	}
	return a.write(ctx, func(run engine.Run, node engine.NodeRun) (flow.Writes, error) {
		batch := *a.batch
		batch.State, batch.Manifest = engine.BatchStaged, m
		return flow.Writes{Run: run, Nodes: []engine.NodeRun{node}, Batch: &batch}, nil
	})
}

// Mine reports whether nobody else has taken the attempt over. A server that hung
// sees by its own clock that its lease is over; then the row says so as well.
func (a *attempt) Mine(ctx context.Context) bool {
	if a.e.isFenced() {
		return false
	}
	if !a.e.Store.Shared() {
		return true
	}
	nodes, err := a.e.Store.NodeRuns(context.WithoutCancel(ctx), a.node.Run)
	return err == nil && slices.ContainsFunc(nodes, func(n engine.NodeRun) bool { return n.Key() == a.node.Key() && n.Fence == a.node.Fence })
}

// Progress tells the pages how far the attempt has come.
func (a *attempt) Progress(p runner.Progress) { a.e.Progress(a.node.Key(), p) }

// Log writes one line to the attempt's log.
func (a *attempt) Log(level runner.Level, text string) { a.log.line(level, text) }

// logFile is the log of an attempt: a line is a time, a level and a text. It
// is a file, so that a crash keeps what was written; one that nothing was
// written to is not made, for making a file costs more than a transition.
type logFile struct {
	mu    sync.Mutex
	path  string
	file  *os.File
	now   func() time.Time
	told  func()        // after every line
	first func() string // what stands at the head of the log
	// ship brings the file to where other servers see it; nil where there are
	// none.
	ship    *shipped
	shipper func() // ends it
}

// open makes the file at the first line.
func (l *logFile) open() error {
	if l.file != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	if l.ship != nil && l.ship.fetch(context.Background()) != nil {
		l.ship = nil // without knowing what the database has nothing can be added to it
	}
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	l.file = file
	if l.ship != nil {
		l.startShipping()
	}
	text := l.first()
	if info, err := file.Stat(); err == nil && info.Size() > 0 { // a server before this one began it
		text = takenUp
	}
	_, err = file.WriteString(l.now().UTC().Format(logTime) + " " + string(runner.Info) + " " + text + "\n")
	return err
}

// takenUp is what an attempt says that another server has begun.
const takenUp = "taken up again"

// logTime is the form of a line's time: it sorts, and its length never changes.
const logTime = "2006-01-02T15:04:05.000Z"

// startShipping ships the file until the log is closed.
func (l *logFile) startShipping() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.ship.run(ctx, l.told)
	}()
	l.shipper = func() {
		cancel()
		<-done
	}
}

func (l *logFile) line(level runner.Level, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// A log that cannot be written must not fail the work it tells of.
	if l.open() != nil {
		return
	}
	if l.ship != nil {
		defer l.ship.touch()
	} else {
		defer l.told()
	}
	stamp := l.now().UTC().Format(logTime) + " " + string(level) + " "
	var lines strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		lines.WriteString(stamp + line + "\n")
	}
	_, _ = l.file.WriteString(lines.String()) // at once, so that a crash leaves whole lines
}

// counts says how much of each level stands in the file.
func (l *logFile) counts() map[runner.Level]runner.Logged {
	found := map[runner.Level]runner.Logged{}
	file, err := os.Open(l.path)
	if err != nil {
		return found // nothing was logged
	}
	defer file.Close()
	for read := bufio.NewReaderSize(file, maxPiece); ; {
		line, err := read.ReadString('\n')
		if err != nil {
			return found
		}
		if len(line) > len(logTime) {
			level, _, _ := strings.Cut(line[len(logTime)+1:], " ")
			sum := found[runner.Level(level)]
			found[runner.Level(level)] = runner.Logged{Lines: sum.Lines + 1, Bytes: sum.Bytes + int64(len(line))}
		}
	}
}

// ships reports whether the file is being shipped.
func (l *logFile) ships() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shipper != nil
}

// Close closes the file, if there is one.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	if l.shipper != nil {
		l.shipper()
	}
	return l.file.Close()
}
