package sink

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

func TestOnlyOwnDataFilesMayBeReplaced(t *testing.T) {
	t.Parallel()
	flat := engine.Sink{}
	daily := engine.Sink{Format: engine.CSV, PartitionBy: []string{"Year", "day"}}
	tests := []struct {
		sink engine.Sink
		key  string
		want bool
	}{
		{flat, "a.parquet", true},
		{flat, "A.PARQUET", true},
		{flat, "a.csv", false},
		{flat, "a.parquet.bak", false},
		{flat, "notes.txt", false},
		{flat, "raw/a.parquet", false},
		{flat, "day=1/a.parquet", false},
		{daily, "a.csv", true},
		{daily, "year=2026/day=1/a.csv.gz", true},
		{daily, "year=2026/day=__HIVE_DEFAULT_PARTITION__/a.csv", true},
		{daily, "year=2026/a.csv", false},
		{daily, "day=1/year=2026/a.csv", false},
		{daily, "year=2026/day=1/more/a.csv", false},
		{daily, "year=2026/day=1/a.parquet", false},
		{engine.Sink{Format: engine.JSON}, "a.ndjson.zst", true},
	}
	for _, tt := range tests {
		if got := ours(tt.sink, tt.key); got != tt.want {
			t.Errorf("%s of a sink by %v as %q: got %v, want %v", tt.key, tt.sink.PartitionBy, tt.sink.Format, got, tt.want)
		}
	}
}

func TestATargetThatCannotBeOneIsRefused(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"taken":               "is a file",
		"taken/below":         "is a file",
		".dogear":             "a folder .dogear",
		"out/.dogear/stage-1": "a folder .dogear",
	} {
		g := folderTarget(t)
		must(t, os.WriteFile(filepath.Join(g.Root, "taken"), []byte("theirs"), 0o644))
		g.Sink.Path = filepath.Join(g.Root, path)

		_, err := g.open().Prepare(t.Context(), g.Sink, 0, batchID, 1, g.scratch)

		if engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), want) {
			t.Errorf("%s: got %v, want a refusal that says %q", path, err, want)
		}
	}
}

// siblings are the batches of the job under test, by number.
type siblings struct {
	ended
	tags map[int64]string
}

func (s siblings) Siblings(context.Context, engine.ID, []int64) (map[int64]string, error) {
	return s.tags, nil
}

// TestAReplaceAfterOtherPartitionsLeavesOnlyTheNew: what the sink itself wrote
// by its former partitions, or in its former format, goes; what others wrote
// stays, however it is named.
func TestAReplaceAfterOtherPartitionsLeavesOnlyTheNew(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]func(*testing.T) *target{"folder": folderTarget, "bucket": bucketTarget} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for step := 0; ; step++ {
				g := made(t)
				g.Sink.Mode, g.Sink.Format, g.Sink.PartitionBy = engine.Replace, engine.Parquet, []string{"month"}
				g.batches = siblings{tags: map[int64]string{1: "aaaaaaaa", 2: "bbbbbbbb"}}
				for _, old := range []string{
					"year=2025/part-000001-aaaaaaaa-0-0.parquet", "year=2026/day=1/part-000002-bbbbbbbb-0-0.parquet", "part-000001-aaaaaaaa-0-1.csv",
					"month=1/part-000001-aaaaaaaa-0-0.parquet",
				} {
					g.put(old, "old")
				}
				theirs := []string{
					"year=2025/part-000001-cccccccc-0-0.parquet", // of another job's batch 1
					"year=2025/part-000001-aaaaaaaa-1-0.parquet", // of another sink of this job
					"year=2025/readme.txt", "year=2026/day=2/data.parquet",
				}
				for _, key := range theirs {
					g.put(key, "theirs")
				}
				g.stage([]string{"month=1", "month=2"}, "month=1/part-000003-dddddddd-0-0.parquet:new", "month=2/part-000003-dddddddd-0-0.parquet:new")

				died := g.dies(step)
				g.publish()

				want := []string{"month=1/part-000003-dddddddd-0-0.parquet:new", "month=2/part-000003-dddddddd-0-0.parquet:new"}
				for _, key := range theirs {
					want = append(want, key+":theirs")
				}
				slices.Sort(want)
				got := g.holds()
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Fatalf("killed at step %d: got\n%s\nwant\n%s", step, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if !died {
					return
				}
			}
		})
	}
}

// TestALinkedPartitionIsRefusedBeforeTheCommit: a publish would follow it out of
// the target, and could not give up any more.
func TestALinkedPartitionIsRefusedBeforeTheCommit(t *testing.T) {
	t.Parallel()
	for _, mode := range []engine.WriteMode{engine.Append, engine.OverwritePartitions} {
		g := folderTarget(t)
		g.Sink.Mode, g.Sink.PartitionBy = mode, []string{"p"}
		outside := t.TempDir()
		must(t, os.MkdirAll(g.Sink.Path, 0o755))
		must(t, os.Symlink(outside, filepath.Join(g.Sink.Path, "p=1")))
		s := g.open()
		stage, err := s.Prepare(t.Context(), g.Sink, 0, batchID, 1, g.scratch)
		must(t, err)

		_, err = s.Stage(t.Context(), g.Sink, 0, stage, engine.SinkManifest{Files: []engine.OutFile{{Path: "p=1/a.parquet", Partition: "p=1"}}})

		if engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), "symbolic link") {
			t.Errorf("%s: got %v, want a refusal of the link", mode, err)
		}
	}
}

// TestAPublishOntoAnotherDiskEnds: a folder that came to lie on another disk
// after the commit gets copies, however often the publish is cut off.
func TestAPublishOntoAnotherDiskEnds(t *testing.T) {
	t.Parallel()
	for step := 0; ; step++ {
		g := folderTarget(t)
		other, err := os.MkdirTemp("/dev/shm", "dogear-test") //nolint:usetesting // it must lie on another disk
		if err != nil || sameDisk(t, other, g.Root) {
			t.Skip("this machine has no second disk")
		}
		t.Cleanup(func() { must(t, os.RemoveAll(other)) })
		g.Sink.Mode, g.Sink.PartitionBy = engine.OverwritePartitions, []string{"p"}
		g.put("p=1/old.parquet", "old")
		g.stage([]string{"p=1"}, "p=1/a.parquet:new", "p=1/b.parquet:newer")
		must(t, os.RemoveAll(filepath.Join(g.Sink.Path, "p=1")))
		must(t, os.Symlink(other, filepath.Join(g.Sink.Path, "p=1")))
		must(t, os.WriteFile(filepath.Join(other, "old.parquet"), []byte("old"), 0o644))

		died := g.dies(step)
		g.publish()

		entries, err := os.ReadDir(other)
		must(t, err)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if !slices.Equal(names, []string{"a.parquet", "b.parquet"}) {
			t.Errorf("killed at step %d: got %v, want the two new files", step, names)
		}
		if !died {
			return
		}
	}
}

func sameDisk(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y unix.Stat_t
	must(t, unix.Stat(a, &x))
	must(t, unix.Stat(b, &y))
	return x.Dev == y.Dev
}
