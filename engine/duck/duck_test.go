package duck

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dogear/engine"
)

// TestMain lets this binary be its own worker, so that the tests run real
// worker processes.
func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) == "1" {
		os.Exit(Main(context.Background()))
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bench is a worker under test, and what it said.
type bench struct {
	t   *testing.T
	dir string
	Worker

	mu      sync.Mutex
	notices []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	self, err := os.Executable()
	must(t, err)
	b := &bench{t: t, dir: dir}
	b.Command = []string{self}
	b.Notice = func(n Notice) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.notices = append(b.notices, n.Text)
	}
	return b
}

func (b *bench) limits() Limits {
	return Limits{Threads: 2, MemoryMB: 1024, Scratch: filepath.Join(b.dir, "scratch")}
}

// file writes a file of an input and returns it.
func (b *bench) file(key, text string) File {
	b.t.Helper()
	path := filepath.Join(b.dir, "in", key)
	must(b.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(b.t, os.WriteFile(path, []byte(text), 0o644))
	return File{Key: key, Path: path}
}

// testdata returns files of a case.
func testdata(t *testing.T, keys ...string) []File {
	t.Helper()
	var files []File
	for _, key := range keys {
		path, err := filepath.Abs(filepath.Join("testdata", key))
		must(t, err)
		files = append(files, File{Key: key, Path: path})
	}
	return files
}

func csvInput(name string, files ...File) Input {
	return Input{Name: name, Format: engine.CSV, Files: files, Root: root(files)}
}

// root is the folder that the keys of files are relative to.
func root(files []File) string {
	if len(files) == 0 {
		return "/"
	}
	return strings.TrimSuffix(files[0].Path, "/"+files[0].Key)
}

func (b *bench) query(sql string, inputs ...Input) (Result, error) {
	return b.Do(b.t.Context(), Request{Limits: b.limits(), Query: &Query{Inputs: inputs, SQL: sql, MaxRows: 100}})
}

// rows runs a query and writes its rows as lines.
func (b *bench) rows(sql string, inputs ...Input) string {
	b.t.Helper()
	result, err := b.query(sql, inputs...)
	must(b.t, err)
	return lines(result.Table)
}

func lines(table *Table) string {
	var out []string
	for _, row := range table.Rows {
		var cells []string
		for _, cell := range row {
			if cell == nil {
				cells = append(cells, "NULL")
				continue
			}
			cells = append(cells, *cell)
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return strings.Join(out, "\n")
}

// stage makes an empty stage.
func (b *bench) stage(name string) string {
	b.t.Helper()
	dir := filepath.Join(b.dir, name)
	must(b.t, os.MkdirAll(dir, 0o755))
	return dir
}

func (b *bench) run(run Run) (Result, error) {
	return b.Do(b.t.Context(), Request{Limits: b.limits(), Run: &run})
}

// staged are the files of a written output as an input, by which it is read again.
func staged(stage string, w Written) Input {
	in := Input{Name: "out", Format: engine.Parquet, Root: stage}
	for _, f := range w.Files {
		in.Files = append(in.Files, File{Key: f.Path, Path: filepath.Join(stage, f.Path)})
	}
	return in
}

// failure is the Failure that err wraps.
func failure(t *testing.T, err error) *Failure {
	t.Helper()
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		t.Fatalf("got %v, want a failure of the worker", err)
	}
	return f
}

func (b *bench) said(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(strings.Join(b.notices, "\n"), text)
}
