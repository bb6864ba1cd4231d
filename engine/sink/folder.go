package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"dogear/engine"
	"dogear/engine/failpoint"
	"dogear/engine/place"
)

// listFolder lists the files of a target that readers see.
func listFolder(root string) ([]Existing, error) {
	var files []Existing
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		key, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		key = filepath.ToSlash(key)
		if key != "." && place.Hidden(key) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files = append(files, Existing{Key: key, Partition: partitionOf(key), Size: info.Size(), written: info.ModTime()})
		return nil
	})
	if err != nil {
		return nil, engine.Errorf(engine.Invalid, "The target %s cannot be listed: %w", root, err)
	}
	return files, nil
}

// syncTree makes everything below dir durable.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("make the stage durable: %w", err)
		}
		if err := syncPath(path); err != nil {
			return writeError(path, err)
		}
		return nil
	})
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// writeError says what a person can do about a target that cannot be written.
func writeError(path string, err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return engine.Errorf(engine.LimitHit, "The disk of %s is full. Nothing was published.", path)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS):
		return engine.Errorf(engine.Forbidden, "%s may not be written by the user that Dogear runs as.", path)
	}
	return fmt.Errorf("write to %s: %w", path, err)
}

// publisher publishes one manifest into a folder. Each change is one rename,
// and what is done already is known by where the batch's files are.
type publisher struct {
	root, stage, data string
	manifest          engine.SinkManifest
	old               []string
	step              func()
}

func (p *publisher) publish(ctx context.Context) error {
	if len(p.manifest.Touched) == 0 {
		return p.finish(p.add(p.manifest.Files))
	}
	// Partitions that get rows come before those that only lose some, so that
	// a row on its way from one to the other is never missing.
	var emptied []string
	for _, partition := range p.manifest.Touched {
		files := p.files(partition)
		var err error
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case len(files) == 0:
			emptied = append(emptied, partition)
		case partition == "":
			err = p.replaceRoot(files)
		default:
			err = p.replace(partition, files)
		}
		if err != nil {
			return writeError(filepath.Join(p.root, partition), err)
		}
	}
	for _, partition := range emptied {
		if err := p.empty(partition); err != nil {
			return writeError(filepath.Join(p.root, partition), err)
		}
	}
	return p.finish(nil)
}

// finish removes the stage after everything in it was moved.
func (p *publisher) finish(err error) error {
	if err != nil {
		return err
	}
	p.step()
	failpoint.Hit("sink.finish.before")
	if err := os.RemoveAll(p.stage); err != nil {
		return fmt.Errorf("remove the stage: %w", err)
	}
	failpoint.Hit("sink.finish.after")
	_ = os.Remove(filepath.Dir(p.stage)) // it stays where another batch has its stage
	return nil
}

// files lists those of the manifest that lie in partition.
func (p *publisher) files(partition string) []engine.OutFile {
	var files []engine.OutFile
	for _, f := range p.manifest.Files {
		if f.Partition == partition {
			files = append(files, f)
		}
	}
	return files
}

// add moves files to where they belong, each at once, and then makes the moves
// durable. A name that somebody else has taken is never written over.
func (p *publisher) add(files []engine.OutFile) error {
	var changed []string
	for _, f := range files {
		target := filepath.Join(p.root, f.Path)
		staged := filepath.Join(p.data, f.Path)
		changed = append(changed, filepath.Dir(target))
		if _, err := os.Lstat(staged); errors.Is(err, fs.ErrNotExist) {
			if !p.there(f) {
				return fmt.Errorf("%s is neither in the stage nor in the target", f.Path)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return writeError(p.root, err)
		}
		p.step()
		failpoint.Hit("sink.move.before")
		err := move(staged, target)
		failpoint.Hit("sink.move.after")
		if errors.Is(err, fs.ErrExist) {
			return engine.Errorf(engine.Conflict, "%s exists already and is not of this batch. Move it away; publishing goes on by itself.", target)
		}
		if err != nil {
			return writeError(target, err)
		}
	}
	slices.Sort(changed)
	for _, dir := range slices.Compact(changed) {
		if err := syncPath(dir); err != nil {
			return writeError(dir, err)
		}
	}
	return nil
}

// there reports whether a file of the batch is in the target.
func (p *publisher) there(f engine.OutFile) bool {
	info, err := os.Lstat(filepath.Join(p.root, f.Path))
	return err == nil && info.Size() == f.Bytes
}

// move renames without writing over anything, also to another disk.
func move(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EXDEV) {
		return carry(from, to)
	}
	if !unsupported(err) {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}

// unsupported reports whether a file system does not know a kind of rename.
func unsupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP)
}

// carry moves a file to another disk: as a copy beside to that no reader looks
// at, which then gets its name. A file of that name and size is taken for a
// copy that was made before: names of batches are their own.
func carry(from, to string) error {
	if old, err := os.Lstat(to); err == nil {
		info, err := os.Lstat(from)
		if err != nil || info.Size() != old.Size() {
			return errors.Join(err, fs.ErrExist)
		}
		return os.Remove(from)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	beside := filepath.Join(filepath.Dir(to), ".dogear-"+filepath.Base(to))
	out, err := os.OpenFile(beside, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = move(beside, to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	return os.Remove(from)
}
