package sql

import (
	"fmt"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/duck"
	"dogear/engine/runner"
	"dogear/engine/sink"
)

// files writes a count of files.
func files(n int64) string { return many(n, "file") }

// many writes how many there are of what one is called.
func many(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// amount writes what a plan takes.
func amount(t engine.Tally) string {
	if t.Rows == 0 {
		return fmt.Sprintf("%s (%s)", files(t.Files), engine.Bytes(t.Bytes))
	}
	rows := fmt.Sprintf("%d rows of tables", t.Rows)
	if t.Files == 0 {
		return rows
	}
	return fmt.Sprintf("%s (%s) and %s", files(t.Files), engine.Bytes(t.Bytes), rows)
}

// tellPlan writes what the plan found to the log.
func tellPlan(h runner.Host, part engine.SourcePlan) {
	if part.Spec.Table != "" {
		tellTable(h, part)
		return
	}
	if part.Read != engine.ReadAll {
		h.Log(runner.Info, fmt.Sprintf("bookmark %s stands at v%d", part.Ctx, part.LedgerVersion))
	}
	var listed int64
	for _, tally := range part.Counts {
		listed += tally.Files
	}
	listed -= part.Counts[engine.ReasonGone].Files
	var found []string
	for _, reason := range []engine.Reason{
		engine.ReasonAlreadyRead, engine.ReasonNew, engine.ReasonChanged, engine.ReasonReopened, engine.ReasonTouched, engine.ReasonHeld,
		engine.ReasonTooYoung, engine.ReasonOverBound, engine.ReasonGone, engine.ReasonFiltered,
	} {
		if n := part.Counts[reason].Files; n > 0 {
			found = append(found, fmt.Sprintf("%d %s", n, strings.ReplaceAll(string(reason), "_", " ")))
		}
	}
	if len(found) == 0 {
		found = []string{"nothing new"}
	}
	h.Log(runner.Info, fmt.Sprintf("listed %s of %s: %s", many(listed, "object"), part.Source, strings.Join(found, ", ")))
	for _, o := range slices.Concat(part.Taken, part.Exceptions) {
		if o.Reason == engine.ReasonChanged && o.Prior != nil {
			what := fmt.Sprintf("size %d → %d", o.Prior.Size, o.Size)
			if o.Prior.Size == o.Size {
				what = "same size, other content"
			}
			h.Log(runner.Warn, fmt.Sprintf("changed in place: %s %s", o.Key, what))
		}
	}
	for _, notice := range part.Notices {
		h.Log(runner.Warn, notice)
	}
}

// mostHeld bounds how many of the files that are held are named in a log.
const mostHeld = 10

// tellHeld says that there is nothing to do, and what is held and why; it returns how
// many files that are.
func tellHeld(h runner.Host, plan engine.Plan) int64 {
	var held, named int64
	for _, part := range plan.Sources {
		held += part.Counts[engine.ReasonHeld].Files
		for _, o := range part.Exceptions {
			if o.Reason == engine.ReasonHeld && named < mostHeld {
				named++
				h.Log(runner.Warn, strings.TrimSuffix(fmt.Sprintf("held: %s: %s", o.Key, o.Note), ": "))
			}
		}
	}
	if held == 0 {
		h.Log(runner.Info, "nothing to do: no source has anything new")
		return 0
	}
	h.Log(runner.Info, fmt.Sprintf("nothing to do: no source has anything new but what is held, %s; to read that, release it on the page of the bookmark", files(held)))
	return held
}

// leave notes files that changed or went since the plan, which are left for
// the next run. One of a partition that is written anew cannot be left: its
// rows, which were there before, would be missing.
func (w *work) leave(part engine.SourcePlan, changed []engine.Object) error {
	needed := map[string]bool{}
	if part.Spec.Options.Partition != "" && w.overwrites() {
		for _, o := range part.Taken {
			needed[o.Key] = o.Prior != nil && o.Reason != engine.ReasonNew
		}
	}
	for _, o := range changed {
		if needed[o.Key] {
			return engine.Errorf(engine.Conflict, "%s of %s changed or went since the plan, and its partition is written anew whole. Nothing was written; run again.", o.Key, part.Source)
		}
		w.host.Log(runner.Warn, fmt.Sprintf("%s of %s changed since the plan; it is left for the next run", o.Key, part.Source))
	}
	return nil
}

func (w *work) overwrites() bool {
	return slices.ContainsFunc(w.Job.SQL.Sinks, func(s engine.Sink) bool { return s.Mode == engine.OverwritePartitions })
}

// tellWritten says what came of one sink.
func tellWritten(h runner.Host, out engine.Sink, written duck.Written, m engine.SinkManifest) {
	if out.Table != "" {
		h.Log(runner.Info, fmt.Sprintf("%s: %s for %s: %d inserted, %d updated, %d deleted", out.From, many(written.Rows, "row"), out.Place(), m.Inserted, m.Updated, m.Deleted))
		return
	}
	if out.Mode == engine.Merge {
		h.Log(runner.Info, fmt.Sprintf("merge: %d inserted, %d updated, %d kept because the target has a later row; partitions written anew: %d",
			written.Inserted, written.Updated, written.Kept, len(written.Touched)))
		return
	}
	h.Log(runner.Info, fmt.Sprintf("%s: %s into %s", out.From, many(written.Rows, "row"), files(int64(len(written.Files)))))
}

// tellLeft says which files of a target a sink did not replace.
func tellLeft(h runner.Host, out engine.Sink, left sink.Left) {
	if left.Files == 0 {
		return
	}
	verb := "are"
	if left.Files == 1 {
		verb = "is"
	}
	h.Log(runner.Warn, fmt.Sprintf("%s in %s %s left: not a data file that this sink writes. The first is %s", files(int64(left.Files)), out.Place(), verb, left.First))
}

// tellTable writes what the plan found of a table to the log.
func tellTable(h runner.Host, part engine.SourcePlan) {
	if part.Read != engine.ReadAll {
		h.Log(runner.Info, fmt.Sprintf("bookmark %s at v%d: %d rows of %s known", part.Ctx, part.LedgerVersion, part.Counts[engine.ReasonAlreadyRead].Rows, part.Root))
	}
	for _, o := range part.Taken {
		if r, ok := o.KeyRange(); ok {
			h.Log(runner.Info, strings.TrimSpace(fmt.Sprintf("%s: %d rows, %s %s", part.Source, r.Rows, r.Words(), o.Note)))
		}
	}
	if len(part.Taken) == 0 {
		h.Log(runner.Info, part.Source+": nothing new")
	}
	for _, o := range part.Exceptions {
		h.Log(runner.Info, o.Note)
	}
	for _, notice := range part.Notices {
		h.Log(runner.Warn, notice)
	}
}

// tellDoubles warns of targets in which rows that are read again stand twice.
func (w *work) tellDoubles() {
	for _, sink := range w.Job.SQL.Sinks {
		if sink.Mode == engine.Append || sink.Mode == "" {
			w.host.Log(runner.Warn, sink.Place()+" appends: the rows of these files stand in it twice from now on")
		}
	}
}
