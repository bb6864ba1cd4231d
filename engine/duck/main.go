package duck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// The exit codes of a worker. A worker that has sent its last event exits
// with 0, whatever that event says.
const (
	exitUntouched = 3 // the parent went, or never sent a request
	exitBroken    = 4 // the answer could not be sent
	exitMemory    = 5 // it used more memory than it has
)

// Main is the whole of a worker process. It returns the exit code.
func Main(ctx context.Context) int {
	events := &speaker{out: os.NewFile(eventFD, "events")}
	var req Request
	// Reading the request is the start handshake: the parent sends it only
	// after it has recorded this process.
	if err := json.NewDecoder(os.NewFile(requestFD, "request")).Decode(&req); err != nil {
		return exitUntouched
	}
	go dieWithParent()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	// If the machine runs out of memory, this process goes before the server.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("900"), 0) // not everywhere allowed

	var result Result
	err := boundMemory(req.Limits, func() {
		_ = events.say(Event{Failure: needsMemory(req.Limits)}) // it ends either way
		os.Exit(exitMemory)
	})
	if err == nil {
		result, err = work(ctx, req, events)
	}
	last := Event{Result: &result}
	if err != nil {
		last = Event{Failure: asFailure(ctx, err, req.Limits)}
	}
	if err := events.say(last); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		return exitBroken
	}
	return 0
}

// dieWithParent ends the process when the parent's end of stdin closes.
func dieWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin) // any end is the end
	os.Exit(exitUntouched)
}

// speaker writes events, from more than one goroutine.
type speaker struct {
	mu  sync.Mutex
	out io.Writer
}

func (s *speaker) say(e Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := json.NewEncoder(s.out).Encode(e); err != nil {
		return fmt.Errorf("send an event: %w", err)
	}
	return nil
}

// note sends a notice. A parent that no longer listens ends us by stdin.
func (s *speaker) note(warn bool, format string, args ...any) {
	_ = s.say(Event{Notice: &Notice{Warn: warn, Text: fmt.Sprintf(format, args...)}})
}

func work(ctx context.Context, req Request, events *speaker) (Result, error) {
	if req.Parse != nil {
		return runParse(ctx, req.Limits, *req.Parse, events)
	}
	if req.Bind != nil {
		return runBind(ctx, req.Limits, *req.Bind, events)
	}
	inputs := req.inputs()
	if inputs == nil {
		return Result{}, errors.New("the request names no task")
	}
	var landed []Landing
	var err error
	if *inputs, landed, err = land(ctx, req.Limits, *inputs, events); err != nil {
		return Result{}, err
	}
	var result Result
	switch {
	case req.Run != nil:
		result, err = runJob(ctx, req.Limits, *req.Run, events)
	case req.Query != nil:
		result, err = runQuery(ctx, req.Limits, *req.Query, events)
	default:
		result, err = runDescribe(ctx, req.Limits, *req.Describe, events)
	}
	result.Landed = landed
	return result, err
}

// inputs are those of the task of r; nil where it names none.
func (r *Request) inputs() *[]Input {
	switch {
	case r.Run != nil:
		return &r.Run.Inputs
	case r.Query != nil:
		return &r.Query.Inputs
	case r.Describe != nil:
		return &r.Describe.Inputs
	}
	return nil
}
