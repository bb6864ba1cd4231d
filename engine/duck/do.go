package duck

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"dogear/engine"
	"dogear/engine/failpoint"
)

// killAfter is how long a worker has to end after it was asked to.
const killAfter = 10 * time.Second

// Worker says how a worker process is started and listened to.
type Worker struct {
	// Command starts a worker: the program and its arguments. Empty is this
	// binary with the argument "worker".
	Command []string
	// Started is called with the pid before the worker may do anything. An
	// error ends the worker untouched. Nil starts it at once.
	Started func(ctx context.Context, pid int) error
	// Progress and Notice get what the worker says meanwhile; nil drops it.
	Progress func(Progress)
	Notice   func(Notice)
}

// Do runs one request in a new worker process. What the request did wrong
// comes back as an engine.Error that wraps a Failure. When ctx is cancelled
// the worker is interrupted, and killed if it does not end.
func (w Worker) Do(ctx context.Context, req Request) (Result, error) {
	if err := os.MkdirAll(req.Limits.Scratch, 0o700); err != nil {
		return Result{}, fmt.Errorf("make the worker's scratch folder: %w", err)
	}
	p, err := w.spawn(ctx, req.Limits.Scratch)
	if ctx.Err() != nil && err != nil {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	defer p.close()
	if w.Started != nil {
		if err := w.Started(ctx, p.cmd.Process.Pid); err != nil {
			p.kill()
			return Result{}, err
		}
	}
	// A worker that has ended reads nothing; how it ended says why.
	if err := p.send(req); err != nil && !errors.Is(err, syscall.EPIPE) && ctx.Err() == nil {
		p.kill()
		return Result{}, p.crash(err)
	}
	last := w.listen(p.events)
	ended := p.cmd.Wait()
	switch {
	case ctx.Err() != nil && last.Result == nil:
		return Result{}, context.Cause(ctx)
	case last.Failure != nil:
		return Result{}, explain(last.Failure)
	case last.Result == nil:
		return Result{}, p.crash(ended)
	}
	return *last.Result, nil
}

// explain makes a Failure of the worker an error that people may read.
func explain(f *Failure) error {
	code := engine.Invalid
	switch f.Kind {
	case FailRefused:
		code = engine.Forbidden
	case FailMemory:
		code = engine.LimitHit
	case FailInternal:
		return f
	case FailSQL, FailUnreadable, FailData, FailCrash:
	}
	return &engine.Error{Code: code, Message: f.Message, Err: f}
}

// listen reads events until the worker closes them, and returns the last.
func (w Worker) listen(r io.Reader) Event {
	var last Event
	for d := json.NewDecoder(bufio.NewReader(r)); ; {
		var e Event
		if d.Decode(&e) != nil {
			return last
		}
		switch {
		case e.Progress != nil && w.Progress != nil:
			w.Progress(*e.Progress)
		case e.Notice != nil && w.Notice != nil:
			w.Notice(*e.Notice)
		case e.Result != nil || e.Failure != nil:
			last = e
		}
	}
}

// process is a worker as its parent sees it.
type process struct {
	cmd     *exec.Cmd
	request *os.File
	events  *os.File
	alive   io.WriteCloser // the worker's stdin: it ends when this closes
	log     tail
}

func (w Worker) spawn(ctx context.Context, dir string) (*process, error) {
	command := w.Command
	if len(command) == 0 {
		command = []string{"/proc/self/exe", "worker"}
	}
	requestRead, requestWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the worker's request pipe: %w", err)
	}
	defer requestRead.Close()
	eventRead, eventWrite, err := os.Pipe()
	if err != nil {
		requestWrite.Close()
		return nil, fmt.Errorf("make the worker's event pipe: %w", err)
	}
	defer eventWrite.Close()
	p := &process{request: requestWrite, events: eventRead}
	p.cmd = exec.CommandContext(ctx, command[0], command[1:]...)
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = killAfter
	p.cmd.Dir = dir
	// Nothing of the server's environment reaches the worker: it may hold secrets.
	p.cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "LANG=C.UTF-8", "TZ=UTC", workerEnv + "=1"}
	p.cmd.ExtraFiles = []*os.File{requestRead, eventWrite}
	p.cmd.Stderr = &p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.alive, err = p.cmd.StdinPipe(); err == nil {
		failpoint.Hit("duck.start.before")
		err = p.cmd.Start()
		failpoint.Hit("duck.start.after")
	}
	if err != nil {
		requestWrite.Close()
		eventRead.Close()
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	return p, nil
}

// workerEnv marks the environment of a worker; tests find out by it what they are.
const workerEnv = "DOGEAR_WORKER"

// send gives the worker its request. Until then it does nothing.
func (p *process) send(req Request) error {
	failpoint.Hit("duck.release.before")
	err := json.NewEncoder(p.request).Encode(req)
	failpoint.Hit("duck.release.after")
	if closed := p.request.Close(); err == nil {
		err = closed
	}
	return err
}

// kill ends the worker at once. It starts no processes of its own.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended just now
	_ = p.cmd.Wait()         // it was killed; how it ended says nothing
}

func (p *process) close() {
	p.request.Close()
	p.events.Close()
	p.alive.Close()
}

// crash describes a worker that ended without an answer.
func (p *process) crash(ended error) error {
	why := "it gave no answer"
	if exit, ok := errors.AsType[*exec.ExitError](ended); ok {
		status, _ := exit.Sys().(syscall.WaitStatus)
		switch {
		case status.Signaled() && status.Signal() == syscall.SIGKILL:
			why = "it was killed, perhaps because the machine ran out of memory"
		case status.Signaled():
			why = "it got the signal " + status.Signal().String()
		default:
			why = exit.Error()
		}
	}
	return &engine.Error{
		Code:    engine.Invalid,
		Message: fmt.Sprintf("The worker process ended before its work was done: %s. Nothing was published.", why),
		Err:     fmt.Errorf("worker: %w: %s", errors.Join(ended, &Failure{Kind: FailCrash, Message: why}), p.log.String()),
	}
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

const maxTail = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if extra := len(t.text) - maxTail; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.text) }
