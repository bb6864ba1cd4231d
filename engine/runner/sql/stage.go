package sql

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/duck"
	"dogear/engine/place"
	"dogear/engine/runner"
)

// stage makes what the worker wrote durable, and hands it over to be
// committed.
func (w *work) stage(ctx context.Context, computed duck.Result) (runner.Result, error) {
	manifest := engine.Manifest{Counts: engine.Counts{RowsIn: computed.RowsIn, Rejects: computed.Rejects}}
	w.host.Log(runner.Info, "read "+many(computed.RowsIn, "row"))
	for i, written := range computed.Written {
		out := w.Job.SQL.Sinks[i]
		if err := w.insidePlan(out, written.Touched); err != nil {
			return runner.Result{}, w.failed(ctx, err)
		}
		m, err := w.Sink.Stage(ctx, out, i, w.stages[i], engine.SinkManifest{
			Files: written.Files, Touched: written.Touched, Columns: written.Columns,
		})
		if err != nil {
			return runner.Result{}, w.failed(ctx, err)
		}
		tellWritten(w.host, out, written, m)
		tellLeft(w.host, out, w.stages[i].Left)
		for _, f := range m.Files {
			w.host.Log(runner.Info, fmt.Sprintf("staged %s %s", f.Path, engine.Bytes(f.Bytes)))
			manifest.Counts.BytesOut += f.Bytes
		}
		manifest.Counts.RowsOut += written.Rows
		manifest.Sinks = append(manifest.Sinks, m)
	}
	result := runner.Result{State: engine.Succeeded}
	if err := w.ledger(ctx, computed, &result, &manifest.Counts); err != nil {
		return runner.Result{}, w.failed(ctx, err)
	}
	manifest.Left = w.left(computed)
	if err := w.host.Staged(ctx, w.batch.ID, manifest); err != nil {
		return runner.Result{}, err
	}
	w.host.Log(runner.Info, "committing output and bookmark …")
	w.batch.Manifest, w.batch.State = manifest, engine.BatchStaged
	result.Batch, result.Counts = &w.batch, manifest.Counts
	return result, nil
}

// failed discards the stages and returns why.
func (w *work) failed(ctx context.Context, err error) error {
	if discarded := w.discard(ctx); discarded != nil {
		w.host.Log(runner.Warn, "the stage could not be removed: "+discarded.Error())
	}
	return err
}

// ledger works out what the ledgers say from now on: what was read, and what
// was held because it could not be. The content of folder files is kept as a
// hash, which later tells touched from changed.
func (w *work) ledger(ctx context.Context, computed duck.Result, result *runner.Result, counts *engine.Counts) error {
	for i, part := range w.batch.Plan.Sources {
		change := runner.LedgerChange{Ctx: part.Ctx, Fingerprint: part.Fingerprint, Version: part.LedgerVersion, Root: part.LedgerRoot}
		if len(w.batch.Plan.Sources) == 1 {
			change.Rows = computed.RowsIn
		}
		for _, f := range w.fetched[i].Files {
			entry := engine.Entry{Object: f.Object, Run: w.Attempt.Run.ID, State: engine.EntryRead}
			if note, held := heldNote(computed, part.Source, f.Key); held {
				entry.State, entry.Note, entry.Hash = engine.EntryHeld, note, hashBefore(part, f.Key)
				change.Entries = append(change.Entries, entry)
				continue
			}
			counts.Files++
			counts.BytesIn += f.Size
			if part.Compared != nil {
				done, err := w.compared(ctx, i, f.Object, computed.Landed)
				if err != nil {
					return err
				}
				entry.Object = done
			} else if part.Spec.Table != "" {
				entry.Object = read(f.Object, part, computed.Landed)
			} else if part.Read != engine.ReadAll && f.ETag == "" {
				hash, err := w.Source.Hash(ctx, part.Spec, f.Object)
				// One that is gone by now was whole when it had been read.
				if err != nil && engine.CodeOf(err) != engine.NotFound {
					return err
				}
				entry.Hash = hash
			}
			change.Entries = append(change.Entries, entry)
		}
		if part.Read != engine.ReadAll {
			slices.SortFunc(change.Entries, func(a, b engine.Entry) int { return strings.Compare(a.Key, b.Key) })
			result.Ledger = append(result.Ledger, change)
		}
	}
	return nil
}

