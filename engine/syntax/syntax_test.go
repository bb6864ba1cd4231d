package syntax_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"dogear/engine"
	"dogear/engine/duck"
	"dogear/engine/syntax"
)

// TestMain lets this binary be its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(duck.Main(context.Background()))
	}
	os.Exit(m.Run())
}

func sqlJob(statement string) *engine.JobBody {
	return &engine.JobBody{Kind: engine.JobSQL, SQL: &engine.SQLJob{Steps: []engine.Step{{Name: "out", SQL: statement}}}}
}

func script(body string) *engine.JobBody {
	return &engine.JobBody{Kind: engine.JobPython, Script: &engine.ScriptJob{Body: body}}
}

// checker looks at texts with real workers; log is what it could not do.
func checker(t *testing.T) (c *syntax.Checker, log *bytes.Buffer) {
	t.Helper()
	log = &bytes.Buffer{}
	return &syntax.Checker{Dir: filepath.Join(t.TempDir(), "scratch"), Log: slog.New(slog.NewTextHandler(log, nil))}, log
}

func TestATextThatCannotRunIsFoundBeforeItRuns(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace")
	tests := map[string]struct {
		job   *engine.JobBody
		field string // "" where nothing is wrong
		says  string
	}{
		"a select of what nobody knows":    {job: sqlJob("SELECT a, b FROM nowhere WHERE x = 1;")},
		"a property":                       {job: sqlJob("SELECT getvariable('Day') AS day, $$text$$")},
		"a word that is wrong":             {sqlJob("SELECT *\nFORM input"), "step.0.sql", `The step out at line 2, column 6: syntax error at or near "input"`},
		"a letter before it has an umlaut": {sqlJob("SELECT 'ä' ,, 1"), "step.0.sql", "The step out at line 1, column 13: syntax error at or near \",\""},
		"a letter of four bytes":           {sqlJob("SELECT '🦊🦊',\n'🦊' ,, 1"), "step.0.sql", "The step out at line 2, column 6: syntax error at or near \",\""},
		"two statements":                   {sqlJob("SELECT 1; SELECT 2"), "step.0.sql", "must be one SELECT; it holds 2 statements"},
		"a statement that writes":          {sqlJob("COPY (SELECT 1) TO '" + trace + "'"), "step.0.sql", "must be one SELECT"},
		"a file that a select would read":  {job: sqlJob("SELECT * FROM read_text('/etc/passwd')")},
		"a zero byte":                      {sqlJob("SELECT 1\n\x00, 2"), "step.0.sql", "The step out at line 2, column 1: a zero byte, which no SQL may hold. Delete it"},
		"a zero byte that ends it":         {sqlJob("SELECT 1\x00 FORM x ,,"), "step.0.sql", "The step out at line 1, column 9: a zero byte"},
		"another control character":        {sqlJob("SELECT 1\x01, 2"), "step.0.sql", `The step out at line 1, column 9: syntax error at or near "\x01".`},
		"a control character as a text":    {job: sqlJob("SELECT split(a, '\x01') FROM nowhere")},
		"a comment without an end":         {sqlJob("SELECT 1 /* " + strings.Repeat("blah ", 2000)), "step.0.sql", `The step out at line 1, column 10: unterminated /* comment at or near "/* blah`},
		"a text without an end":            {sqlJob("SELECT '" + strings.Repeat("blah ", 2000)), "step.0.sql", "The step out at line 1, column 8: unterminated quoted string"},
		"a long name that is two things":   {script("def f(" + strings.Repeat("x", 8000) + "):\n    global " + strings.Repeat("x", 8000)), "script.body", "The script at line 2, column 5: name 'xxx"},
		"a script":                         {job: script("import sys\n\ndef f(x: int) -> int:\n    return x\n")},
		"a module that is not there":       {job: script("import no_such_module\n")},
		"a bracket that never closes":      {script("x = 1\nprint('ä', (1, 2)\n"), "script.body", "The script at line 2, column 6: '(' was never closed."},
		"a return outside":                 {script("print(1)\nreturn 2\n"), "script.body", "The script at line 2, column 1: 'return' outside function."},
		"a block that is not there":        {script("if True:\nprint(1)\n"), "script.body", "The script at line 2"},
		"a null byte":                      {script("x = 1\x00"), "script.body", "The script"},
		"a script that would write":        {job: script("open('" + trace + "', 'w')\n")},
		"a script elsewhere":               {job: &engine.JobBody{Kind: engine.JobPython, Script: &engine.ScriptJob{Address: "/x.py"}}},
		"an empty step":                    {job: sqlJob("")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, log := checker(t)
			good := script("print(1)")

			got := c.Faults(t.Context(), []*engine.JobBody{good, tt.job})
			again := c.Faults(t.Context(), []*engine.JobBody{tt.job, good})

			if len(got[0]) > 0 || len(again[1]) > 0 || log.Len() > 0 {
				t.Errorf("of a good job: %v, then %v; log %s", got[0], again[1], log)
			}
			if tt.field == "" {
				if len(got[1]) > 0 {
					t.Errorf("got %v, want nothing", got[1])
				}
				return
			}
			if len(got[1]) != 1 || got[1][0].Field != tt.field || !strings.Contains(got[1][0].Message, tt.says) {
				t.Fatalf("got %v, want %s: %s", got[1], tt.field, tt.says)
			}
			if n := len(got[1][0].Message); n > 500 {
				t.Errorf("the message has %d bytes: it should be read in one glance", n)
			}
			if len(again[0]) != 1 || again[0][0] != got[1][0] {
				t.Errorf("then %v, want the same", again[0])
			}
		})
	}
	t.Cleanup(func() {
		if _, err := os.Stat(trace); !os.IsNotExist(err) {
			t.Error("a text was run")
		}
	})
}

