package python

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dogear/engine"
	"dogear/engine/runner"
	"dogear/engine/runner/shim"
)

// lookEvery is how long what a script wrote may wait until it is in the log.
const lookEvery = 100 * time.Millisecond

// watch brings what the script writes into the log until it ends, and says how
// it did.
func (w *work) watch(ctx context.Context, child *shim.Child) (runner.Result, error) {
	for !child.Wait(ctx, lookEvery) {
		w.out.copy(false)
		w.err.copy(false)
		if ctx.Err() != nil {
			return w.interrupt(ctx, child)
		}
	}
	code, ok := child.Exit()
	switch {
	case ok: // its shim ends what it has left behind
	case !child.Began() && w.sameBoot():
		// Its shim was never released: nothing was done. The same attempt begins.
		w.Left = nil
		again, _, err := w.begin(ctx)
		if again == nil || err != nil {
			return runner.Result{}, err
		}
		defer again.Close()
		w.clean(child.Process)
		w.follow(again)
		return w.watch(ctx, again)
	default:
		child.Sweep()
	}
	w.out.copy(true)
	w.err.copy(true)
	if !ok {
		return lost(), nil
	}
	if err := child.Refused(); err != nil {
		return runner.Result{}, err
	}
	return w.result(code), nil
}

// sameBoot reports that the machine has not gone down since the process was
// recorded: after that, a file that is not there may have been.
func (w *work) sameBoot() bool {
	if w.Left == nil {
		return true
	}
	self, err := shim.Identify(unix.Getpid())
	return err == nil && self.Boot == w.Left.Process.Boot
}

// interrupt ends the script, or leaves it to the next server where ctx was
// cancelled for that.
func (w *work) interrupt(ctx context.Context, child *shim.Child) (runner.Result, error) {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, runner.ErrFence):
		child.Stop(0)
		return runner.Result{}, cause
	case errors.Is(cause, runner.ErrDrain):
		return runner.Result{}, cause
	}
	if _, over := child.Exit(); !over {
		w.host.Log(runner.Info, fmt.Sprintf("the script is asked to end, and made to after %s", w.grace()))
	}
	child.Stop(w.grace())
	w.out.copy(true)
	w.err.copy(true)
	code, ok := child.Exit()
	result := runner.Result{State: engine.Stopped}
	switch {
	case ok && code == 0:
		result.State = engine.Succeeded // it had ended, or ended well when it was asked to
	case errors.Is(cause, runner.ErrTimeout):
		result.State = engine.TimedOut
	}
	if ok && child.Refused() == nil {
		result.Counts.Exit = &code
	}
	return result, nil
}

func (w *work) grace() time.Duration {
	if w.Job.Script.Grace > 0 {
		return w.Job.Script.Grace.Duration()
	}
	return engine.DefaultGrace.Duration()
}

// result says how a script ended that was not told to.
func (w *work) result(code int) runner.Result {
	result := runner.Result{State: engine.Succeeded, Counts: engine.Counts{Exit: &code}}
	if code == 0 {
		return result
	}
	result.State, result.InLog = engine.Failed, true
	result.Error = "The script ended with " + exitWords(code) + "."
	if last := w.err.last(); last != "" {
		result.Error += "\n" + last
	}
	if strings.Contains(result.Error, "MemoryError") {
		result.Error += fmt.Sprintf("\nThe job may use %d MB of memory; give it more, or let it hold less at once.", memory(w.Job))
	}
	return result
}

func memory(job *engine.Job) int {
	if job.MemoryMB > 0 {
		return job.MemoryMB
	}
	return engine.DefaultMemoryMB
}

// signalBase is what a shell adds to the number of the signal that ended a
// process.
const signalBase = 128

// exitWords names an exit code, and the signal that it stands for.
func exitWords(code int) string {
	text := fmt.Sprintf("exit code %d", code)
	if name := unix.SignalName(syscall.Signal(code - signalBase)); code > signalBase && name != "" {
		text += ", by the signal " + name
		if name == "SIGKILL" {
			text += ": somebody killed it, or the system did for want of memory"
		}
	}
	return text
}
