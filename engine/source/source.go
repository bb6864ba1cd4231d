// Package source lists and reads what a job takes in: folders of this machine
// and prefixes of S3-compatible object stores. It says what is there and why
// an object is left out; what is new is decided by the bookmark.
package source

import (
	"cmp"
	"context"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/bucket"
	"dogear/engine/place"
)

// Source lists and reads objects. It fits bookmark.Lister.
type Source struct {
	// Whole knows which files of folders are complete; it may be nil.
	Whole *place.Whole

	roots   place.Roots
	buckets *bucket.Buckets
}

// New returns a Source that reads below roots on this machine and whatever
// the buckets' connections may reach.
func New(roots place.Roots, buckets *bucket.Buckets) *Source {
	return &Source{roots: roots, buckets: buckets}
}

// Root is the address that the keys of src are relative to. It is the text of
// the path where that cannot be read.
func (s *Source) Root(src engine.Source) string {
	at, err := s.place(src)
	if err != nil {
		return src.Path
	}
	return at.Address()
}

// List yields every object below the root of src in bytewise order of key.
func (s *Source) List(ctx context.Context, src engine.Source) iter.Seq2[bookmark.Listed, error] {
	return func(yield func(bookmark.Listed, error) bool) {
		at, err := s.place(src)
		if err != nil {
			yield(bookmark.Listed{}, err)
			return
		}
		sieve, err := newSieve(at.Glob, src.Options.Exclude)
		if err != nil {
			yield(bookmark.Listed{}, err)
			return
		}
		list := s.listFolder
		if at.S3() {
			list = s.listBucket
		}
		err = list(ctx, src.Connection, at, func(o bookmark.Listed) bool {
			o.Filtered = cmp.Or(o.Filtered, sieve.why(o.Object))
			return yield(o, nil)
		})
		if err != nil {
			yield(bookmark.Listed{}, err)
		}
	}
}

// emit takes one object of a listing, with the reason for which it is left
// out where the lister knows one. It returns false to end the listing.
type emit func(bookmark.Listed) bool

// place reads the path of src. A path that names one file is its folder with
// a glob for that file.
func (s *Source) place(src engine.Source) (place.Place, error) {
	if src.Path == "" {
		return place.Place{}, engine.Errorf(engine.Invalid, "The source %s has no path.", src.Name)
	}
	at, err := s.roots.Parse(src.Path)
	if err != nil || at.Glob.String() != "" {
		return at, err
	}
	name := path.Base(at.Root)
	if at.S3() {
		if strings.HasSuffix(src.Path, "/") || !namesFile(name) {
			return at, nil
		}
		at.Root = strings.TrimSuffix(strings.TrimSuffix(at.Root, "/"), name)
	} else {
		if info, err := os.Stat(at.Root); err != nil || info.IsDir() {
			return at, nil
		}
		at.Root = filepath.Dir(at.Root)
	}
	at.Glob, err = place.ParseGlob(name)
	return at, err
}

// dataSuffixes end the names that an S3 address without a glob may have to
// mean one object instead of a prefix.
var dataSuffixes = []string{".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".py"}

func namesFile(name string) bool {
	name = strings.ToLower(name)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return slices.ContainsFunc(dataSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// sieve says why an object is left out.
type sieve struct {
	glob    *place.Glob
	exclude []*place.Glob
}

func newSieve(glob *place.Glob, exclude []string) (sieve, error) {
	s := sieve{glob: glob}
	for _, text := range exclude {
		g, err := place.ParseGlob(text)
		if err != nil {
			return sieve{}, err
		}
		s.exclude = append(s.exclude, g)
	}
	return s, nil
}

// markers are the names with which writers say that a folder is complete.
var markers = []string{"_SUCCESS", "_committed_", "_started_"}

func (s sieve) why(o engine.Object) string {
	name := path.Base(o.Key)
	isMarker := func(m string) bool { return strings.HasPrefix(name, m) }
	switch {
	case strings.HasSuffix(o.Key, "/"):
		return "marks a folder"
	case slices.ContainsFunc(markers, isMarker):
		return "is a marker"
	case strings.HasSuffix(name, ".crc"):
		return "is a checksum"
	case place.Hidden(o.Key):
		return "has a hidden name"
	case strings.HasSuffix(name, ".tmp"):
		return "is unfinished (.tmp)"
	case !s.glob.Match(o.Key):
		return "does not match " + s.glob.String()
	}
	for _, g := range s.exclude {
		if g.Match(o.Key) {
			return "is excluded by " + g.String()
		}
	}
	if o.Size == 0 {
		return "is empty"
	}
	return ""
}
