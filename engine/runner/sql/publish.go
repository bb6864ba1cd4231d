package sql

import (
	"context"
	"path"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/place"
	"dogear/engine/runner"
)

// Publish makes the output of a committed batch visible and returns what the
// catalog should know of it.
func (r *Runner) Publish(ctx context.Context, b engine.Batch, h runner.Host) ([]engine.TableChange, error) {
	var changes []engine.TableChange
	for _, m := range b.Manifest.Sinks {
		out := b.Body.SQL.Sinks[m.Sink]
		if err := r.Sink.Publish(ctx, out, m); err != nil {
			return nil, err
		}
		h.Log(runner.Info, "published "+m.Root)
		if out.CatalogTable != "" {
			changes = append(changes, r.change(b, out, m))
		}
	}
	return changes, nil
}

// change is what one sink's batch does to the table that it owns.
func (r *Runner) change(b engine.Batch, out engine.Sink, m engine.SinkManifest) engine.TableChange {
	database, name, _ := strings.Cut(strings.ToLower(out.CatalogTable), ".")
	t := engine.Table{
		Database: database, Name: name, Location: m.Root, Connection: out.Connection, Format: out.Format,
		OwnerJob: b.Job, By: "job", Run: b.Node.Run, At: r.Now().UTC(),
	}
	if t.Format == "" {
		t.Format = engine.Parquet
	}
	for _, c := range m.Columns {
		if slices.ContainsFunc(out.PartitionBy, func(p string) bool { return strings.EqualFold(p, c.Name) }) {
			t.Keys = append(t.Keys, c)
			continue
		}
		t.Columns = append(t.Columns, c)
	}
	byPartition := map[string]*engine.Partition{}
	var order []string
	add := func(partition string) *engine.Partition {
		if byPartition[partition] == nil {
			byPartition[partition] = &engine.Partition{
				Values: partitionValues(partition), Location: join(m.Root, partition), Run: b.Node.Run, At: t.At,
			}
			order = append(order, partition)
		}
		return byPartition[partition]
	}
	for _, f := range m.Files {
		p := add(f.Partition)
		p.Files++
		p.Rows += f.Rows
		p.Bytes += f.Bytes
		t.Rows += f.Rows
		t.Bytes += f.Bytes
	}
	// A partition that was replaced by nothing has no files, which drops it.
	for _, partition := range m.Touched {
		add(partition)
	}
	change := engine.TableChange{Table: t, Whole: out.Mode == engine.Replace, Adds: out.Mode == "" || out.Mode == engine.Append}
	for _, partition := range order {
		p := byPartition[partition]
		if partition == "" && len(out.PartitionBy) > 0 || change.Whole && p.Files == 0 {
			continue
		}
		change.Partitions = append(change.Partitions, *p)
	}
	return change
}

// noValue stands for NULL among the values of a partition, as in its path, so
// that it is never taken for an empty text.
const noValue = "__HIVE_DEFAULT_PARTITION__"

func partitionValues(partition string) []string {
	_, values := place.Values(partition + "/x")
	texts := make([]string, len(values))
	for i, v := range values {
		if texts[i] = noValue; v != nil {
			texts[i] = *v
		}
	}
	return texts
}

// join is the address of a partition; an address in S3 keeps its two slashes.
func join(root, partition string) string {
	if place.IsS3(root) {
		return strings.TrimSuffix(root, "/") + "/" + partition
	}
	return path.Join(root, partition)
}
