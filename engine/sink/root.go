package sink

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

// replaceRoot replaces the files of a target without partitions. One file for
// one file, which is how most such targets are written, is replaced at once.
// Of several, the new ones are renamed in before the old ones are taken out:
// for as long as those renames take, and longer only where the process dies
// between them, readers see both, and never none. The folder itself cannot be
// swapped as a partition is: the stage lies in it, and files of others may too.
func (p *publisher) replaceRoot(files []engine.OutFile) error {
	if len(files) == 1 && len(p.old) == 1 && files[0].Path != p.old[0] {
		if err := p.replaceOne(files[0].Path, p.old[0]); err != nil {
			return err
		}
	}
	if err := p.add(files); err != nil {
		return err
	}
	return p.empty("")
}

// replaceOne puts the staged file in the place of the old one by an exchange,
// and then gives it its own name. A second link to it, in the stage, tells a
// repeated publish how far this has come. Where something is not as expected,
// or the file system cannot do it, the files are left for the ordinary way.
func (p *publisher) replaceOne(name, old string) error {
	staged, link := filepath.Join(p.data, name), filepath.Join(p.stage, "fresh")
	before, after := filepath.Join(p.root, old), filepath.Join(p.root, name)
	if err := os.Link(staged, link); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil
	}
	if !same(link, before) && !same(link, after) {
		p.step()
		if err := unix.Renameat2(unix.AT_FDCWD, staged, unix.AT_FDCWD, before, unix.RENAME_EXCHANGE); err != nil {
			return nil
		}
	}
	if same(link, before) {
		p.step()
		if err := move(before, after); err != nil {
			return err
		}
	}
	p.step()
	// What lies in the stage now is the old file.
	if err := os.Remove(staged); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// same reports whether two names lead to one file.
func same(a, b string) bool {
	x, errX := os.Lstat(a)
	y, errY := os.Lstat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
