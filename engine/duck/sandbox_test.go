package duck

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

// statements are the lines of a case.
func statements(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	must(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestG07SQLReachesNothingButItsInputs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	canary := b.file("canary.txt", "canary")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	called := make(chan struct{}, 1)
	go func() {
		if c, err := listener.Accept(); err == nil {
			c.Close()
			called <- struct{}{}
		}
	}()
	attacks := append(statements(t, "G07/attack.sql"),
		"SELECT * FROM read_text('"+canary.Path+"')",
		"SELECT * FROM '"+canary.Path+"'",
		"SELECT * FROM read_csv('"+filepath.Dir(canary.Path)+"/*')",
		"SELECT * FROM 'http://"+listener.Addr().String()+"/x.csv'",
		"SELECT 1) ; COPY (SELECT 1) TO '"+b.dir+"/in/out.csv' ; (SELECT 2",
	)
	in := csvInput("a", b.file("a.csv", "id,n\n1,2\n"))
	for _, sql := range attacks {
		result, err := b.query(sql, in)

		if strings.Contains(sql, "duckdb_secrets") {
			if err == nil && len(result.Table.Rows) > 0 {
				t.Errorf("%s: got %v, want no secret", sql, result.Table.Rows)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s: got %s, want a refusal", sql, lines(result.Table))
			continue
		}
		if kind := failure(t, err).Kind; kind != FailRefused && kind != FailSQL {
			t.Errorf("%s: got %v, want a refusal", sql, err)
		}
	}
	select {
	case <-called:
		t.Error("a statement reached the listener")
	default:
	}
	if _, err := os.Stat(filepath.Join(b.dir, "in", "out.csv")); err == nil {
		t.Error("a statement wrote a file")
	}
}

func TestG08OnlyNamedInputsExistWhateverTheTextSays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := csvInput("a", b.file("a.csv", "id,n\n1,2\n"))
	for _, sql := range statements(t, "G08/bypass.sql") {
		_, err := b.query(sql, in)

		if err == nil {
			t.Errorf("%s: got rows, want an error of the engine", sql)
		}
	}
	if got := b.rows("SELECT id FROM a", in); got != "1" {
		t.Errorf("the allowed table: got %s, want 1", got)
	}
}

func TestTheWorkerHasNoneOfTheServersEnvironment(t *testing.T) {
	t.Setenv("DOGEAR_TEST_SECRET", "secret")
	b := newBench(t)

	_, err := b.query("SELECT getenv('DOGEAR_TEST_SECRET')")
	p, spawned := b.spawn(t.Context(), b.stage("scratch"))
	must(t, spawned)
	environment, read := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/environ")
	p.kill()
	p.close()
	must(t, read)

	if err == nil || strings.Contains(string(environment), "secret") {
		t.Errorf("got %v and the environment %q, want neither function nor secret", err, environment)
	}
}

func TestWrongSQLIsNamedWithStepLineAndColumn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := csvInput("a", b.file("a.csv", "id,n\n1,2\n"))
	tests := []struct {
		sql          string
		line, column int
		text         string
	}{
		{"SELECT id,\n  nope\nFROM a", 2, 3, "nope"},
		{"SELECT id\nFRO a WHERE", 2, 5, "syntax error"},
		{"SELECT é, 'ü', nope FROM (SELECT id AS é FROM a)", 1, 16, "nope"},
		{"SELECT * FROM missing", 1, 15, "missing"},
		{"DELETE FROM a", 0, 0, "one SELECT"},
		{"SELECT 1; SELECT 2", 0, 0, "2 statements"},
		{"  ", 0, 0, "empty"},
	}
	for _, test := range tests {
		_, err := b.Do(t.Context(), Request{Limits: b.limits(), Describe: &Describe{
			Inputs: []Input{in}, Steps: []engine.Step{{Name: "clean", SQL: test.sql}},
		}})

		f := failure(t, err)
		if f.Kind != FailSQL || f.Step != "clean" || f.Line != test.line || f.Column != test.column || !strings.Contains(f.Message, test.text) {
			t.Errorf("%q: got line %d, column %d of %s: %s; want line %d, column %d and %q",
				test.sql, f.Line, f.Column, f.Step, f.Message, test.line, test.column, test.text)
		}
	}
}

func TestPropertiesAreVariables(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	got, err := b.Do(t.Context(), Request{Limits: b.limits(), Query: &Query{
		SQL: "SELECT getvariable('TargetDate') || getvariable('it''s')", MaxRows: 1,
		Properties: map[string]string{"TargetDate": "2026-11-28", "it's": `"x"`},
	}})
	must(t, err)

	if rows := lines(got.Table); rows != `2026-11-28"x"` {
		t.Errorf("got %s", rows)
	}
}

