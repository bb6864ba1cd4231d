package duck

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/duckdb/duckdb-go/v2"
)

// complaint is an error of DuckDB as it writes it under errors_as_json.
type complaint struct {
	Type     string `json:"exception_type"`
	Message  string `json:"exception_message"`
	Position string `json:"position"`
}

// complaintOf reads DuckDB's error; ok is false for any other error.
func complaintOf(err error) (c complaint, ok bool) {
	theirs, ok := errors.AsType[*duckdb.Error](err)
	if !ok {
		return complaint{}, false
	}
	if i := strings.IndexByte(theirs.Msg, '{'); i >= 0 && json.Unmarshal([]byte(theirs.Msg[i:]), &c) == nil {
		return c, true
	}
	return complaint{Message: theirs.Msg}, true
}

// asFailure puts err into the words of a Failure.
func asFailure(ctx context.Context, err error, limits Limits) *Failure {
	if ours, ok := errors.AsType[*Failure](err); ok {
		return ours
	}
	if ctx.Err() != nil {
		return failf(FailCrash, "The work was interrupted.")
	}
	c, ok := complaintOf(err)
	if diskFull(err) || ok && c.Type == "IO" && noSpace.MatchString(c.Message) {
		return failf(FailMemory, "The disk is full. Nothing was published.")
	}
	if !ok {
		if errors.Is(err, os.ErrPermission) {
			return failf(FailRefused, "%v.", err)
		}
		return failf(FailInternal, "%v", err)
	}
	text := sentence(c.Message)
	switch c.Type {
	case "Out of Memory":
		if strings.Contains(c.Message, "max_temp_directory_size") {
			return failf(FailMemory, "The job needs more room on disk than the %d MB it may spill. Raise its spill limit or its memory, or read less at once.", spill(limits))
		}
		return needsMemory(limits)
	case "Permission":
		return failf(FailRefused, "SQL may read only what the job names as its sources: %s", text)
	case "IO":
		return failf(FailData, "A file could not be read or written: %s", text)
	case "Conversion", "Invalid Input", "Out of Range", "Constraint", "Mismatch Type":
		return failf(FailData, "%s", text)
	case "INTERNAL", "Fatal":
		return failf(FailInternal, "%s", text)
	}
	return failf(FailSQL, "%s", text)
}

func needsMemory(limits Limits) *Failure {
	return failf(FailMemory, "The job needs more memory than its %d MB. Raise its memory limit, or read less at once.", grant(limits))
}

// noSpace finds what the system says of a disk, a quota or a limit that is full.
var noSpace = regexp.MustCompile("No space left on device|Disk quota exceeded|File too large")

// diskFull reports whether the system refused to write for want of room.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// advice replaces messages that name settings of DuckDB which nobody can make
// here, or that only name what went wrong, by the message key holds.
var advice = []struct{ key, text string }{
	{"Maximum line size", "A line is longer than the 2 MB that a line of CSV may have. Shorten or split its values, or bring such data as Parquet or lines of JSON; if a quote that never closes made it so long, close it."},
	{"xpression depth", "Something is nested more than 1000 deep. Break the SQL up into steps, or flatten the JSON before it is read."},
	{"File name too long", "A partition's value is too long for the name of a folder, which has at most 255 bytes. Shorten the value in the SQL, or partition by another column."},
}

// sentence tidies a message of DuckDB: its first paragraph, with a full stop, or
// what there is to do about it.
func sentence(text string) string {
	for _, a := range advice {
		if strings.Contains(text, a.key) {
			return a.text
		}
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	text, _, _ = strings.Cut(text, "\nTry setting ") // what nobody can set here
	text = Brief(strings.Join(strings.Fields(strings.ReplaceAll(text, "!\n", ". ")), " "))
	if text != "" && !strings.ContainsAny(text[len(text)-1:], ".!?") {
		text += "."
	}
	return text
}

// inSQL is the failure of a step's SQL, with the place in it. prefix is what
// stood before the SQL in the statement that DuckDB refused.
func (s *session) inSQL(ctx context.Context, err error, step, sql string, prefix int) error {
	c, ok := complaintOf(err)
	if !ok {
		return err
	}
	if c.Type == "Permission" {
		f := failf(FailRefused, "SQL may read only what the job names as its sources: %s", sentence(c.Message))
		f.Step = step
		return f
	}
	f := &Failure{Kind: FailSQL, Step: step}
	if at, ok := c.within(sql, prefix); ok {
		f.Line, f.Column = lineAndColumn(sql, at)
	}
	text := sentence(c.Message)
	if named, name, near, ok := s.lacking(ctx, c, sql); ok {
		text, f.Lacks, f.Near = named, name, near
	}
	f.Message = placed(step, f.Line, f.Column) + ": " + text
	return f
}

// within is where in sql, which stood after prefix bytes, the complaint is about.
func (c complaint) within(sql string, prefix int) (at int, ok bool) {
	at, err := strconv.Atoi(c.Position)
	at -= prefix
	return at, err == nil && at >= 0 && at <= len(sql)
}

// placed says where in a step something is.
func placed(step string, line, column int) string {
	where := "The SQL"
	if step != "" {
		where = "The step " + step
	}
	if line > 0 {
		where += " at line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column)
	}
	return where
}

// byteAt is the byte at which the character number n of a text begins: the parser of
// DuckDB counts characters, and what comes after it bytes.
func byteAt(text string, n int) int {
	for at := range text {
		if n == 0 {
			return at
		}
		n--
	}
	return len(text)
}

// lineAndColumn counts from 1, the column in characters.
func lineAndColumn(sql string, at int) (line, column int) {
	before := sql[:at]
	line = 1 + strings.Count(before, "\n")
	return line, 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}