// left lists what the plan takes and was not read.
func (w *work) left(computed duck.Result) []engine.InputLeft {
	var left []engine.InputLeft
	for _, h := range computed.Held {
		left = append(left, engine.InputLeft{Source: h.Input, Key: h.Key, Held: true, Note: h.Note})
	}
	for i, part := range w.batch.Plan.Sources {
		there := map[string]bool{}
		for _, f := range w.fetched[i].Files {
			there[f.Key] = true
		}
		for _, o := range part.Taken {
			if !there[o.Key] {
				left = append(left, engine.InputLeft{Source: part.Source, Key: o.Key})
			}
		}
	}
	return left
}

// heldNote says why the worker has left a file out, where it has.
func heldNote(computed duck.Result, source, key string) (note string, held bool) {
	for _, h := range computed.Held {
		if h.Input == source && h.Key == key {
			return h.Note, true
		}
	}
	return "", false
}

// hashBefore is the hash of what was read of a file before this batch found it
// unreadable. Its content now may be closed to us, and was not read.
func hashBefore(part engine.SourcePlan, key string) string {
	for _, o := range part.Taken {
		if o.Key == key && o.Prior != nil && o.Prior.State == engine.EntryRead {
			return o.Prior.Hash
		}
	}
	return bookmark.HeldUnread
}

// mayOverwrite refuses to overwrite partitions with the new files alone: rows
// of files that were read before would be deleted (Safe writes).
func (w *work) mayOverwrite() error {
	for _, out := range w.Job.SQL.Sinks {
		if out.Mode != engine.OverwritePartitions {
			continue
		}
		for _, part := range w.batch.Plan.Sources {
			if part.Read == engine.ReadAll || part.Spec.Options.Partition != "" {
				continue
			}
			return engine.Errorf(engine.Invalid,
				"%s overwrites partitions, but its source %s is read by bookmark: a late file would leave its partition with that file alone. Read %s whole each time, say in its options which partition each file belongs to (such as {year}/{month}/*.csv), or merge by key.",
				w.Job.Name, part.Source, part.Source)
		}
	}
	return nil
}

// insidePlan refuses a batch that overwrites a partition for which the plan
// did not take every known file.
func (w *work) insidePlan(out engine.Sink, touched []string) error {
	if out.Mode != engine.OverwritePartitions {
		return nil
	}
	for _, part := range w.batch.Plan.Sources {
		if part.Read == engine.ReadAll {
			continue
		}
		mapping, err := bookmark.ParseMapping(part.Spec.Options.Partition)
		if err != nil {
			return err
		}
		planned := map[string]bool{}
		for _, o := range part.Taken {
			if values, ok := mapping.Values(o.Key); ok {
				planned[normal(mapping.Names(), values)] = true
			}
		}
		for _, partition := range touched {
			if !planned[normal(mapping.Names(), valuesOf(partition))] {
				return engine.Errorf(engine.Conflict,
					"The result has rows for the partition %s, which the files of %s do not map to by %q. Overwriting it would delete rows of files that are not part of this run. Correct the pattern, or merge by key.",
					partition, part.Source, part.Spec.Options.Partition)
			}
		}
	}
	return nil
}

// valuesOf reads the values of a partition's path.
func valuesOf(partition string) map[string]string {
	names, values := place.Values(partition + "/x")
	all := map[string]string{}
	for i, name := range names {
		if values[i] != nil {
			all[name] = *values[i]
		}
	}
	return all
}

// normal writes the named values so that equal ones are equal: a month is
// 01 in one path and 1 in another.
func normal(names []string, values map[string]string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = values[name]
		if n, err := strconv.ParseInt(parts[i], 10, 64); err == nil {
			parts[i] = strconv.FormatInt(n, 10)
		}
		parts[i] = name + "=" + parts[i]
	}
	return strings.Join(parts, "/")
}
