package engine

import (
	"maps"
	"slices"
	"strings"
)

// ScriptJob is a script that a process of its own runs. Exactly one of Body
// and Address is set.
type ScriptJob struct {
	// Body is the text of the script, kept in the job's version.
	Body string `json:"body,omitempty"`
	// Address is where the text is read each time the job starts: a file in a
	// folder of the server, or an s3:// address.
	Address    string `json:"address,omitempty"`
	Connection ID     `json:"connection,omitempty"` // of an s3:// Address
	// Grace is how long a script that is told to stop may take; 0 is
	// DefaultGrace.
	Grace Seconds `json:"grace,omitempty"`
}

// The bounds of a script.
const (
	DefaultGrace Seconds = 10
	MaxGrace     Seconds = 600
	// MinScriptMB is what an interpreter needs before it has done anything.
	MinScriptMB = 64
	// MaxScript is how many bytes the text of a script may have.
	MaxScript = 4 << 20
	// MaxArgument is how many bytes one argument of a process may have: the
	// system's own bound (MAX_ARG_STRLEN), less the byte that ends it.
	MaxArgument = 128<<10 - 1
	// MaxArguments is how many all of them may have together, as in AWS Glue.
	MaxArguments = 260 << 10
)

// ArgumentsOf writes named values as AWS Glue hands them to a script: each as
// two arguments, --NAME and VALUE, here in the order of the names. A name that
// begins with -- already is taken as it is. What a process could not be given
// is refused.
func ArgumentsOf(values map[string]string) ([]string, error) {
	named := map[string]string{}
	for name, value := range values {
		named["--"+strings.TrimPrefix(name, "--")] = value
	}
	var args []string
	total := 0
	for _, name := range slices.Sorted(maps.Keys(named)) {
		value := named[name]
		switch size := max(len(name), len(value)); {
		case size > MaxArgument:
			return nil, Errorf(Invalid, "The argument %.60s has %d bytes, and one argument of a process may have %d. Write the text into a file or an object, and pass its address.", name, size, MaxArgument)
		case strings.ContainsRune(name+value, 0):
			return nil, Errorf(Invalid, "The argument %.60s holds a zero byte, which no process can be given.", name)
		}
		total += len(name) + len(value)
		args = append(args, name, value)
	}
	if total > MaxArguments {
		return nil, Errorf(Invalid, "The arguments have %d bytes together, and a script is given at most %d. Write the longest into a file or an object, and pass its address.", total, MaxArguments)
	}
	return args, nil
}

// script looks at what only a script job has.
func (f *faults) script(b *JobBody) {
	if b.MemoryMB > 0 && b.MemoryMB < MinScriptMB {
		f.add("memory_mb", "At least %d MB; Python needs some before it does anything.", MinScriptMB)
	}
	if _, err := ArgumentsOf(b.Arguments); err != nil {
		f.add("arguments", "%s", MessageOf(err))
	}
	s := b.Script
	if s == nil {
		f.add("script.body", "Write the script.")
		return
	}
	blank := strings.TrimSpace(s.Body) == ""
	switch {
	case blank && s.Address == "":
		f.add("script.body", "Write the script, or give the address of one.")
	case !blank && s.Address != "":
		f.add("script.address", "The script is written here already. Leave either the text or the address empty.")
	case blank && !strings.HasSuffix(s.Address, ".py"):
		f.add("script.address", "Give the address of one file, with a name that ends with .py.")
	case len(s.Body) > MaxScript:
		f.add("script.body", "The script has %s; at most %s are kept in a job. Put it into a file and give its address.", Bytes(int64(len(s.Body))), Bytes(MaxScript))
	}
	if s.Grace < 0 || s.Grace > MaxGrace {
		f.add("script.grace", "Write a number of seconds from 0 to %d.", MaxGrace)
	}
}
