package bookmark

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
)

// AWS Glue keeps the bookmark of a job as a JSON text with one element for each
// transformation context. What an element of files holds was seen in answers of
// the real service; of a table AWS shows none (glue-semantics.md 4.3 and 4.5).

// glueEntry is the answer of get-job-bookmark.
type glueEntry struct {
	JobName     string `json:"JobName"`
	Version     int    `json:"Version"`
	Run         int    `json:"Run"`
	Attempt     int    `json:"Attempt"`
	JobBookmark string `json:"JobBookmark"`
}

const (
	glueFiles = "HadoopDataSourceJobBookmarkState"
	// glueTime is how Glue writes a time.
	glueTime = "2006-01-02T15:04:05.000Z07:00"
	// glueBand is the window before its last run in which Glue remembers files by
	// name, where the job names no other (maxBand).
	glueBand = 15 * time.Minute
	maxGlue  = 16 << 20 // bytes of an answer: a band of a hundred thousand names fits
)

// glueElement is one context in JobBookmark.
type glueElement struct {
	Class string `json:"jsonClass"`
	Times struct {
		Run          string `json:"RUN"`
		Band         string `json:"HIGH_BAND"` // milliseconds
		Partition    string `json:"CURR_LATEST_PARTITION"`
		Partitions   string `json:"CURR_LATEST_PARTITIONS"`
		Start        string `json:"CURR_RUN_START_TIME"`
		InBandHashes string `json:"INCLUDE_LIST"`
	} `json:"timestamps"`
}

// glueMark is how far Glue has come through files: all up to Settled, and of
// those written after it, up to Start, as many as Named.
type glueMark struct {
	settled, start time.Time
	named          int
}

// fromGlue is the ledger that Glue's bookmark makes of what the source holds
// now, for b: each file that Glue has read counts as read.
func (s *Service) fromGlue(ctx context.Context, b engine.Bookmark, m Move, by By) (prepared, error) {
	entry, element, err := readGlue(m.File, b.Ctx)
	if err != nil {
		return prepared{}, err
	}
	mark, err := element.mark()
	if err != nil {
		return prepared{}, err
	}
	part, err := s.whole(ctx, b)
	if err != nil {
		return prepared{}, err
	}
	if part.Spec.Table != "" {
		return prepared{}, engine.Errorf(engine.Invalid, "The source %s is a table, and this is how far Glue has read files. Rewind the bookmark to a key instead.", part.Source)
	}
	ready := prepared{ledger: &rewritten{}, origin: fmt.Sprintf("from AWS Glue's %s, v%d", cmp.Or(entry.JobName, "job"), entry.Version)}
	var inBand int
	var entries []engine.Entry
	for _, o := range part.Taken {
		at := o.Mod()
		if at.After(mark.start) || at.After(mark.settled) && mark.named == 0 {
			continue
		}
		if at.After(mark.settled) {
			inBand++
		}
		entries = append(entries, engine.Entry{Object: o.Object, State: engine.EntryRead, Note: "AWS Glue has read it, by the bookmark that " + by.Who + " imported"})
		if o.ModNS >= ready.ledger.newest.ModNS {
			ready.ledger.newest = o.Object
		}
	}
	if inBand != mark.named {
		ready.notices = append(ready.notices, fmt.Sprintf(
			"Glue names %d files that it read of those written from %s to %s, by hashes that AWS does not explain; the source holds %d. All of them count as read. Read that time again if some were missed.",
			mark.named, mark.settled.Format(time.DateTime), mark.start.Format(time.DateTime), inBand))
	}
	slices.SortFunc(entries, byKey)
	ready.ledger.chosen = int64(len(entries))
	if ready.ledger.Written, err = Write(ctx, s.Store, Empty, entries); err != nil {
		return ready, err
	}
	return ready, s.replace(ctx, b, m, &ready)
}

// whole plans all that the source of b holds, as if nothing had been read.
func (s *Service) whole(ctx context.Context, b engine.Bookmark) (engine.SourcePlan, error) {
	job, err := s.Store.Job(ctx, b.Job)
	if err != nil {
		return engine.SourcePlan{}, err
	}
	return s.plan(ctx, job, b, Request{Roots: map[string]string{b.Ctx: Empty}, Whole: true, Looks: true})
}

// readGlue finds the element of a context in what get-job-bookmark printed, in
// its entry alone, or in the text of the bookmark alone. A bookmark with one
// element is meant whatever its name.
func readGlue(from io.Reader, name string) (glueEntry, glueElement, error) {
	var entry glueEntry
	var element glueElement
	text, err := io.ReadAll(io.LimitReader(from, maxGlue+1))
	if err != nil {
		return entry, element, fmt.Errorf("read a bookmark of Glue: %w", err)
	}
	if len(text) > maxGlue {
		return entry, element, notGlue("it has more than %d MB", maxGlue>>20)
	}
	var answer struct {
		glueEntry
		JobBookmarkEntry *glueEntry
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return entry, element, notGlue("%s", wrongJSON("it", err))
	}
	entry = answer.glueEntry
	if answer.JobBookmarkEntry != nil {
		entry = *answer.JobBookmarkEntry
	}
	if entry.JobBookmark != "" {
		text = []byte(entry.JobBookmark)
	}
	var elements map[string]json.RawMessage
	if err := json.Unmarshal(text, &elements); err != nil {
		return entry, element, notGlue("%s", wrongJSON("its JobBookmark", err))
	}
	names := slices.Sorted(maps.Keys(elements))
	raw, ok := elements[name]
	switch {
	case len(names) == 0:
		return entry, element, notGlue("its JobBookmark has no context in it: the job has read nothing, or was reset")
	case !ok && len(names) == 1:
		name, raw = names[0], elements[names[0]]
	case !ok:
		return entry, element, notGlue("it has no context %q. It has: %s. Give the source one of these as its context", name, strings.Join(names, ", "))
	}
	if err := json.Unmarshal(raw, &element); err != nil {
		return entry, element, notGlue("%s", wrongJSON(fmt.Sprintf("its context %q", name), err))
	}
	if element.Class != glueFiles {
		return entry, element, notGlue(
			"its context %q is a %s, and only that of files (%s) is known. For a table rewind the bookmark to the last key that Glue read: dogear bookmark rewind --to-key",
			name, cmp.Or(element.Class, "thing without a jsonClass"), glueFiles)
	}
	return entry, element, nil
}

