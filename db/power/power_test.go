// Package power tests what a store holds after the power has failed: of what
// its process wrote, only what it had made durable by fsync is sure to be on
// the disk, and of the rest any part.
package power

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/secret"
	"dogear/engine"
	"dogear/engine/flow"
)

// The test binary is also the process that writes, under the eyes of strace.
const writerEnv = "DOGEAR_TEST_WRITER" // the database it writes to

const (
	commits = 400 // enough for a checkpoint of the log in between
	mark    = "committed "
)

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		if err := write(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(path string) (*db.Store, error) {
	key, err := secret.New(make([]byte, 32))
	if err != nil {
		return nil, err
	}
	return db.Open(context.Background(), path, key)
}

const runID engine.ID = "01KBA5ZC9J6Q0V5W3D8M7N2P4R"

// write commits one step after the other and says each time that it is done:
// whatever it has said must be found again. It never closes the store.
func write(path string) error {
	store, err := open(path)
	if err != nil {
		return err
	}
	if _, err := store.Own(); err != nil {
		return err
	}
	now := time.Now()
	for i := range commits {
		step := flow.Step{Run: runID, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
			node := engine.NodeRun{Run: runID, Ref: engine.Ref{Kind: engine.KindJob, ID: runID}, Start: i + 1, Attempt: 1, State: engine.Running, ReadyAt: now}
			event := engine.Event{Run: runID, Kind: "note", Text: strings.Repeat("x", i%700), At: now}
			return flow.Writes{Run: run, Nodes: []engine.NodeRun{node}, Events: []engine.Event{event}, OpenNodes: 1}, nil
		}}
		if i == 0 {
			step.New = &engine.Run{ID: runID, Kind: engine.RunJob, Started: now}
		}
		if w := store.Commit(context.Background(), []flow.Step{step})[0]; w.Err != nil {
			return w.Err
		}
		if _, err := fmt.Fprintf(os.Stdout, "%s%d\n", mark, i+1); err != nil {
			return err
		}
	}
	return nil
}

// TestWhatWasCommittedOutlivesThePower replays what a writing process told the
// system to do, and cuts the power after random calls: of what was not yet
// synced some writes, or parts of them, or none, are on the disk. The database
// must open, be whole, and hold every commit that was said to be done.
func TestWhatWasCommittedOutlivesThePower(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "dogear.db")
	calls := traced(t, path)
	seed := rand.Uint64()
	t.Logf("seed %d, %d calls", seed, len(calls))
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test that can be repeated
	const cuts = 60
	cut := map[int]bool{}
	for range cuts {
		cut[random.IntN(len(calls))] = true
	}
	disk := newDisk(dir)
	said, checked := 0, 0
	for i, c := range calls {
		if n, ok := strings.CutPrefix(c.text, mark); ok {
			said, _ = strconv.Atoi(strings.TrimSpace(n))
		}
		disk.do(c)
		if cut[i] && said > 0 { // before that there is no database to lose
			after := disk.afterPowerLoss(t, random)
			checkStore(t, filepath.Join(after, "dogear.db"), said)
			checked++
		}
	}
	if said != commits || checked < cuts/3 {
		t.Errorf("%d commits and %d cuts were seen, want %d and about %d", said, checked, commits, cuts)
	}
	if disk.synced < commits {
		t.Errorf("%d times something was synced for %d commits", disk.synced, commits)
	}
	t.Logf("the power was cut %d times", checked)
}

func checkStore(t *testing.T, path string, said int) {
	t.Helper()
	store, err := open(path)
	if err != nil {
		t.Fatalf("after %d commits the database cannot be opened: %v", said, err)
	}
	defer func() { must(t, store.Close()) }()
	run, err := store.Run(t.Context(), runID)
	must(t, err)
	events, err := store.Events(t.Context(), runID, 0)
	must(t, err)
	nodes, err := store.NodeRuns(t.Context(), runID)
	must(t, err)
	if len(events) < said || run.Seq != int64(len(events)) || len(nodes) != len(events) {
		t.Errorf("%d commits were said to be done; the run stands at %d with %d events and %d node runs", said, run.Seq, len(events), len(nodes))
	}
	checks, err := store.Checks(t.Context())
	must(t, err)
	for _, c := range checks {
		if len(c.Broken) > 0 {
			t.Errorf("%s: %+v", c.Rule, c.Broken)
		}
	}
}

// call is one thing that the process told the system to do with a file.
type call struct {
	name string // write, sync, truncate, remove
	path string
	at   int64
	data []byte
	text string // what it wrote to its output
}

// traced runs the writer under strace and reads what it did.
func traced(t *testing.T, path string) []call {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatalf("%v; make system installs it", err)
	}
	self, err := os.Executable()
	must(t, err)
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-y", "-xx", "-s", "70000", "-e", "trace=pwrite64,write,fdatasync,fsync,ftruncate,unlink,unlinkat", "-o", trace, self)
	cmd.Env = append(os.Environ(), writerEnv+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the writer ended with %v: %s", err, out)
	}
	return parse(t, trace, filepath.Dir(path))
}

