package shim

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"dogear/engine"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "shim" {
		os.Exit(Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func held(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	return exec.Command(self, append([]string{"shim"}, args...)...)
}

func TestAProcessWaitsUntilItIsRecorded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "touched")

	child, err := Start(t.Context(), held(t, "touch", file), func(_ context.Context, p engine.Process) error {
		if _, err := os.Stat(file); err == nil {
			t.Error("the process worked before it was recorded")
		}
		if !(Processes{}).Alive(p) {
			t.Errorf("%+v is not alive while it waits", p)
		}
		return nil
	})
	must(t, err)
	must(t, child.Wait(t.Context()))

	if _, err := os.Stat(file); err != nil {
		t.Errorf("after its release: got %v, want the file", err)
	}
	if (Processes{}).Alive(child.Process) {
		t.Error("it is called alive after its end")
	}
}

func TestAProcessThatCannotBeRecordedDoesNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "touched")
	full := errors.New("the disk is full")

	_, err := Start(t.Context(), held(t, "touch", file), func(context.Context, engine.Process) error { return full })

	if !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the process worked although it was never released")
	}
}

func TestAnotherProcessWithTheSamePidIsNotTheSame(t *testing.T) {
	t.Parallel()
	p, err := Identify(os.Getpid())
	must(t, err)
	earlier, otherBoot := p, p
	earlier.Started--
	otherBoot.Boot = "another"

	for _, q := range []engine.Process{earlier, otherBoot, {}} {
		if (Processes{}).Alive(q) {
			t.Errorf("%+v is called alive, want only %+v", q, p)
		}
	}
	if !(Processes{}).Alive(p) {
		t.Errorf("%+v is this process and is called dead", p)
	}
}

func TestCancelEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	child, err := Start(t.Context(), held(t, "sh", "-c", "sleep 60 & wait"), func(context.Context, engine.Process) error { return nil })
	must(t, err)

	asked := time.Now()
	cancel(stopped)
	err = child.Wait(ctx)

	if !errors.Is(err, stopped) || time.Since(asked) > 5*time.Second {
		t.Errorf("got %v after %v, want %v at once", err, time.Since(asked), stopped)
	}
}