func (e glueElement) mark() (glueMark, error) {
	start, err := time.Parse(time.RFC3339, e.Times.Start)
	if err != nil {
		return glueMark{}, notGlue("CURR_RUN_START_TIME is %q, which is not a time such as 2026-11-29T12:00:00.000Z", e.Times.Start)
	}
	ms, err := strconv.ParseInt(cmp.Or(e.Times.Band, "0"), 10, 64)
	if err != nil || ms < 0 {
		return glueMark{}, notGlue("HIGH_BAND is %q, which is not a number of milliseconds", e.Times.Band)
	}
	mark := glueMark{start: start.UTC(), settled: start.UTC().Add(-time.Duration(ms) * time.Millisecond)}
	for hash := range strings.SplitSeq(e.Times.InBandHashes, ",") {
		if strings.TrimSpace(hash) != "" {
			mark.named++
		}
	}
	return mark, nil
}

// wrongJSON says what is wrong with a JSON text in the words of JSON.
func wrongJSON(what string, err error) string {
	odd, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return fmt.Sprintf("%s is not JSON: %v", what, err)
	case odd.Field == "":
		return fmt.Sprintf("%s is not a JSON object, but of the kind %s", what, odd.Value)
	}
	return fmt.Sprintf("%s has a %s of the kind %s, which it never is", what, odd.Field, odd.Value)
}

func notGlue(format string, args ...any) error {
	return engine.Errorf(engine.Invalid, "This is not a job bookmark of AWS Glue that can be taken over: %s. Give what aws glue get-job-bookmark --job-name NAME prints. Nothing was changed.",
		fmt.Sprintf(format, args...))
}

// ExportGlue writes a bookmark as AWS Glue's get-job-bookmark would print it.
// Glue knows one time and not files, so that it is refused with Conflict where a
// file that counts as read is newer than one that does not.
func (s *Service) ExportGlue(ctx context.Context, id engine.ID, to io.Writer) error {
	b, err := s.Store.Bookmark(ctx, id)
	if err != nil {
		return err
	}
	job, err := s.Store.Job(ctx, b.Job)
	if err != nil {
		return err
	}
	newest, err := s.newestRead(ctx, b)
	if err != nil {
		return err
	}
	// The band of Glue begins after the newest file read: what is in it, no name
	// says to be read.
	var element glueElement
	element.Class = glueFiles
	element.Times.Run, element.Times.Partition = strconv.Itoa(b.Version), "0"
	element.Times.Band = strconv.FormatInt(glueBand.Milliseconds(), 10)
	element.Times.Start = newest.Add(glueBand).Format(glueTime)
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(map[string]glueElement{b.Ctx: element}); err != nil {
		return fmt.Errorf("write a bookmark for Glue: %w", err)
	}
	lines := json.NewEncoder(to)
	lines.SetIndent("", "    ")
	entry := glueEntry{JobName: job.Name, Version: b.Version, Run: b.Version, JobBookmark: strings.TrimSpace(text.String())}
	return lines.Encode(map[string]glueEntry{"JobBookmarkEntry": entry})
}

// newestRead is when the newest file that counts as read was written, to the
// millisecond, if no file that does not is as old.
func (s *Service) newestRead(ctx context.Context, b engine.Bookmark) (time.Time, error) {
	job, err := s.Store.Job(ctx, b.Job)
	if err != nil {
		return time.Time{}, err
	}
	part, err := s.plan(ctx, job, b, Request{Roots: map[string]string{b.Ctx: b.Root}, Whole: true, Looks: true})
	switch {
	case err != nil:
		return time.Time{}, err
	case part.Spec.Table != "":
		return time.Time{}, engine.Errorf(engine.Invalid, "The source %s is a table. AWS does not show how Glue keeps the key of one, so its bookmark cannot be written for Glue.", part.Source)
	case b.Files == 0:
		return time.Time{}, engine.Errorf(engine.Conflict, "Nothing counts as read by this bookmark. For Glue that is a job whose bookmark was reset.")
	}
	var newest time.Time
	for e, err := range Entries(ctx, s.Store, b.Root) {
		if err != nil {
			return newest, err
		}
		if e.State == engine.EntryRead && e.Mod().After(newest) {
			newest = e.Mod()
		}
	}
	if whole := newest.Truncate(time.Millisecond); whole.Before(newest) {
		newest = whole.Add(time.Millisecond)
	}
	for _, o := range slices.Concat(part.Taken, part.Exceptions) {
		if o.Reason != engine.ReasonGone && o.Reason != engine.ReasonTouched && !o.Mod().After(newest) {
			return newest, engine.Errorf(engine.Conflict,
				"This bookmark cannot be said in Glue's words: %s does not count as read (%s), and a file that does is as new or newer. Glue keeps one time for all files. Read it, or export the bookmark as it is.",
				o.Key, strings.ReplaceAll(string(o.Reason), "_", " "))
		}
	}
	return newest, nil
}
