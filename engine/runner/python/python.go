// Package python runs script jobs: a script in Python, in a process that goes
// on without the server and is found again by the next one.
package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"

	"dogear/engine"
	"dogear/engine/failpoint"
	"dogear/engine/place"
	"dogear/engine/runner"
	"dogear/engine/runner/shim"
)

// Files reads what lies at an address.
type Files interface {
	Peek(ctx context.Context, src engine.Source, limit int) ([]engine.Object, error)
	Head(ctx context.Context, src engine.Source, o engine.Object, n int64) ([]byte, error)
}

// Runner runs script jobs. It fits runner.Runner.
type Runner struct {
	Files  Files
	Shims  *shim.Shims
	Python string // path of the interpreter; empty is the first of usual places
	// LogLimit is how many bytes of each of its two outputs a script may have.
	LogLimit int64
	// Keep is the folder for the texts of scripts that were read from an address,
	// by their SHA-256.
	Keep string
}

// usual are the places of an interpreter. The first python3 of the PATH may be
// a shim of some version manager that takes longer than the script.
var usual = []string{"/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"}

// Interpreter finds Python: the program at path, or where that is empty the first
// of the usual places. It is Invalid where there is none.
func Interpreter(path string) (string, error) {
	places := usual
	if path != "" {
		places = []string{path}
	}
	for _, path := range places {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", engine.Errorf(engine.Invalid, "This server has no Python: there is no program at %s. Install python3 there, or start the server with --python and the path of one.", places[0])
}

// Run runs the script of one attempt, or finds one again that an earlier server
// has started.
func (r *Runner) Run(ctx context.Context, a runner.Attempt, h runner.Host) (runner.Result, error) {
	w := r.workOn(&a)
	w.host = h
	defer r.Shims.Leave(w.marker) // where it has not come to begin
	result, err := w.run(ctx)
	if err != nil && ctx.Err() == nil && engine.CodeOf(err) != engine.Internal && engine.CodeOf(err) != engine.Away {
		return runner.Result{State: engine.Failed, Error: engine.MessageOf(err)}, nil
	}
	return result, err
}

// Reserve reserves a shim for an attempt at a script that needs not be fetched.
func (r *Runner) Reserve(a *runner.Attempt) (engine.Process, bool) {
	if a.Job.Script == nil || a.Job.Script.Address != "" {
		return engine.Process{}, false
	}
	command, err := r.workOn(a).command([]byte(a.Job.Script.Body))
	if err != nil {
		return engine.Process{}, false // whoever starts it meets it again, and says so
	}
	return r.Shims.Reserve(&command)
}

// Return ends a shim that was reserved in vain.
func (r *Runner) Return(key engine.NodeKey) { r.Shims.Return(runner.Marker(key)) }

// work is one attempt under way.
type work struct {
	*Runner
	runner.Attempt
	host     runner.Host
	marker   string
	out, err tail
}

func (r *Runner) workOn(a *runner.Attempt) *work {
	return &work{Runner: r, Attempt: *a, marker: runner.Marker(a.Node.Key())}
}

func (w *work) run(ctx context.Context) (runner.Result, error) {
	child, result, err := w.begin(ctx)
	if child == nil || err != nil {
		return result, err
	}
	defer child.Close()
	w.follow(child)
	return w.watch(ctx, child)
}

// follow is told of the script whose outputs go into the log.
func (w *work) follow(child *shim.Child) {
	w.out = tail{of: child, name: shim.OutFile, level: runner.Out, host: w.host, limit: w.LogLimit}
	w.err = tail{of: child, name: shim.ErrFile, level: runner.Err, host: w.host, limit: w.LogLimit, dir: child.Dir + "/"}
	if w.Left != nil {
		w.out.seen, w.err.seen = w.Left.Logged[runner.Out], w.Left.Logged[runner.Err]
	}
}

// begin finds the script that an earlier server has started, or starts it. It
// returns no child where the attempt has ended already.
func (w *work) begin(ctx context.Context) (*shim.Child, runner.Result, error) {
	if w.Left == nil {
		child, err := w.start(ctx)
		if ctx.Err() != nil && err != nil {
			return nil, runner.Result{State: engine.Stopped}, context.Cause(ctx)
		}
		return child, runner.Result{}, err
	}
	child, err := w.Shims.Find(w.Left.Process, w.Dir, w.marker)
	if err != nil {
		return nil, runner.Result{}, err
	}
	if child.Here() {
		return child, runner.Result{}, nil
	}
	// Another server of this machine had it, and has its files. Of one on another
	// machine nothing is seen here; it has ended its scripts with its lease.
	child.Sweep()
	child.Close()
	return nil, lost(), nil
}

// lost is the end of a script of which nobody knows how it ended.
func lost() runner.Result {
	return runner.Result{State: engine.Failed, Error: "The script was lost: its process is gone and has left no exit code. Its machine went down, another server took its work over, or somebody killed it with everything around it. It may have done a part of its work."}
}

// start starts the script: in the shim that waits for it, or where somebody has
// killed that, in another.
func (w *work) start(ctx context.Context) (*shim.Child, error) {
	if !w.Waits {
		return w.startAnew(ctx)
	}
	w.Waits = false
	child, err := w.Shims.Release(ctx, w.marker)
	if err == nil || ctx.Err() != nil {
		return child, err
	}
	if child, err = w.startAnew(ctx); err == nil {
		w.clean(w.Node.Process)
	}
	return child, err
}

// clean removes the folder of a shim in which nothing has begun, once another is
// on record.
func (w *work) clean(p engine.Process) {
	if err := w.Shims.Clean(p); err != nil {
		w.host.Log(runner.Warn, "a folder could not be removed: "+err.Error())
	}
}

// startAnew starts the script in a shim that is put on record for it.
func (w *work) startAnew(ctx context.Context) (*shim.Child, error) {
	body, err := w.body(ctx)
	if err != nil {
		return nil, err
	}
	command, err := w.command(body)
	if err != nil {
		return nil, err
	}
	return w.Shims.Start(ctx, command, w.host.Started)
}

// command is how the script is run.
func (w *work) command(body []byte) (shim.Command, error) {
	interpreter, err := Interpreter(w.Python)
	if err != nil {
		return shim.Command{}, err
	}
	args, err := engine.ArgumentsOf(w.arguments())
	if err != nil {
		return shim.Command{}, err
	}
	command := shim.Command{
		Program: interpreter, Text: body, Args: args, Env: w.environment(), Marker: w.marker, DataMB: w.Job.MemoryMB,
	}
	if command.DataMB == 0 {
		command.DataMB = engine.DefaultMemoryMB
	}
	return command, nil
}

// arguments are what the script is told, as AWS Glue tells it.
func (w *work) arguments() map[string]string {
	args := map[string]string{}
	maps.Copy(args, w.Properties())
	args["JOB_NAME"], args["JOB_ID"], args["JOB_RUN_ID"] = w.Job.Name, string(w.Job.ID), w.marker
	if w.Attempt.Run.Kind == engine.RunWorkflow {
		args["WORKFLOW_NAME"], args["WORKFLOW_RUN_ID"] = w.Attempt.Run.Name, string(w.Attempt.Run.ID)
	}
	return args
}

// passed are the variables of the server's environment that a script gets.
// What else is there may be a secret.
var passed = []string{"TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}

func (w *work) environment() []string {
	env := []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1",
		"DOGEAR_RUN=" + string(w.Node.Run), "DOGEAR_ATTEMPT=" + strconv.Itoa(w.Node.Attempt), "DOGEAR_FENCE=" + strconv.FormatInt(w.Node.Fence, 10),
	}
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// body is the text of the script. One that was read from an address is kept.
func (w *work) body(ctx context.Context) ([]byte, error) {
	script := w.Job.Script
	if script == nil {
		return nil, engine.Errorf(engine.Invalid, "The job has no script. Write one and publish it.")
	}
	if script.Address == "" {
		return []byte(script.Body), nil
	}
	body, err := w.fetch(ctx, script)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	if err := keep(w.Keep, hash+".py", body); err != nil {
		return nil, err
	}
	w.host.Log(runner.Info, fmt.Sprintf("script %s: %s, SHA-256 %s", script.Address, engine.Bytes(int64(len(body))), hash))
	return body, nil
}

func (w *work) fetch(ctx context.Context, script *engine.ScriptJob) ([]byte, error) {
	gone := engine.Errorf(engine.Invalid, "There is no script at %s. It was moved or deleted, or the address is wrong; correct it in the job.", script.Address)
	src := engine.Source{Name: "script", Connection: script.Connection, Path: script.Address}
	found, err := w.Files.Peek(ctx, src, 1)
	switch {
	case err != nil && !place.IsS3(script.Address) && engine.CodeOf(err) != engine.Forbidden:
		return nil, gone
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, gone
	case found[0].Size > engine.MaxScript:
		return nil, engine.Errorf(engine.Invalid, "The script at %s has %s; one may have %s.", script.Address, engine.Bytes(found[0].Size), engine.Bytes(engine.MaxScript))
	}
	return w.Files.Head(ctx, src, found[0], engine.MaxScript)
}

// keep writes a file whose name says what it holds, whole or not at all.
func keep(dir, name string, body []byte) error {
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep a script: %w", err)
	}
	file, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return fmt.Errorf("keep a script: %w", err)
	}
	_, err = file.Write(body)
	if err = errors.Join(err, file.Close()); err == nil {
		failpoint.Hit("python.keep.before")
		err = os.Rename(file.Name(), path)
		failpoint.Hit("python.keep.after")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep a script: %w", err), os.Remove(file.Name()))
	}
	return nil
}

// Publish has nothing to do: a script writes by itself.
func (r *Runner) Publish(context.Context, engine.Batch, runner.Host) ([]engine.TableChange, error) {
	return nil, nil
}

// Tidy removes the folder in which a script worked, which may fill the disk.
func (r *Runner) Tidy(p engine.Process) { r.Shims.Tidy(p) }

// Reuse keeps the shim of a script that has ended for another.
func (r *Runner) Reuse(p engine.Process) bool { return r.Shims.Reuse(p) }

// Clean removes the folder of a script that has ended.
func (r *Runner) Clean(p engine.Process) error { return r.Shims.Clean(p) }

// KeepOnly removes those of all others.
func (r *Runner) KeepOnly(left []engine.Process) error { return r.Shims.KeepOnly(left) }

// Discard has nothing to do.
func (r *Runner) Discard(context.Context, engine.Batch) error { return nil }
