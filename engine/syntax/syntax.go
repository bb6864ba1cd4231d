// Package syntax finds what is wrong in the texts of jobs before a run does: each is
// parsed by what would run it, in a process that runs nothing of it. Where the columns
// of a job's sources are known, a name that is not among them is found, too.
package syntax

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"dogear/engine"
	"dogear/engine/duck"
)

// patience is how long somebody who looks at a job waits for its texts to be
// parsed. What is not parsed by then is taken for right: its run will tell.
const patience = 5 * time.Second

// mostKnown is how many texts are remembered.
const mostKnown = 10_000

// Checker looks at the texts of jobs. It never fails: where a text cannot be looked
// at, as on a machine without Python, nothing is said of it.
type Checker struct {
	Worker duck.Worker
	Python string // as of the runner of scripts
	Dir    string // gets a scratch folder for each question
	Log    *slog.Logger
	// Catalog says what its tables hold; where it is nil, nothing is known of them.
	Catalog Catalog

	mu      sync.Mutex // one question at a time: they would only slow each other
	known   map[key]string
	lacking map[key][]engine.Fault // by job with the columns of its sources
	seenMu  sync.Mutex
	seen    map[string][]engine.Column // by the place of a source, what it had when it was read
}

// key is that of a text in a language. The name of a step is part of what is said.
type key [sha256.Size]byte

func keyOf(language, name, text string) key {
	return sha256.Sum256([]byte(language + "\x00" + name + "\x00" + text))
}

// text is one to be looked at.
type text struct {
	key   key
	field string // as engine.Fault names it
	step  engine.Step
}

// Faults says, for each of jobs, what its first run would fail of. A script that is
// read from an address is not looked at: it is read anew by each run.
func (c *Checker) Faults(ctx context.Context, jobs []*engine.JobBody) [][]engine.Fault {
	ctx, cancel := context.WithTimeout(ctx, patience) // the wait for the others is part of it
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	var steps, scripts []text
	for _, job := range jobs {
		steps, scripts = append(steps, stepsOf(job)...), append(scripts, scriptsOf(job)...)
	}
	c.learn(ctx, "SQL", c.unknown(steps), c.sql)
	c.learn(ctx, "Python", c.unknown(scripts), c.python)
	found := make([][]engine.Fault, len(jobs))
	for i, job := range jobs {
		for _, t := range append(stepsOf(job), scriptsOf(job)...) {
			if message := c.known[t.key]; message != "" {
				found[i] = append(found[i], engine.Fault{Field: t.field, Message: message})
			}
		}
	}
	c.names(ctx, jobs, found)
	return found
}

// stepsOf are the statements of a job. An empty one is a fault of its form.
func stepsOf(job *engine.JobBody) []text {
	var texts []text
	if job.Kind != engine.JobSQL || job.SQL == nil {
		return nil
	}
	for i, step := range job.SQL.Steps {
		if step.SQL != "" {
			texts = append(texts, text{keyOf("sql", step.Name, step.SQL), "step." + strconv.Itoa(i) + ".sql", step})
		}
	}
	return texts
}

// scriptsOf is the script of a job, if it has one of its own.
func scriptsOf(job *engine.JobBody) []text {
	if job.Kind != engine.JobPython || job.Script == nil || job.Script.Address != "" || job.Script.Body == "" {
		return nil
	}
	return []text{{keyOf("python", "", job.Script.Body), "script.body", engine.Step{SQL: job.Script.Body}}}
}

// unknown are those of texts that were not looked at yet.
func (c *Checker) unknown(texts []text) []text {
	var fresh []text
	for _, t := range texts {
		if _, ok := c.known[t.key]; !ok {
			fresh = append(fresh, t)
		}
	}
	return fresh
}

// learn asks about texts and remembers what is wrong with each; "" is nothing.
func (c *Checker) learn(ctx context.Context, language string, texts []text, ask func(ctx context.Context, dir string, texts []text) ([]string, error)) {
	if len(texts) == 0 {
		return
	}
	dir, done, err := c.scratch()
	if err == nil {
		defer done()
		var said []string
		if said, err = ask(ctx, dir, texts); err == nil {
			c.remember(texts, said)
			return
		}
	}
	c.Log.WarnContext(ctx, "the texts of jobs could not be looked at", "language", language, "texts", len(texts), "err", err)
}

// scratch is a folder for one question, and what removes it.
func (c *Checker) scratch() (dir string, done func(), err error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return "", nil, err
	}
	dir, err = os.MkdirTemp(c.Dir, "syntax")
	return dir, func() { _ = os.RemoveAll(dir) }, err // it holds nothing of worth
}

func (c *Checker) remember(texts []text, said []string) {
	if c.known == nil || len(c.known) > mostKnown {
		c.known = map[key]string{} // what is asked about again is soon known again
	}
	for i, t := range texts {
		c.known[t.key] = said[i]
	}
}

// sql has statements parsed by a worker.
func (c *Checker) sql(ctx context.Context, dir string, texts []text) ([]string, error) {
	steps := make([]engine.Step, len(texts))
	for i, t := range texts {
		steps[i] = t.step
	}
	got, err := c.Worker.Do(ctx, duck.Request{Limits: duck.Limits{Threads: 1, Scratch: dir}, Parse: &duck.Parse{Steps: steps}})
	if err != nil {
		return nil, err
	}
	said := make([]string, len(texts))
	for i, failure := range got.Wrong {
		if failure != nil {
			said[i] = failure.Message
		}
	}
	return said, nil
}
