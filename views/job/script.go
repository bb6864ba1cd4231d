package job

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"dogear/engine"
)

// Whole is the body of a job with the part that its kind has, so that a form
// can show it.
func Whole(body engine.JobBody) engine.JobBody {
	switch {
	case body.Kind == engine.JobPython && body.Script == nil:
		body.Script = &engine.ScriptJob{}
	case body.Kind != engine.JobPython && body.SQL == nil:
		body.SQL = &engine.SQLJob{}
	}
	return body
}

// readScript reads what was typed of a script.
func (f *Fields) readScript(values url.Values) {
	script := engine.ScriptJob{}
	if f.Body.Script != nil {
		script = *f.Body.Script
	}
	script.Body = strings.ReplaceAll(values.Get("script.body"), "\r\n", "\n")
	script.Address = strings.TrimSpace(values.Get("script.address"))
	script.Connection = engine.ID(values.Get("script.connection"))
	script.Grace = engine.Seconds(f.number(values, "script.grace", "seconds"))
	f.Body.Script = &script
	f.Typed["arguments"] = values.Get("arguments") // space at its end is part of a value
	arguments, err := ReadPairs(values.Get("arguments"), "argument")
	if err != nil {
		f.Errors["arguments"] = engine.MessageOf(err)
		return
	}
	f.Body.Arguments = arguments
}

// PairsText writes names with their values, one a line.
func PairsText(pairs map[string]string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		text.WriteString(name + "=" + pairs[name] + "\n")
	}
	return text.String()
}

// ReadPairs reads what PairsText writes; what says what one of them is.
func ReadPairs(text, what string) (map[string]string, error) {
	pairs := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, engine.Errorf(engine.Invalid, "Write each %s as Name=value; this line is not: %s", what, line)
		}
		pairs[name] = value
	}
	return pairs, nil
}

// Arguments are those of the job as the form shows them.
func (f *Fields) Arguments() string {
	return f.Typed.Text("arguments", PairsText(f.Body.Arguments))
}
