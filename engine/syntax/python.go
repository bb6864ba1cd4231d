package syntax

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"dogear/engine/duck"
	"dogear/engine/runner/python"
)

// program compiles scripts and runs none of them.
//
//go:embed parse.py
var program string

// complaint is what Python says of a script.
type complaint struct {
	Message string `json:"message"` // "" where nothing is wrong
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

// words is the complaint as a sentence, as DuckDB's are.
func (p complaint) words() string {
	if p.Message == "" {
		return ""
	}
	where := "The script"
	if p.Line > 0 {
		where += fmt.Sprintf(" at line %d", p.Line)
		if p.Column > 0 {
			where += fmt.Sprintf(", column %d", p.Column)
		}
	}
	return where + ": " + duck.Brief(strings.TrimRight(p.Message, ".")) + "."
}

// python has scripts compiled by the Python that would run them. It knows no
// variable of the server, and looks at no module but those it comes with. Where
// there is no Python nothing is wrong: a job says so when it starts.
func (c *Checker) python(ctx context.Context, dir string, texts []text) ([]string, error) {
	said := make([]string, len(texts))
	interpreter, err := python.Interpreter(c.Python)
	if err != nil {
		return said, nil //nolint:nilerr // as it says above
	}
	scripts := make([]string, len(texts))
	for i, t := range texts {
		scripts[i] = t.step.SQL
	}
	input, err := json.Marshal(scripts)
	if err != nil {
		return nil, fmt.Errorf("write scripts down: %w", err)
	}
	cmd := exec.CommandContext(ctx, interpreter, "-I", "-S", "-B", "-W", "ignore", "-c", program)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"}, time.Second
	cmd.Stdin = bytes.NewReader(input)
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", interpreter, err)
	}
	var complaints []complaint
	if err := json.Unmarshal(output, &complaints); err != nil || len(complaints) != len(texts) {
		return nil, fmt.Errorf("read what %s says of %d scripts: %w", interpreter, len(texts), err)
	}
	for i, p := range complaints {
		said[i] = p.words()
	}
	return said, nil
}
