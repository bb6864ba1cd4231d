package python

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"dogear/engine"
	"dogear/engine/failpoint"
	"dogear/engine/runner"
	"dogear/engine/runner/shim"
)

const (
	piece   = 64 << 10 // bytes that are read at once
	maxLine = 16 << 10 // bytes of one line of the log; a longer one goes on in the next
)

// tail copies a file that grows into the log, a line of the one to a line of
// the other. How far it has come it need not note down: the log has as many
// lines of its level as were copied.
type tail struct {
	of    *shim.Child
	name  string // of the file
	level runner.Level
	host  runner.Host
	limit int64
	// dir is the attempt's folder, which is left out of paths in tracebacks.
	dir string

	seen runner.Logged // what the log had already when this tail began
	at   int64         // of the file, up to which lines are copied
	full bool
	// changed is when the file that was last looked at was written, and before what stands
	// in it just before at: by these is seen that it was emptied and has grown as far again.
	changed time.Time
	before  []byte
}

// lastSeen is how many bytes of a file are looked at again.
const lastSeen = 64

// copy copies the lines that are whole, and with all the rest too.
func (t *tail) copy(all bool) {
	info, err := os.Lstat(filepath.Join(t.of.Dir, t.name))
	if err != nil || info.Size() == t.at && (t.at == 0 || info.ModTime().Equal(t.changed)) {
		return // nothing was written yet, or nothing more
	}
	file, err := t.of.Output(t.name)
	if err != nil {
		if all { // nobody looks once more
			t.host.Log(runner.Warn, fmt.Sprintf("what the script has written to std%s is not here, or not all of it, because it cannot be read: %v", t.name, cause(err)))
		}
		return
	}
	defer file.Close()
	t.changed = info.ModTime()
	size := t.cut(file)
	if size < t.at || !t.stands(file) {
		t.begin("missing")
	}
	t.read(file, size, all)
	if t.seen.Lines > 0 { // more than there are: it was emptied beside an earlier server
		t.begin("missing or stand twice")
		t.read(file, size, all)
	}
}

// read copies the lines that are whole, up to a size of the file.
func (t *tail) read(file *os.File, size int64, all bool) {
	buffer := make([]byte, piece)
	for {
		n, _ := file.ReadAt(buffer[:min(piece, size-t.at)], t.at)
		if n == 0 {
			return
		}
		ended := all && t.at+int64(n) == size
		used := t.take(buffer[:n], ended)
		t.at += int64(used)
		t.before = append(t.before, buffer[:used]...)
		t.before = bytes.Clone(t.before[max(0, len(t.before)-lastSeen):])
		if used == 0 || n < piece && !ended {
			return
		}
	}
}

// stands reports whether what was copied last still stands in the file.
func (t *tail) stands(file *os.File) bool {
	now := make([]byte, len(t.before))
	n, _ := file.ReadAt(now, t.at-int64(len(now)))
	return bytes.Equal(now[:n], t.before)
}

// cause is an error without the path of a folder of the server.
func cause(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return of.Err
	}
	return err
}

// begin goes to the start of a file that the script has emptied.
func (t *tail) begin(lines string) {
	t.at, t.seen.Lines, t.before = 0, 0, nil
	t.host.Log(runner.Warn, fmt.Sprintf("the script has emptied the file that takes what it writes, as > /dev/std%s does in a shell; lines that it wrote just before may be %s here. Write >&%d instead.", t.name, lines, t.number()))
}

// number is that of the output in the script.
func (t *tail) number() int {
	if t.name == shim.ErrFile {
		return 2
	}
	return 1
}

// cut keeps the file within its limit and returns its size.
func (t *tail) cut(file *os.File) int64 {
	info, err := file.Stat()
	if err != nil {
		return 0
	}
	if info.Size() > t.limit {
		_ = file.Truncate(t.limit) // the next look tries again
	}
	return min(info.Size(), t.limit)
}

// take copies the lines of text and says how many bytes they were.
func (t *tail) take(text []byte, ended bool) (used int) {
	var lines strings.Builder
	for used < len(text) {
		line, rest := text[used:], 0
		switch end := bytes.IndexByte(line, '\n'); {
		case end >= 0 && end <= maxLine:
			line, rest = line[:end], 1
		case len(line) > maxLine:
			line = line[:maxLine]
		case !ended:
			t.put(lines.String())
			return used
		}
		used += len(line) + rest
		if t.seen.Lines > 0 {
			t.seen.Lines--
			continue
		}
		lines.WriteString(t.shown(line))
		lines.WriteByte('\n')
	}
	t.put(lines.String())
	return used
}

// put writes lines to the log, until it is full.
func (t *tail) put(lines string) {
	const stamp = 30 // bytes that a line of the log has before its text
	if lines == "" || t.full {
		return
	}
	t.seen.Bytes += int64(len(lines) + stamp*strings.Count(lines, "\n"))
	if t.seen.Bytes > t.limit {
		t.full = true
		t.host.Log(runner.Warn, fmt.Sprintf("the log is cut here: the script has written more than %s. It goes on, and what it writes from now on is dropped.", engine.Bytes(t.limit)))
		return
	}
	failpoint.Hit("python.log.before")
	t.host.Log(t.level, lines)
	failpoint.Hit("python.log.after")
}

// shown is a line as it can be shown: what a progress bar wrote over is gone,
// and what is not text is a question mark.
func (t *tail) shown(line []byte) string {
	if t.dir != "" {
		line = bytes.ReplaceAll(line, []byte(t.dir), nil)
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	line = line[bytes.LastIndexByte(line, '\r')+1:]
	return strings.Map(func(r rune) rune {
		if r != '\t' && r != '\x1b' && unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(string(line), string(unicode.ReplacementChar)))
}

// How much of the end of the errors says why a script failed.
const (
	lastBytes = 4 << 10
	lastLines = 6
)

// last are the last lines of the file that are not blank.
func (t *tail) last() string {
	if t.of == nil {
		return ""
	}
	file, err := t.of.Output(t.name)
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	text := make([]byte, min(lastBytes, info.Size()))
	n, _ := file.ReadAt(text, info.Size()-int64(len(text)))
	var lines []string
	for line := range bytes.Lines(text[:n]) {
		if line := t.shown(bytes.TrimRight(line, "\n")); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
}