var (
	started = regexp.MustCompile(`^(\d+) +(\w+)\((.*)$`)
	resumed = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)$`)
	first   = regexp.MustCompile(`^(\d+)<((?:\\x[0-9a-f]{2})*|[^>]*)>`)
	quoted  = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
	answer  = regexp.MustCompile(`\) += (-?\d+)`)
)

// parse reads the calls in the order in which they ended: what had not ended
// when the power failed was not promised to anybody.
func parse(t *testing.T, trace, dir string) []call {
	t.Helper()
	file, err := os.Open(trace)
	must(t, err)
	defer func() { _ = file.Close() }()
	halves := map[string]string{} // by thread: calls that have not ended
	var calls []call
	for scan := bufio.NewReader(file); ; {
		text, err := scan.ReadString('\n')
		if err != nil {
			break
		}
		text = strings.TrimSuffix(text, "\n")
		if m := resumed.FindStringSubmatch(text); m != nil {
			text = halves[m[1]] + m[3]
			delete(halves, m[1])
		} else if before, ok := strings.CutSuffix(text, " <unfinished ...>"); ok {
			thread, _, _ := strings.Cut(before, " ")
			halves[thread] = before
			continue
		}
		if c, ok := understand(text, dir); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

func understand(text, dir string) (call, bool) {
	m := started.FindStringSubmatch(text)
	result := answer.FindStringSubmatch(text)
	if m == nil || result == nil || strings.HasPrefix(result[1], "-") {
		return call{}, false
	}
	if strings.HasPrefix(m[2], "unlink") { // the journal of the first moments, whose removal is its commit
		q := quoted.FindStringSubmatch(m[3])
		if q == nil {
			return call{}, false
		}
		path := string(unhex(q[1]))
		return call{name: "remove", path: path}, filepath.Dir(path) == dir
	}
	fd := first.FindStringSubmatch(m[3])
	if fd == nil {
		return call{}, false
	}
	path := fd[2]
	if strings.Contains(path, `\x`) {
		path = string(unhex(path))
	}
	data := []byte(nil)
	if q := quoted.FindStringSubmatch(m[3]); q != nil {
		data = unhex(q[1])
	}
	if m[2] == "write" && fd[1] == "1" {
		return call{text: string(data)}, bytes.HasPrefix(data, []byte(mark))
	}
	if filepath.Dir(path) != dir || strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, ".lock") {
		return call{}, false // shared memory is made anew from the log
	}
	last := m[3][:strings.LastIndex(m[3], ")")]
	number, _ := strconv.ParseInt(strings.TrimSpace(last[strings.LastIndex(last, ",")+1:]), 10, 64)
	switch m[2] {
	case "pwrite64":
		return call{name: "write", path: path, at: number, data: data}, true
	case "ftruncate":
		return call{name: "truncate", path: path, at: number}, true
	case "fdatasync", "fsync":
		return call{name: "sync", path: path}, true
	}
	return call{}, false
}

func unhex(text string) []byte {
	raw, _ := hex.DecodeString(strings.ReplaceAll(text, `\x`, ""))
	return raw
}

// disk is what lies durably on a disk, and what was written since the last sync
// of each file.
type disk struct {
	dir     string
	files   map[string][]byte
	pending map[string][]call
	synced  int
}

func newDisk(dir string) *disk {
	return &disk{dir: dir, files: map[string][]byte{}, pending: map[string][]call{}}
}

func (d *disk) do(c call) {
	switch c.name {
	case "write", "truncate":
		d.pending[c.path] = append(d.pending[c.path], c)
	case "remove":
		delete(d.files, c.path)
		delete(d.pending, c.path)
	case "sync":
		for _, p := range d.pending[c.path] {
			d.files[c.path] = applied(d.files[c.path], p)
		}
		d.pending[c.path] = nil
		d.synced++
	}
}

func applied(file []byte, c call) []byte {
	if c.name == "truncate" {
		if int64(len(file)) > c.at {
			return file[:c.at:c.at]
		}
		return append(file, make([]byte, c.at-int64(len(file)))...)
	}
	if end := c.at + int64(len(c.data)); int64(len(file)) < end {
		file = append(file, make([]byte, end-int64(len(file)))...)
	}
	copy(file[c.at:], c.data)
	return file
}

// sector is what a disk writes whole or not at all.
const sector = 512

// afterPowerLoss is a folder with what may be found: all that was synced, and
// of the rest any part, in any order.
func (d *disk) afterPowerLoss(t *testing.T, random *rand.Rand) string {
	t.Helper()
	dir := t.TempDir()
	names := map[string]bool{}
	for path := range d.files {
		names[path] = true
	}
	for path := range d.pending {
		names[path] = true
	}
	for path := range names {
		file := bytes.Clone(d.files[path])
		waiting := d.pending[path]
		for _, i := range random.Perm(len(waiting)) {
			c := waiting[i]
			switch random.IntN(3) {
			case 0: // lost
			case 1:
				file = applied(file, c)
			case 2: // torn between two sectors
				if n := len(c.data) / sector; n > 0 {
					c.data = c.data[:sector*random.IntN(n+1)]
					file = applied(file, c)
				}
			}
		}
		must(t, os.WriteFile(filepath.Join(dir, filepath.Base(path)), file, 0o600))
	}
	return dir
}

// TestTheCutCanBeSeen: a process that does not sync loses what it said was
// done, so the test above can fail.
func TestTheCutCanBeSeen(t *testing.T) {
	t.Parallel()
	d := newDisk("/d")
	d.do(call{name: "write", path: "/d/a", data: []byte("synced")})
	d.do(call{name: "sync", path: "/d/a"})
	d.do(call{name: "write", path: "/d/a", at: 6, data: []byte(" not synced")})
	lost := false
	random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the same each time
	for range 20 {
		text, err := os.ReadFile(filepath.Join(d.afterPowerLoss(t, random), "a"))
		if err != nil || !bytes.HasPrefix(text, []byte("synced")) {
			t.Fatalf("what was synced is %q (%v)", text, err)
		}
		lost = lost || string(text) == "synced"
	}
	if !lost {
		t.Error("nothing was ever lost")
	}
}
