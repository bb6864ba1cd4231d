package crawl

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dogear/engine"
)

// folder is one folder of a listing: how much lies in it, and a few of its
// files to look at. The files themselves are not kept, so that a listing of
// millions costs no more than its folders.
type folder struct {
	path     string // below the target, "" for the target itself
	folders  map[string]*folder
	files    int64
	bytes    int64
	fresh    int64           // files that the crawler has not looked at before
	sample   []engine.Object // of the fresh ones
	examples []engine.Object // of all
}

// The most files of a folder that are looked into, and of those the most that
// are new. Ten thousand files of one folder seldom differ where ten do not.
const (
	maxSample   = 64
	maxExamples = 1
)

func newFolder(at string) *folder { return &folder{path: at, folders: map[string]*folder{}} }

// add puts a file where it lies.
func (f *folder) add(o engine.Object, fresh bool) {
	at := f
	if dir := path.Dir(o.Key); dir != "." {
		for part := range strings.SplitSeq(dir, "/") {
			next := at.folders[part]
			if next == nil {
				next = newFolder(path.Join(at.path, part))
				at.folders[part] = next
			}
			at = next
		}
	}
	at.files++
	at.bytes += o.Size
	if len(at.examples) < maxExamples {
		at.examples = append(at.examples, o)
	}
	if fresh {
		at.fresh++
		if len(at.sample) < maxSample {
			at.sample = append(at.sample, o)
		}
	}
}

func (f *folder) names() []string { return slices.Sorted(maps.Keys(f.folders)) }

// walk calls visit for every folder that holds files, in order of path.
func (f *folder) walk(visit func(*folder)) {
	if f.files > 0 {
		visit(f)
	}
	for _, name := range f.names() {
		f.folders[name].walk(visit)
	}
}

// found is a table that a crawl found: a folder and the folders below it that
// are its partitions.
type found struct {
	root       *folder
	keys       []string // names of the partition columns, outermost first
	partitions []partition
	notices    []string
}

type partition struct {
	values []string
	at     *folder
}

// tables finds the tables below f.
//
// A folder is a table where it holds files, or where the folders in it are
// partitions: named as key=value, or numbers such as years and days. Any other
// folder only holds tables.
func tables(f *folder) []found {
	if f.files > 0 && len(f.folders) == 0 {
		return []found{{root: f, partitions: []partition{{at: f}}}}
	}
	if kind := partitioned(f); kind != "" {
		return []found{table(f, kind)}
	}
	if f.files > 0 {
		whole := found{root: f}
		var files int64
		f.walk(func(at *folder) { files += at.files })
		whole.partitions = []partition{{at: f}}
		whole.notices = append(whole.notices, fmt.Sprintf("%s holds files and folders side by side; all %d files are one table.", label(f), files))
		return []found{whole}
	}
	var all []found
	for _, name := range f.names() {
		all = append(all, tables(f.folders[name])...)
	}
	return all
}

var (
	named  = regexp.MustCompile(`^[^=]+=.*$`)
	number = regexp.MustCompile(`^[0-9]+$`)
)

// partitioned says how the folders in f are partitions: "named", "numbers", or
// not at all.
func partitioned(f *folder) string {
	if len(f.folders) == 0 {
		return ""
	}
	all := func(re *regexp.Regexp) bool {
		for name := range f.folders {
			if !re.MatchString(name) {
				return false
			}
		}
		return true
	}
	switch {
	case all(named):
		return "named"
	case all(number):
		return "numbers"
	}
	return ""
}

// table takes every folder with files below f as a partition.
func table(f *folder, kind string) found {
	t := found{root: f}
	if f.files > 0 {
		t.notices = append(t.notices, fmt.Sprintf("%d files lie beside the partitions of %s and are not part of the table.", f.files, label(f)))
	}
	depth := 0
	f.walk(func(at *folder) {
		if at == f {
			return
		}
		parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(at.path, f.path), "/"), "/")
		if depth == 0 {
			depth = len(parts)
			t.keys = keysOf(parts, kind)
		}
		if len(parts) != depth {
			t.notices = append(t.notices, fmt.Sprintf("%s lies at another depth than the other partitions and is left out.", label(at)))
			return
		}
		t.partitions = append(t.partitions, partition{values: valuesOf(parts), at: at})
	})
	t.notices = append(t.notices, t.padding()...)
	return t
}

// keysOf names the partition columns of a path. Three numbers that are a date
// are year, month and day; other bare folders are partition_0 and so on.
func keysOf(parts []string, kind string) []string {
	keys := make([]string, len(parts))
	for i, part := range parts {
		keys[i] = "partition_" + strconv.Itoa(i)
		if name, _, ok := strings.Cut(part, "="); ok {
			keys[i] = strings.ToLower(name)
		}
	}
	if kind == "numbers" && isDate(parts) {
		copy(keys, []string{"year", "month", "day", "hour"})
	}
	return keys
}

func isDate(parts []string) bool {
	if len(parts) < 3 || len(parts) > 4 || len(parts[0]) != 4 {
		return false
	}
	month, _ := strconv.Atoi(parts[1])
	day, _ := strconv.Atoi(parts[2])
	return month >= 1 && month <= 12 && day >= 1 && day <= 31
}

// valuesOf are the values of a path, as text exactly as it says them: 6, 06
// and 006 are three partitions (C14).
func valuesOf(parts []string) []string {
	values := make([]string, len(parts))
	for i, part := range parts {
		_, value, ok := strings.Cut(part, "=")
		if !ok {
			value = part
		}
		values[i] = value
	}
	return values
}

// padding notices numbers that differ in their zeros only.
func (t *found) padding() []string {
	var notices []string
	for i, key := range t.keys {
		spelt := map[string]string{}
		for _, p := range t.partitions {
			value := p.values[i]
			if !number.MatchString(value) {
				continue
			}
			plain := strings.TrimLeft(value, "0")
			if other, ok := spelt[plain]; ok && other != value {
				notices = append(notices, fmt.Sprintf("The partition key %s is written both as %s and as %s; they are kept apart.", key, other, value))
				break
			}
			spelt[plain] = value
		}
	}
	return notices
}

func label(f *folder) string {
	if f.path == "" {
		return "The target"
	}
	return f.path
}