// A machine without Python, and one whose workers do not start, hinder nobody.
func TestWhatCannotBeLookedAtIsNotSaidToBeWrong(t *testing.T) {
	t.Parallel()
	c, log := checker(t)
	c.Python, c.Worker.Command = filepath.Join(t.TempDir(), "python3"), []string{"/bin/false"}

	got := c.Faults(t.Context(), []*engine.JobBody{script("print("), sqlJob("SELECT FROM")})

	if len(got) != 2 || len(got[0])+len(got[1]) > 0 {
		t.Errorf("got %v, want nothing of either", got)
	}
	if !strings.Contains(log.String(), "language=SQL") || strings.Contains(log.String(), "language=Python") {
		t.Errorf("log = %s, want the worker alone: no Python is no trouble here", log)
	}
}

// The process that parses has nothing of the server's environment, and a text
// that is too much for it is no fault of the text.
func TestPythonIsAskedWithoutTheServersEnvironment(t *testing.T) {
	t.Setenv("DOGEAR_SECRET_KEY", "secret")
	dir := t.TempDir()
	spy := filepath.Join(dir, "python3")
	if err := os.WriteFile(spy, []byte("#!/bin/sh\nenv > "+dir+"/env\nexec /usr/bin/python3 \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c, log := checker(t)
	c.Python = spy

	got := c.Faults(t.Context(), []*engine.JobBody{script(strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000)), script("x =")})

	if len(got[1]) != 1 || log.Len() > 0 {
		t.Errorf("got %v, log %s, want the second to be wrong", got, log)
	}
	env, err := os.ReadFile(filepath.Join(dir, "env"))
	if err != nil || strings.Contains(string(env), "secret") {
		t.Errorf("env = %s, %v; want no secret in it", env, err)
	}
}

// A Python that hangs keeps everyone who asks meanwhile for one wait, not each for
// the waits of all before.
func TestWhoWaitsForOthersWaitsNoLonger(t *testing.T) {
	t.Parallel()
	c, _ := checker(t)
	c.Python = filepath.Join(t.TempDir(), "python3")
	if err := os.WriteFile(c.Python, []byte("#!/bin/sh\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var waits errgroup.Group
	began := time.Now()
	for range 4 {
		waits.Go(func() error {
			c.Faults(t.Context(), []*engine.JobBody{script("print(")})
			return nil
		})
	}
	_ = waits.Wait()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("four who asked at once waited %s, want about the 5 s of one", took)
	}
}
