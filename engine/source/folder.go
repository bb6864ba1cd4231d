package source

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/place"
)

// errEnough ends a walk whose reader has had enough.
var errEnough = errors.New("enough")

func (s *Source) listFolder(ctx context.Context, _ engine.ID, at place.Place, emit emit) error {
	root, err := s.roots.Check(at.Root)
	if err != nil {
		return err
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return engine.Errorf(engine.Invalid, "%s is not a folder.", at.Root)
	}
	w := walker{source: s, root: root, emit: emit}
	err = w.walk(ctx, "")
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// walker walks a folder in bytewise order of key without collecting more than
// one directory of each level.
type walker struct {
	source *Source
	root   string
	emit   emit
}

// child is an entry of a directory under the name it is sorted by: that of a
// directory ends in a slash, because that is what its keys go on with. Bytes
// that are no text are replaced, for keys are texts.
type child struct {
	name  string
	entry fs.DirEntry
}

func (w *walker) walk(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := readDir(filepath.Join(w.root, dir))
	switch {
	case errors.Is(err, fs.ErrNotExist) && dir != "":
		return nil // it went while we walked, and its files with it
	case errors.Is(err, fs.ErrPermission):
		return engine.Errorf(engine.Forbidden, "%s may not be read by the user that Dogear runs as.", filepath.Join(w.root, dir))
	case err != nil:
		return engine.Errorf(engine.Invalid, "The folder %s cannot be listed: %w", filepath.Join(w.root, dir), err)
	}
	for _, c := range entries {
		if err := w.visit(ctx, dir+c.name, c.entry); err != nil {
			return err
		}
	}
	return nil
}

// readDir reads one directory in the order of its keys.
func readDir(dir string) ([]child, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	children := make([]child, len(entries))
	for i, e := range entries {
		children[i] = child{strings.ToValidUTF8(e.Name(), "\uFFFD"), e}
		if e.IsDir() {
			children[i].name += "/"
		}
	}
	slices.SortFunc(children, func(a, b child) int { return strings.Compare(a.name, b.name) })
	return children, nil
}

func (w *walker) visit(ctx context.Context, key string, entry fs.DirEntry) error {
	if !utf8.ValidString(entry.Name()) {
		return w.leave(key, entry)
	}
	if entry.IsDir() {
		if entry.Name() == engine.OwnFolder {
			return nil
		}
		return w.walk(ctx, key)
	}
	info, err := entry.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return engine.Errorf(engine.Invalid, "%s cannot be read: %w", filepath.Join(w.root, key), err)
	}
	filtered := ""
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		info, filtered = w.follow(key, info)
	case !info.Mode().IsRegular():
		filtered = "is not a file"
	}
	whole := w.source.Whole.Has(filepath.Join(w.root, key), info)
	if !w.emit(bookmark.Listed{Object: object(key, info), Filtered: filtered, Whole: whole}) {
		return errEnough
	}
	return nil
}

// leave lists a file, or a folder for all that lies in it, whose name no key can
// hold.
func (w *walker) leave(key string, entry fs.DirEntry) error {
	o := engine.Object{Key: key}
	if info, err := entry.Info(); err == nil && !entry.IsDir() {
		o = object(key, info)
	}
	if !w.emit(bookmark.Listed{Object: o, Filtered: "has a name that is not UTF-8 text; rename it to have it read"}) {
		return errEnough
	}
	return nil
}

// follow looks at what a symbolic link leads to. Links to folders are not
// followed, so that a walk always ends; links that leave the allowed roots
// are refused.
func (w *walker) follow(key string, link fs.FileInfo) (fs.FileInfo, string) {
	real, err := w.source.roots.Check(filepath.Join(w.root, key))
	if engine.CodeOf(err) == engine.Forbidden {
		return link, "is a link that leaves the allowed folders"
	}
	if err != nil {
		return link, "is a link that leads nowhere"
	}
	info, err := os.Stat(real)
	if err != nil || !info.Mode().IsRegular() {
		return link, "is a link to a folder"
	}
	return info, ""
}

// object is what a listing says of a file.
func object(key string, info fs.FileInfo) engine.Object {
	o := engine.Object{Key: key, Size: info.Size(), ModNS: info.ModTime().UnixNano()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		o.Inode = stat.Ino
	}
	return o
}
