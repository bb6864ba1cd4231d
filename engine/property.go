package engine

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
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

// placeholder finds those of a text, and those that lack their end.
var placeholder = regexp.MustCompile(`\{\{(?:[^{}]*\}\})?`)

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
	filled, wrong := m.replace(text)
	if wrong != nil {
		return "", wrong.of("property", property)
	}
	return filled, nil
}

// CheckGiven refuses values that are given at a start, or later, and hold a
// placeholder: they are taken to the letter, so nothing would fill it in.
func CheckGiven(properties map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		text := properties[name]
		if at := placeholder.FindStringIndex(text); at != nil {
			return Errorf(Invalid, "The property %s holds %s at character %d. A value that is given is taken to the letter, and nothing would fill it in: write the value that is meant, or put the placeholder among the properties of the workflow.",
				name, shown(text[at[0]:at[1]]), place(text, at[0]))
		}
	}
	return nil
}

// slip is what is wrong with a placeholder, and where.
type slip struct {
	text string // "{{" where it has no end
	at   int    // which character of the whole text it begins with, from 1
}

// of is the sentence about a slip in the property or argument of that name.
func (s *slip) of(what, name string) error {
	if s.text == "{{" {
		return Errorf(Invalid, "The %s %s has {{ at character %d without the }} that ends it. There are {{due.date}}, {{due.time}}, {{run.id}} and {{run.started}}.", what, name, s.at)
	}
	return Errorf(Invalid, "The %s %s uses %s, which does not exist, at character %d. There are {{due.date}}, {{due.time}}, {{run.id}} and {{run.started}}.", what, name, shown(s.text), s.at)
}

// shown is a placeholder as a sentence quotes it: one that was forgotten to be ended
// may be as long as the text.
func shown(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// place is which character of text its byte i begins, from 1.
func place(text string, i int) int { return utf8.RuneCountInString(text[:i]) + 1 }

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
		if _, wrong := (Moment{Zone: time.UTC}).replace(arguments[name]); wrong != nil {
			return wrong.of("argument", name)
		}
	}
	return nil
}

// replace fills in the placeholders of text; wrong is the first that does not exist
// or has no end, and stays as it is.
func (m Moment) replace(text string) (filled string, wrong *slip) {
	var out strings.Builder
	last := 0
	for _, at := range placeholder.FindAllStringIndex(text, -1) {
		found := text[at[0]:at[1]]
		value, known := m.value(strings.TrimSpace(strings.Trim(found, "{}")))
		if !known {
			value = found
			if wrong == nil {
				wrong = &slip{text: found, at: place(text, at[0])}
			}
		}
		out.WriteString(text[last:at[0]] + value)
		last = at[1]
	}
	return out.String() + text[last:], wrong
}

// value is what the placeholder of that name stands for.
func (m Moment) value(name string) (value string, known bool) {
	due := m.Due
	if due.IsZero() {
		due = m.Started
	}
	switch due = due.In(m.Zone); name {
	case "due.date":
		return due.Format(time.DateOnly), true
	case "due.time":
		return due.Format(time.RFC3339), true
	case "run.id":
		return string(m.Run), true
	case "run.started":
		return m.Started.UTC().Format(time.RFC3339), true
	}
	return "", false
}
