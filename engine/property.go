package engine

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// variable finds the properties that a step of SQL reads.
var variable = regexp.MustCompile(`(?i)\bgetvariable\s*\(\s*'((?:[^']|'')*)'\s*\)`)

// PropertiesOf lists the properties that a job's SQL reads, each once.
func PropertiesOf(job *JobBody) []string {
	if job.SQL == nil {
		return nil
	}
	var names []string
	for _, step := range job.SQL.Steps {
		for _, found := range variable.FindAllStringSubmatch(step.SQL, -1) {
			name := strings.ReplaceAll(found[1], "''", "'")
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Undeclared lists the properties that a job reads and nobody declares: a
// reading of them would be an empty value, and so is refused before it starts.
func Undeclared(job *JobBody, declared map[string]string) []string {
	var missing []string
	for _, name := range PropertiesOf(job) {
		_, argument := job.Arguments[name]
		if _, ok := declared[name]; !ok && !argument {
			missing = append(missing, name)
		}
	}
	return missing
}

var placeholder = regexp.MustCompile(`\{\{[^{}]*\}\}`)

// Moment is what the placeholders of a property or an argument stand for.
type Moment struct {
	Run     ID
	Started time.Time
	Due     time.Time // of the schedule; zero: Started
	Zone    *time.Location
}

// ResolveProperties lays given over defaults and fills in the placeholders of
// the defaults, once, at the start of a run. What the start itself gives is
// taken to the letter, so that no value from outside is ever a template (G05).
func ResolveProperties(defaults, given map[string]string, at Moment) (map[string]string, error) {
	resolved := make(map[string]string, len(defaults)+len(given))
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		value, err := at.fill(name, defaults[name])
		if err != nil {
			return nil, err
		}
		resolved[name] = value
	}
	return ChangeProperties(resolved, given)
}

// ChangeProperties lays change over the properties of a run, to the letter.
func ChangeProperties(properties, change map[string]string) (map[string]string, error) {
	changed := make(map[string]string, len(properties)+len(change))
	maps.Copy(changed, properties)
	maps.Copy(changed, change)
	size := 0
	for name, value := range changed {
		size += len(name) + len(value)
	}
	if size > MaxProperties {
		return nil, Errorf(Invalid, "The properties are %d bytes long together, and a run keeps at most %d. Put what is long into a file and pass its address.", size, MaxProperties)
	}
	return changed, nil
}

// PropertySet is what the properties of a run were from one of its events on.
type PropertySet struct {
	Seq    int64 // of the event; 0 is the start of the run
	At     time.Time
	By     string
	Values map[string]string
}

// MaxProperties bounds the bytes of all names and values of the properties of a
// run, which every job of it is given.
const MaxProperties = 256 << 10

// CheckProperties refuses placeholders that do not exist.
func CheckProperties(defaults map[string]string) error {
	_, err := ResolveProperties(defaults, nil, Moment{Zone: time.UTC})
	return err
}

func (m Moment) fill(property, text string) (string, error) {
	filled, unknown := m.replace(text)
	if unknown != "" {
		return "", noPlaceholder("property", property, unknown)
	}
	return filled, nil
}

func noPlaceholder(what, name, unknown string) error {
	return Errorf(Invalid, "The %s %s uses %s, which does not exist. There are {{due.date}}, {{due.time}}, {{run.id}} and {{run.started}}.", what, name, unknown)
}

// FillArguments fills in the placeholders of the arguments with which a trigger
// starts a job, as those of a default are. One that does not exist stays as it
// is; it is refused where it is written.
func FillArguments(arguments map[string]string, at Moment) map[string]string {
	filled := make(map[string]string, len(arguments))
	for name, value := range arguments {
		filled[name], _ = at.replace(value)
	}
	return filled
}

// HasPlaceholder reports whether one of the arguments may have to be filled in.
func HasPlaceholder(arguments map[string]string) bool {
	for _, value := range arguments {
		if strings.Contains(value, "{{") {
			return true
		}
	}
	return false
}

// checkPlaceholders refuses arguments with a placeholder that does not exist.
func checkPlaceholders(arguments map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if _, unknown := (Moment{Zone: time.UTC}).replace(arguments[name]); unknown != "" {
			return noPlaceholder("argument", name, unknown)
		}
	}
	return nil
}

// replace fills in the placeholders of text; unknown is one that does not exist.
func (m Moment) replace(text string) (filled, unknown string) {
	due := m.Due
	if due.IsZero() {
		due = m.Started
	}
	due = due.In(m.Zone)
	filled = placeholder.ReplaceAllStringFunc(text, func(found string) string {
		switch strings.TrimSpace(found[2 : len(found)-2]) {
		case "due.date":
			return due.Format(time.DateOnly)
		case "due.time":
			return due.Format(time.RFC3339)
		case "run.id":
			return string(m.Run)
		case "run.started":
			return m.Started.UTC().Format(time.RFC3339)
		}
		unknown = found
		return found
	})
	return filled, unknown
}
