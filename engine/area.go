package engine

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Area is where a source reads or a sink writes.
type Area struct {
	// Root is a folder, or an address such as s3://bucket/prefix; of a table it
	// is whatever names it. Roots are compared as texts, so whoever can follows
	// symbolic links first.
	Root string
	Glob string // on what lies below Root; "" is everything
	As   string // as people wrote it
}

// area is the place that a path names, as far as its text tells.
func area(text string) Area {
	root, glob := SplitGlob(text)
	return Area{Root: root, Glob: glob, As: text}
}

// areaOf is where a sink writes, as far as its text tells.
func areaOf(s *Sink) Area {
	if s.Table != "" {
		return Area{Root: "table://" + string(s.Connection) + "/" + strings.ReplaceAll(s.Table, "/", "%2F"), As: s.Place()}
	}
	return area(s.Path)
}

// GlobChars begin a glob in a path.
const GlobChars = "*?[{"

// SplitGlob divides a path before the part with its first glob character: the
// root without a final slash, and the glob below it.
func SplitGlob(text string) (root, glob string) {
	i := strings.IndexAny(text, GlobChars)
	if i < 0 {
		return strings.TrimRight(text, "/"), ""
	}
	slash := strings.LastIndexByte(text[:i], '/')
	if slash < 0 {
		return "", text
	}
	return text[:slash], text[slash+1:]
}

// Meets says in words how a and b share files: a is the same place as b, holds
// it, or lies in it. It is "" where they share none. The glob of b counts, that
// of a does not: a is written, and a writer may use all of its folder.
func (a Area) Meets(b Area) string {
	below, above := under(b.Root, a.Root), under(a.Root, b.Root)
	switch {
	case below == ".":
		return "is the same place as"
	case above != "":
		return "holds"
	case below != "" && reaches(b.Glob, below):
		return "lies in"
	}
	return ""
}

// under is where dir lies below root: "." where they are one, "" where it does
// not. Both are read as texts; a relative one and an absolute one do not meet.
func under(root, dir string) string {
	kind, _, _ := strings.Cut(root, "://")
	other, _, _ := strings.Cut(dir, "://")
	if (kind != root || other != dir) && kind != other {
		return ""
	}
	rel, err := filepath.Rel(filepath.Clean(root), filepath.Clean(dir))
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return rel
}

// reaches reports whether glob may match something below dir, a folder below
// the glob's root. Where that is hard to tell, it says that it may.
func reaches(glob, dir string) bool {
	if glob == "" || strings.Contains(glob, "**") {
		return true
	}
	parts, folders := strings.Split(glob, "/"), strings.Split(dir, "/")
	if len(parts) <= len(folders) {
		return false
	}
	for i, folder := range folders {
		fits, err := path.Match(parts[i], folder)
		if err == nil && !fits && !strings.ContainsAny(parts[i], "[{") {
			return false
		}
	}
	return true
}

// OwnInput says what is wrong with a target that meets a source of its own job,
// or "" where it does not (Safe writes).
func OwnInput(target, source Area, name string) string {
	how := target.Meets(source)
	if how == "" {
		return ""
	}
	return fmt.Sprintf("The target %s %s %s, which the source %s of this job reads. The job would read what it has written, or replace what it reads. Write to a folder of its own.",
		target.As, how, source.As, name)
}

// SameTarget says what is wrong with two targets of one job that meet, or "".
func SameTarget(target, other Area) string {
	how := target.Meets(other)
	if how == "" {
		return ""
	}
	return fmt.Sprintf("The target %s %s %s, which another sink of this job writes. Each would replace or double the rows of the other. Write to two places, or put the rows together in one step.",
		target.As, how, other.As)
}

// ownInput refuses targets that meet a source of the job or each other, as far
// as their texts tell; the rest is seen when the job is planned.
func (f *faults) ownInput(job *SQLJob) {
	for i := range job.Sinks {
		s := &job.Sinks[i]
		if given(s.Path, s.Table) != 1 {
			continue
		}
		at, field := areaOf(s), "path"
		if s.Table != "" {
			field = "table"
		}
		field = "sink." + strconv.Itoa(i) + "." + field
		for j := range job.Sinks[:i] {
			if given(job.Sinks[j].Path, job.Sinks[j].Table) != 1 {
				continue
			}
			if wrong := SameTarget(at, areaOf(&job.Sinks[j])); wrong != "" {
				f.add(field, "%s", wrong)
			}
		}
		for _, src := range job.Sources {
			// Two connections may lead to two stores with buckets of one name.
			if s.Path == "" || src.Path == "" || s.Connection != src.Connection {
				continue
			}
			if wrong := OwnInput(at, area(src.Path), src.Name); wrong != "" {
				f.add(field, "%s", wrong)
			}
		}
	}
}
