// Package portable writes a workflow with its jobs and crawlers as one YAML
// document and reads it back, here or on another server. Everything is called
// by its name: a document holds no ids, and no secret. docs/workflow-yaml.md
// describes it for people.
package portable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"dogear/engine"
)

// Format is the version of the document that this server writes and reads.
const Format = 1

// MaxSize is the most bytes of a document.
const MaxSize = 2 << 20

// Document is a workflow and what it runs.
type Document struct {
	Format   int       `yaml:"dogear"`
	Workflow Workflow  `yaml:"workflow"`
	Jobs     []Job     `yaml:"jobs,omitempty"`
	Crawlers []Crawler `yaml:"crawlers,omitempty"`
}

// Workflow is a workflow by name.
type Workflow struct {
	Name        string            `yaml:"name"`
	Description string            `yaml:"description,omitempty"`
	Properties  map[string]string `yaml:"properties,omitempty"`
	MaxRuns     int               `yaml:"max_runs,omitempty"`
	Timeout     engine.Minutes    `yaml:"timeout_minutes,omitempty"`
	Triggers    []Trigger         `yaml:"triggers,omitempty"`
	// Cards says where jobs and crawlers stand, and which of them are on the
	// canvas though no trigger names them.
	Cards []Card `yaml:"cards,omitempty"`
}

// Node names a job or a crawler; exactly one of the two is set.
type Node struct {
	Job     string `yaml:"job,omitempty"`
	Crawler string `yaml:"crawler,omitempty"`
}

// Place is the upper left corner of a card: x, y.
type Place [2]int

// Card is a job or crawler on the canvas.
type Card struct {
	Node `yaml:",inline"`
	At   *Place `yaml:"at,flow,omitempty"`
}

// Trigger starts jobs and crawlers.
type Trigger struct {
	Name     string             `yaml:"name"`
	Type     engine.TriggerType `yaml:"type"`
	Disabled bool               `yaml:"disabled,omitempty"`
	Schedule string             `yaml:"schedule,omitempty"`
	Zone     string             `yaml:"zone,omitempty"`
	Missed   engine.Missed      `yaml:"missed,omitempty"`
	Overlap  engine.Overlap     `yaml:"overlap,omitempty"`
	Event    *Event             `yaml:"event,omitempty"`
	Logic    engine.Logic       `yaml:"logic,omitempty"`
	When     []Condition        `yaml:"when,omitempty"`
	Start    []Action           `yaml:"start,omitempty"`
	At       *Place             `yaml:"at,flow,omitempty"`
}

// Event is what an event trigger waits for.
type Event struct {
	Source     engine.EventSource `yaml:"source"`
	Size       int                `yaml:"batch_size"`
	Window     int                `yaml:"batch_window_seconds,omitempty"`
	Path       string             `yaml:"path,omitempty"`
	Connection string             `yaml:"connection,omitempty"`
	Queue      string             `yaml:"queue,omitempty"`
	Every      int                `yaml:"every_seconds,omitempty"`
	Settle     int                `yaml:"settle_seconds,omitempty"`
}

// Condition is met when its node ends in State.
type Condition struct {
	Node  `yaml:",inline"`
	State engine.State `yaml:"state"`
}

// Action starts its node.
type Action struct {
	Node      `yaml:",inline"`
	Arguments map[string]string `yaml:"arguments,omitempty"`
	Timeout   engine.Minutes    `yaml:"timeout_minutes,omitempty"`
	Retries   *int              `yaml:"retries,omitempty"`
}

// Crawler is a crawler by name.
type Crawler struct {
	Name        string         `yaml:"name"`
	Description string         `yaml:"description,omitempty"`
	Database    string         `yaml:"database"`
	TablePrefix string         `yaml:"table_prefix,omitempty"`
	MaxTables   int            `yaml:"max_tables,omitempty"`
	Timeout     engine.Minutes `yaml:"timeout_minutes,omitempty"`
	Targets     []Target       `yaml:"targets,omitempty"`
}

// Target is what a crawler looks into.
type Target struct {
	Connection string   `yaml:"connection,omitempty"`
	Path       string   `yaml:"path"`
	Exclude    []string `yaml:"exclude,omitempty"`
}

// Parse reads a document. What it does not know is refused with the line it
// stands in, so that no word is ever ignored.
func Parse(text []byte) (Document, error) {
	var d Document
	if len(text) > MaxSize {
		return d, engine.Errorf(engine.Invalid, "The file is larger than %s. A workflow never is.", engine.Bytes(MaxSize))
	}
	from := yaml.NewDecoder(bytes.NewReader(text))
	from.KnownFields(true)
	if err := from.Decode(&d); errors.Is(err, io.EOF) {
		return d, engine.Errorf(engine.Invalid, "The file is empty. Export a workflow to see what one looks like.")
	} else if err != nil {
		return d, unreadable(err)
	}
	if err := from.Decode(&Document{}); !errors.Is(err, io.EOF) {
		return d, engine.Errorf(engine.Invalid, "The file holds a second document after a line of dashes. Import one workflow at a time.")
	}
	switch {
	case d.Format == 0:
		return d, engine.Errorf(engine.Invalid, "The file does not begin with \"dogear: %d\", so it is no workflow of Dogear's.", Format)
	case d.Format != Format:
		return d, engine.Errorf(engine.Invalid, "The file is in format %d; this server reads format %d.", d.Format, Format)
	}
	return d, nil
}

var (
	unknownKey = regexp.MustCompile(`^(line \d+): field (.*) not found in type portable\.(\w+)$`)
	wrongKind  = regexp.MustCompile("^(line \\d+): cannot unmarshal \\S+ (?:(`.*`) )?into (.*)$")
)

// unreadable puts what the YAML package found into words for people.
func unreadable(err error) error {
	lines := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if wrong, ok := errors.AsType[*yaml.TypeError](err); ok {
		lines = wrong.Errors
	}
	for i, line := range lines {
		if m := unknownKey.FindStringSubmatch(line); m != nil {
			lines[i] = m[1] + ": " + unknown(m[2], m[3])
		} else if m := wrongKind.FindStringSubmatch(line); m != nil {
			lines[i] = strings.Replace(fmt.Sprintf("%s: %s stands where there should be %s", m[1], m[2], belongs(m[3])), ":  stands where", ":", 1)
		}
	}
	return engine.Errorf(engine.Invalid, "The file cannot be read: %s.", strings.Join(lines, "; "))
}

// belongs says what a key holds whose values are of a type of Go.
func belongs(kind string) string {
	switch {
	case strings.HasPrefix(kind, "[]"):
		return "a list, each of its entries after a dash"
	case strings.Contains(kind, "int"):
		return "a whole number"
	case kind == "bool":
		return "true or false"
	case kind == "string":
		return "a text"
	}
	return "keys of its own, each on a line below"
}

// YAML writes d. Equal documents give equal text.
func (d *Document) YAML() ([]byte, error) {
	var text bytes.Buffer
	to := yaml.NewEncoder(&text)
	to.SetIndent(2)
	if err := to.Encode(d); err != nil {
		return nil, fmt.Errorf("write a workflow as YAML: %w", err)
	}
	return text.Bytes(), to.Close()
}
