package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// smallDisk makes dir a disk of its own.
func smallDisk(t *testing.T, dir, size string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o700))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("this user may not mount a disk: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
}

// fill writes a file until there is no more room.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	must(t, err)
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	must(t, file.Close())
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk cannot be filled: %v", err)
	}
}

// serving is a server in this process.
type serving struct {
	ready, closed chan string
	out           *lines
	stop          context.CancelFunc
	ended         chan error
}

func serveIn(t *testing.T, data string) *serving {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s := &serving{ready: make(chan string, 1), closed: make(chan string, 1), out: &lines{}, stop: stop, ended: make(chan error, 1)}
	go func() {
		s.ended <- Run(ctx, Config{
			Data: data, Out: s.out, Options: Options{Addr: "127.0.0.1:0", Slots: 1},
			Ready:  func(address, _ string) { s.ready <- address },
			closed: func(address string) { s.closed <- address },
		})
	}()
	t.Cleanup(stop)
	return s
}

// soon receives what comes in a moment.
func soon[T any](t *testing.T, from <-chan T, what string) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s does not come", what)
	}
	return got
}

func get(t *testing.T, address string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	must(t, err)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(text)
}

// TestAServerWaitsForRoomOnItsDisk: a server whose disk has become full says so
// where people and machines look, and begins once there is room.
func TestAServerWaitsForRoomOnItsDisk(t *testing.T) {
	t.Parallel()
	for name, earlier := range map[string]bool{"with a database": true, "with an empty folder": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := filepath.Join(t.TempDir(), "disk")
			smallDisk(t, disk, "32m")
			data, filler := filepath.Join(disk, "data"), filepath.Join(disk, "filler")
			if earlier {
				s := serveIn(t, data)
				soon(t, s.ready, "the first server")
				s.stop()
				must(t, soon(t, s.ended, "its end"))
			}
			fill(t, filler)

			s := serveIn(t, data)
			address := soon(t, s.closed, "the server that waits")

			for path, want := range map[string]struct {
				status int
				text   string
			}{
				"/":                      {http.StatusServiceUnavailable, "The disk is full"},
				"/runs/1":                {http.StatusServiceUnavailable, "free some space"},
				"/readyz":                {http.StatusServiceUnavailable, "The disk of this server"},
				"/api/events":            {http.StatusServiceUnavailable, `"message":"The disk of this server`},
				"/healthz":               {http.StatusOK, "ok"},
				"/static/app.css":        {http.StatusOK, "--"},
				"/static/../../etc/fail": {http.StatusNotFound, "no such file"},
			} {
				status, body := get(t, address+path)
				if status != want.status || !strings.Contains(body, want.text) || strings.Contains(body, disk) {
					t.Errorf("GET %s: %d %s, want %d with %q and no path of the machine", path, status, body, want.status, want.text)
				}
			}
			for _, want := range []string{"The disk of " + data + " is full: it has 0 B free, and Dogear needs 8.4 MB to begin.", "Free some space on it", "goes on by itself"} {
				if !strings.Contains(s.out.String(), want) {
					t.Errorf("the terminal says %q, want %q in it", s.out, want)
				}
			}
			must(t, os.Remove(filler))
			address = soon(t, s.ready, "the server, once there is room")
			if status, body := get(t, address+"/readyz"); status != http.StatusOK {
				t.Errorf("/readyz: %d %s, want it ready", status, body)
			}
			if left, err := os.Stat(filepath.Join(data, "room")); err == nil {
				t.Errorf("%v is left", left.Name())
			}
			s.stop()
			must(t, soon(t, s.ended, "its end"))
		})
	}
}

// TestAServerThatWaitsForRoomCanBeStopped: and ends well.
func TestAServerThatWaitsForRoomCanBeStopped(t *testing.T) {
	t.Parallel()
	disk := filepath.Join(t.TempDir(), "disk")
	smallDisk(t, disk, "4m")
	s := serveIn(t, filepath.Join(disk, "data"))
	soon(t, s.closed, "the server that waits")

	s.stop()

	must(t, soon(t, s.ended, "its end"))
}
