package s3_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/bucket"
	"dogear/engine/place"
	"dogear/engine/runner"
	"dogear/engine/runner/python"
	"dogear/engine/runner/shim"
	"dogear/engine/source"
)

// listener is an engine that keeps the log.
type listener struct {
	runner.Host
	log strings.Builder
}

func (l *listener) Started(context.Context, engine.Process) error { return nil }

func (l *listener) Log(_ runner.Level, text string) { l.log.WriteString(text + "\n") }

// TestAScriptIsReadFromABucket: the text at the address when the node starts is
// what runs; without it the attempt says so.
func TestAScriptIsReadFromABucket(t *testing.T) {
	t.Parallel()
	l := startGateway(t)
	l.put("code/job.py", "print('from the bucket')\n")
	dir := t.TempDir()
	shims := &shim.Shims{Dir: filepath.Join(dir, "shims")}
	t.Cleanup(shims.Close)
	r := &python.Runner{
		Files: source.New(place.Roots{Base: dir, Allowed: []string{dir}}, bucket.New(connections{l})),
		Shims: shims, LogLimit: 1 << 20, Keep: filepath.Join(dir, "scripts"),
	}
	now := time.Now()
	run := func(key string) (runner.Result, string) {
		job := &engine.Job{Head: engine.Head{ID: engine.NewID(now), Name: "j"}, JobBody: engine.JobBody{
			Kind: engine.JobPython, Script: &engine.ScriptJob{Address: "s3://" + bucketName + "/" + key, Connection: engine.NewID(now)},
		}}
		id := engine.NewID(now)
		a := runner.Attempt{
			Node: engine.NodeRun{Run: id, Ref: engine.Ref{Kind: engine.KindJob, ID: job.ID}, Start: 1, Attempt: 1},
			Run:  engine.Run{ID: id, Kind: engine.RunJob}, Job: job, Dir: filepath.Join(dir, "runs", string(job.ID)),
		}
		h := &listener{}
		result, err := r.Run(t.Context(), a, h)
		must(t, err)
		return result, h.log.String()
	}

	found, log := run("code/job.py")
	gone, _ := run("code/gone.py")

	if found.State != engine.Succeeded || !strings.Contains(log, "from the bucket") || !strings.Contains(log, "SHA-256") {
		t.Errorf("got %s %q, want the script run:\n%s", found.State, found.Error, log)
	}
	if gone.State != engine.Failed || !strings.Contains(gone.Error, "There is no script at s3://") {
		t.Errorf("without the object: got %s %q", gone.State, gone.Error)
	}
}