func TestCancelEndsAWorkerWithinASecond(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by the test")
	pids := make(chan int, 1)
	b.Started = func(_ context.Context, pid int) error { pids <- pid; return nil }
	ended := make(chan error, 1)
	go func() {
		_, err := b.Do(ctx, Request{Limits: b.limits(), Query: &Query{
			SQL: "SELECT count(*) FROM range(100000000) a JOIN range(100000000) b ON a.range % 7 = b.range % 5", MaxRows: 1,
		}})
		ended <- err
	}()
	<-pids
	begun := make(chan struct{})
	time.AfterFunc(500*time.Millisecond, func() { close(begun) })
	<-begun

	asked := time.Now()
	cancel(stopped)
	err := <-ended

	if took := time.Since(asked); took > 10*time.Second { // the query takes hours
		t.Errorf("it took %v, want it ended at once (10 s on a busy machine)", took)
	}
	if !errors.Is(err, stopped) {
		t.Errorf("got %v, want the cause %v", err, stopped)
	}
}

func TestAWorkerDiesWithItsParent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, err := b.spawn(t.Context(), b.stage("scratch"))
	must(t, err)
	defer p.close()
	must(t, p.send(Request{Limits: b.limits(), Query: &Query{
		SQL: "SELECT count(*) FROM range(1000000000) a, range(1000000) b WHERE a.range + b.range < 0", MaxRows: 1,
	}}))

	must(t, p.alive.Close()) // as the system does when the parent ends

	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitUntouched {
			t.Errorf("got %v, want exit code %d", err, exitUntouched)
		}
	case <-time.After(30 * time.Second):
		t.Error("it still runs")
	}
}

func TestProgressIsReported(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	highest := 0.0
	b.Progress = func(p Progress) { highest = max(highest, p.Percent) }

	var text strings.Builder
	text.WriteString("id,name\n")
	for i := range 600_000 {
		text.WriteString(strconv.Itoa(i) + ",a name long enough to take some time to read\n")
	}
	in := csvInput("s", b.file("big.csv", text.String()))

	_, err := b.run(Run{
		Inputs:  []Input{in},
		Steps:   []engine.Step{{Name: "x", SQL: "SELECT id, sha256(sha256(sha256(sha256(name)))) AS h FROM s"}},
		Outputs: []Output{{Sink: engine.Sink{From: "x"}, Stage: b.stage("stage")}},
	})
	must(t, err)

	if highest <= 0 {
		t.Errorf("got %v %%, want some progress; the driver may hide its connection differently now", highest)
	}
}

func TestAWorkerThatIsNotReleasedDoesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	refusal := errors.New("could not be recorded")
	b.Started = func(context.Context, int) error { return refusal }
	stage := b.stage("stage")

	_, err := b.run(Run{Steps: []engine.Step{{Name: "s", SQL: "SELECT 1 AS a"}}, Outputs: []Output{{Sink: engine.Sink{From: "s"}, Stage: stage}}})

	entries, read := os.ReadDir(stage)
	must(t, read)
	if !errors.Is(err, refusal) || len(entries) != 0 {
		t.Errorf("got %v and %d files, want %v and none", err, len(entries), refusal)
	}
}

func TestAKilledWorkerIsSaid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Started = func(_ context.Context, pid int) error {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			return err
		}
		// It is gone before its request is sent, and still waited for by Do.
		return unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}

	_, err := b.query("SELECT 1")

	if f := failure(t, err); f.Kind != FailCrash || !strings.Contains(engine.MessageOf(err), "killed") {
		t.Errorf("got %v, want that the worker was killed", err)
	}
}

func TestMemoryBeyondTheGrantIsAClearFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	_, err := b.query("SELECT length(string_agg(repeat(range::VARCHAR, 50), ',')) FROM range(40000000)")

	if f := failure(t, err); f.Kind != FailMemory || engine.CodeOf(err) != engine.LimitHit {
		t.Errorf("got %v, want that memory was too small", err)
	}
}

func TestQueriesTellWhetherThereAreMoreRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)

	got, err := b.Do(t.Context(), Request{Limits: b.limits(), Query: &Query{SQL: "SELECT range FROM range(10) ORDER BY range DESC", MaxRows: 3}})
	must(t, err)

	if rows := lines(got.Table); rows != "9\n8\n7" || !got.Table.More {
		t.Errorf("got %q, more %v; want 9, 8, 7 and more", rows, got.Table.More)
	}
}
