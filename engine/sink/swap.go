package sink

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"dogear/engine"
	"dogear/engine/failpoint"
)

// replace puts the staged files of a partition in the place of the old ones. A
// folder that holds nothing else is swapped, at once. Where files of others lie
// in it, the new files come in beside them and then the old ones go, so that
// theirs never move.
func (p *publisher) replace(partition string, files []engine.OutFile) error {
	target, staged := filepath.Join(p.root, partition), filepath.Join(p.data, partition)
	aside := filepath.Join(p.stage, "old", partition)
	if !p.allThere(files) {
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := p.swap(partition, files, target, staged, aside); err != nil {
			return err
		}
		if err := syncPath(filepath.Dir(target)); err != nil {
			return err
		}
	}
	for _, replaced := range []string{staged, aside} {
		p.step()
		if err := p.clear(partition, replaced); err != nil {
			return err
		}
	}
	return p.empty(partition)
}

func (p *publisher) swap(partition string, files []engine.OutFile, target, staged, aside string) error {
	if p.mixed(partition, target) {
		return p.add(files)
	}
	p.step()
	failpoint.Hit("sink.swap.before")
	err := exchange(staged, target, aside)
	failpoint.Hit("sink.swap.after")
	if errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EBUSY) { // another disk is mounted there
		return p.add(files)
	}
	return err
}

// mixed reports whether the folder of a partition holds anything but the old
// files of the batch, or is no plain folder.
func (p *publisher) mixed(partition, target string) bool {
	info, err := os.Lstat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	entries, unread := os.ReadDir(target)
	if err != nil || unread != nil || !info.IsDir() {
		return true
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !e.Type().IsRegular() || !slices.Contains(p.old, filepath.ToSlash(filepath.Join(partition, e.Name())))
	})
}

func (p *publisher) allThere(files []engine.OutFile) bool {
	return !slices.ContainsFunc(files, func(f engine.OutFile) bool { return !p.there(f) })
}

// exchange swaps two folders, or moves staged to target where that is not
// there. A file system that cannot swap moves the old one aside first.
func exchange(staged, target, aside string) error {
	err := unix.Renameat2(unix.AT_FDCWD, staged, unix.AT_FDCWD, target, unix.RENAME_EXCHANGE)
	if err == nil {
		return nil
	}
	if unsupported(err) {
		if err := os.MkdirAll(filepath.Dir(aside), 0o755); err != nil {
			return err
		}
		err = os.Rename(target, aside)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(staged, target)
}

// clear removes the old files from a folder that was replaced, and the folder.
// What came into it after the batch had listed the target goes back there: it
// is not what the batch replaces.
func (p *publisher) clear(partition, replaced string) error {
	entries, err := os.ReadDir(replaced)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		key := filepath.ToSlash(filepath.Join(partition, e.Name()))
		from, to := filepath.Join(replaced, e.Name()), filepath.Join(p.root, key)
		if e.Type().IsRegular() && (p.mine(key) || slices.Contains(p.old, key)) {
			failpoint.Hit("sink.clear.before")
			err = os.Remove(from)
			failpoint.Hit("sink.clear.after")
		} else if err = os.MkdirAll(filepath.Dir(to), 0o755); err == nil {
			err = move(from, to)
		}
		if err != nil {
			return err
		}
	}
	p.step()
	return os.Remove(replaced)
}

// mine reports whether key names a file of the batch.
func (p *publisher) mine(key string) bool {
	return slices.ContainsFunc(p.manifest.Files, func(f engine.OutFile) bool { return f.Path == key })
}

// empty removes the old files of a partition, and its folder where nothing else
// is in it.
func (p *publisher) empty(partition string) error {
	for _, key := range p.old {
		if partitionOf(key) != partition || p.mine(key) {
			continue
		}
		p.step()
		failpoint.Hit("sink.remove.before")
		if err := os.Remove(filepath.Join(p.root, key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		failpoint.Hit("sink.remove.after")
	}
	for dir := partition; dir != ""; dir = partitionOf(dir) {
		if err := unix.Rmdir(filepath.Join(p.root, dir)); err != nil {
			break // it is gone, not empty, or a link
		}
	}
	return nil
}
