// Package place reads the addresses of data: folders of this machine and
// prefixes of S3 buckets, with or without a glob. It decides what a path may
// reach, so that sources and sinks cannot differ in it.
package place

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"dogear/engine"
)

// scheme begins the address of an object in S3.
const scheme = "s3://"

// Place is an address that has been read.
type Place struct {
	Bucket string // "" for a folder
	Root   string // absolute folder, or the prefix in the bucket with a final slash
	Glob   *Glob  // on the key below Root
}

// S3 reports whether p is a prefix of a bucket.
func (p Place) S3() bool { return p.Bucket != "" }

// Address is p without its glob, as people write it.
func (p Place) Address() string {
	if p.S3() {
		return scheme + p.Bucket + "/" + p.Root
	}
	return p.Root
}

// IsS3 reports whether path is an address in S3.
func IsS3(path string) bool { return strings.HasPrefix(path, scheme) }

// Roots says which folders of this machine may be read and written, and where
// relative paths begin. Nothing is allowed by default.
type Roots struct {
	Base    string   // of relative paths
	Allowed []string // absolute folders
}

// Parse reads path. For a folder it only cleans the text; Check says whether
// it may be used.
func (r Roots) Parse(path string) (Place, error) {
	if strings.ContainsRune(path, 0) || strings.TrimSpace(path) == "" {
		return Place{}, engine.Errorf(engine.Invalid, "A path is needed: a folder, or an address such as s3://bucket/prefix.")
	}
	if IsS3(path) {
		return parseS3(path)
	}
	if strings.Contains(path, "://") {
		return Place{}, engine.Errorf(engine.Invalid, "%s is neither a folder nor an s3:// address.", path)
	}
	root, pattern := engine.SplitGlob(path)
	if !filepath.IsAbs(path) {
		if r.Base == "" {
			return Place{}, engine.Errorf(engine.Invalid, "%s is a relative path. Write the whole path, beginning with a slash.", path)
		}
		root = filepath.Join(r.Base, root)
	}
	glob, err := ParseGlob(pattern)
	if err != nil {
		return Place{}, err
	}
	return Place{Root: filepath.Clean("/" + root), Glob: glob}, nil
}

func parseS3(path string) (Place, error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(path, scheme), "/")
	if bucket == "" || strings.ContainsAny(bucket, engine.GlobChars) {
		return Place{}, engine.Errorf(engine.Invalid, "%s names no bucket. Write s3://bucket/prefix.", path)
	}
	root, pattern := engine.SplitGlob(key)
	glob, err := ParseGlob(pattern)
	if err != nil {
		return Place{}, err
	}
	if root != "" {
		root += "/"
	}
	return Place{Bucket: bucket, Root: root, Glob: glob}, nil
}

// Check refuses a folder or file that is not below an allowed root, followed
// through every symbolic link on the way. It returns the path without links.
// A path that does not exist is NotFound; MayExist accepts it.
func (r Roots) Check(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Whether it exists is only said of what may be read at all.
		if _, err := r.MayExist(path); err != nil {
			return "", err
		}
		return "", engine.Errorf(engine.NotFound, "%s does not exist.", path)
	case errors.Is(err, fs.ErrPermission):
		return "", engine.Errorf(engine.Forbidden, "%s may not be read by the user that Dogear runs as.", path)
	case err != nil:
		return "", engine.Errorf(engine.Invalid, "%s cannot be read: %w", path, err)
	}
	if !r.holds(real) {
		return "", r.refusal(path)
	}
	return real, nil
}

// MayExist is Check for a path that is about to be made: its nearest parent
// that exists decides.
func (r Roots) MayExist(path string) (string, error) {
	head, tail := filepath.Clean(path), ""
	for {
		real, err := filepath.EvalSymlinks(head)
		if err == nil {
			whole := filepath.Join(real, tail)
			if !r.holds(whole) {
				return "", r.refusal(path)
			}
			return whole, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return "", engine.Errorf(engine.Invalid, "%s cannot be reached: %w", path, err)
		}
		// A link to nothing would be made elsewhere than it seems.
		if _, err := os.Lstat(head); err == nil {
			return "", engine.Errorf(engine.Forbidden, "%s is a symbolic link that leads nowhere.", head)
		}
		tail = filepath.Join(filepath.Base(head), tail)
		head = filepath.Dir(head)
	}
}

// holds reports whether a path without links lies in an allowed root.
func (r Roots) holds(real string) bool {
	for _, root := range r.Allowed {
		if resolved, err := filepath.EvalSymlinks(root); err == nil {
			root = resolved
		}
		root = filepath.Clean(root)
		if real == root || root == "/" || strings.HasPrefix(real, root+"/") {
			return true
		}
	}
	return false
}

func (r Roots) refusal(path string) error {
	if len(r.Allowed) == 0 {
		return engine.Errorf(engine.Forbidden, "%s may not be used: no folder of this machine is allowed.", path)
	}
	return engine.Errorf(engine.Forbidden, "%s may not be used: it is not below %s.", path, strings.Join(r.Allowed, " or "))
}

// Values reads the partition of a key: "year=2026/month=11/a.csv" has the
// names year and month. A value is decoded; the default partition is NULL.
func Values(key string) (names []string, values []*string) {
	parts := strings.Split(key, "/")
	for _, part := range parts[:len(parts)-1] {
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			continue
		}
		names = append(names, decode(name))
		if value == nullPartition {
			values = append(values, nil)
			continue
		}
		text := decode(value)
		values = append(values, &text)
	}
	return names, values
}

// nullPartition is how Hive writes NULL in a path.
const nullPartition = "__HIVE_DEFAULT_PARTITION__"
