package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/secret"
	"dogear/engine"
	"dogear/handlers/control"
)

// TestAServerIsKilledOverAndOver: a server on SQLite is killed at random
// moments, also while it takes up what the kill before has left, and files
// arrive all the time. In the end every run has ended and every row stands
// once. DOGEAR_KILLS sets how often; 1,000 in make soak.
func TestAServerIsKilledOverAndOver(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test that can be repeated
	kills, jobs, rows := 20, 2, 10
	if n, err := strconv.Atoi(os.Getenv("DOGEAR_KILLS")); err == nil {
		kills = n
	}
	data := filepath.Join(t.TempDir(), "data")
	root := filepath.Join(data, "files")
	must(t, os.MkdirAll(root, 0o700))
	store := openWithKey(t, data)
	heads := copies(t, store, root, jobs)
	must(t, store.Close())
	servers := newFleet(t, "", root, 0)
	servers.data = data
	servers.add()

	var ordered []engine.ID
	files := 0
	for range kills {
		if files < 200 { // and after that only what is there
			for i := range heads {
				put(t, filepath.Join(root, fmt.Sprintf("in%d", i), fmt.Sprintf("%d.csv", files)), files*rows, rows)
			}
			files++
		}
		if random.IntN(4) > 0 { // else it is killed while it comes up
			for _, head := range heads {
				ordered = append(ordered, servers.insist(t, head.Name))
			}
		}
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond) // when it comes is what is tried
		servers.kill(0)
	}
	for _, head := range heads {
		ordered = append(ordered, servers.insist(t, head.Name))
	}
	servers.awaitQuiet(t)
	servers.signal(0, syscall.SIGTERM)
	_ = servers.cmds[0].Wait()

	store = openWithKey(t, data)
	t.Cleanup(func() { must(t, store.Close()) })
	for i := range heads {
		target := filepath.Join(root, fmt.Sprintf("out%d", i))
		if got := idsIn(t, target); len(got) != files*rows {
			t.Errorf("%s holds %d different rows, want %d", target, len(got), files*rows)
		}
		left, err := filepath.Glob(filepath.Join(target, ".dogear", "*"))
		must(t, err)
		if len(left) > 0 {
			t.Errorf("%v is left over", left)
		}
	}
	for _, id := range ordered {
		run, err := store.Run(t.Context(), id)
		must(t, err)
		if run.Outcome != engine.RunSucceeded {
			t.Errorf("run %s %q, want every run that was begun to succeed", id, run.Outcome)
		}
	}
	t.Logf("%d kills, %d runs, %d files", kills, len(ordered), files)
	assertLinearizable(t, servers.histories)
}

// put writes a file of ids that looks old enough to be complete.
func put(t *testing.T, path string, first, rows int) {
	t.Helper()
	text := "id\n"
	for row := range rows {
		text += fmt.Sprintln(first + row)
	}
	must(t, os.WriteFile(path, []byte(text), 0o600))
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, old, old))
}

func openWithKey(t *testing.T, data string) *db.Store {
	t.Helper()
	key, err := secret.Load(keyForTest, "")
	must(t, err)
	store, err := db.Open(context.Background(), filepath.Join(data, "dogear.db"), key)
	must(t, err)
	return store
}

// client talks to the socket of the first server.
func (f *fleet) client() *http.Client {
	return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return control.Dial(ctx, f.data) }, DisableKeepAlives: true,
	}}
}

// ask starts a job, if the server is there.
func (f *fleet) ask(t *testing.T, job string) (engine.ID, bool) {
	t.Helper()
	text, err := json.Marshal(control.StartJob{Job: job})
	must(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://dogear/job", bytes.NewReader(text))
	must(t, err)
	response, err := f.client().Do(request)
	if err != nil {
		return "", false
	}
	defer response.Body.Close()
	var run control.Run
	if response.StatusCode != http.StatusOK || json.NewDecoder(response.Body).Decode(&run) != nil {
		return "", false
	}
	return run.ID, true
}

// insist starts a job as soon as the server is there.
func (f *fleet) insist(t *testing.T, job string) engine.ID {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		if id, ok := f.ask(t, job); ok {
			return id
		}
	}
	t.Fatal("the server has not come up for half a minute")
	return ""
}

// awaitQuiet waits until no run is open.
func (f *fleet) awaitQuiet(t *testing.T) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://dogear/runs?open=true&limit=1", nil)
		must(t, err)
		response, err := f.client().Do(request)
		if err != nil {
			continue
		}
		var runs []control.Run
		err = json.NewDecoder(response.Body).Decode(&runs)
		response.Body.Close()
		if err == nil && response.StatusCode == http.StatusOK && len(runs) == 0 {
			return
		}
	}
	t.Fatal("runs are open after a minute of quiet")
}
