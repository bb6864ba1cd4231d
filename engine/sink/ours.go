package sink

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"dogear/engine"
	"dogear/engine/place"
)

// suffixes end the names of the data files of a format, behind which a
// compression may stand.
var suffixes = map[engine.Format][]string{
	engine.Parquet: {".parquet"},
	engine.CSV:     {".csv"},
	engine.JSON:    {".json", ".jsonl", ".ndjson"},
}

// ours reports whether the file of a target is one that its sink may replace: a
// data file of the sink's format where the sink writes, which is the target
// itself or a folder of its partitions. Whatever else lies there is somebody's.
func ours(sink engine.Sink, key string) bool {
	if !utf8.ValidString(key) { // a manifest could not name it
		return false
	}
	name := strings.ToLower(path.Base(key))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	if !slices.ContainsFunc(suffixes[cmp.Or(sink.Format, engine.Parquet)], func(s string) bool { return strings.HasSuffix(name, s) }) {
		return false
	}
	dir := partitionOf(key)
	if dir == "" {
		return true
	}
	names, _ := place.Values(key)
	return len(names) == strings.Count(dir, "/")+1 && slices.EqualFunc(names, sink.PartitionBy, strings.EqualFold)
}

// Left are the files of a target that a sink leaves as they are, because they
// are not ours.
type Left struct {
	Files int
	First string // key of one of them
}

// divide keeps the files of a target that the sink may replace.
func divide(sink engine.Sink, all []Existing) (mine, others []Existing) {
	for _, e := range all {
		if ours(sink, e.Key) {
			mine = append(mine, e)
		} else {
			others = append(others, e)
		}
	}
	return mine, others
}

func leftOf(others []Existing) Left {
	left := Left{Files: len(others)}
	if len(others) > 0 {
		left.First = others[0].Key
	}
	return left
}

// inOwn refuses a target in the folder of stages, which sources never read.
func inOwn(root, written string) error {
	if !slices.Contains(strings.Split(root, "/"), engine.OwnFolder) {
		return nil
	}
	return engine.Errorf(engine.Invalid, "The target %s lies in a folder %s, which holds what is being written and which nothing reads. Write to another folder.", written, engine.OwnFolder)
}

// mayHold refuses a folder that cannot be a target.
func mayHold(root, written string) error {
	// The nearest thing on the way that exists must be a folder.
	for dir := root; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return engine.Errorf(engine.Invalid, "The target %s cannot be written: %s is a file. Name a folder.", written, dir)
		case err == nil || dir == filepath.Dir(dir) || errors.Is(err, fs.ErrPermission):
			return nil // what else is wrong shows when it is made
		}
	}
}

// checkFolders refuses a batch for partitions whose folders are symbolic links
// or files: it would be published somewhere else, or not at all.
func checkFolders(m engine.SinkManifest) error {
	seen := map[string]bool{}
	partitions := slices.Clone(m.Touched)
	for _, f := range m.Files {
		partitions = append(partitions, f.Partition)
	}
	for _, partition := range partitions {
		for dir := partition; dir != "" && !seen[dir]; dir = partitionOf(dir) {
			seen[dir] = true
			whole := filepath.Join(m.Root, dir)
			info, err := os.Lstat(whole)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return fmt.Errorf("look at the folder of a partition: %w", err)
			case info.Mode()&fs.ModeSymlink != 0:
				return engine.Errorf(engine.Invalid, "The partition folder %s is a symbolic link, and a target is written only where it really lies. Put a folder in its place, or write to where it leads. Nothing was published.", whole)
			case !info.IsDir():
				return engine.Errorf(engine.Invalid, "The partition folder %s is a file. Move it away. Nothing was published.", whole)
			}
		}
	}
	return nil
}
