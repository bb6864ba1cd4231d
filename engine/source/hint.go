package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"dogear/engine"
)

// mostWatched bounds how many folders below one place are watched: the kernel
// has few watches, and a hint is no promise.
const mostWatched = 256

// Hints tells when something may have changed below the folder of src, until ctx
// ends. It is a hint and no more: network file systems and folders beyond the
// first 256 tell nothing. The channel is nil for a bucket.
func (s *Source) Hints(ctx context.Context, src engine.Source) (<-chan struct{}, error) {
	at, err := s.place(src)
	if err != nil || at.S3() {
		return nil, err
	}
	root, err := s.roots.Check(at.Root)
	if err != nil {
		return nil, err
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch a folder: %w", err)
	}
	if err := watchBelow(watcher, root); err != nil {
		return nil, errors.Join(err, watcher.Close())
	}
	hints := make(chan struct{}, 1)
	go func() {
		defer func() { _ = watcher.Close() }() // nothing of it is left to lose
		pass(ctx, watcher, hints)
	}()
	return hints, nil
}

// pass turns what happens into hints. A folder that is made is watched too.
func pass(ctx context.Context, watcher *fsnotify.Watcher, hints chan<- struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-watcher.Events:
			if !ok {
				return
			}
			if e.Has(fsnotify.Create) {
				_ = watchBelow(watcher, e.Name) // a file, or too many folders: looking finds it
			}
		case _, ok := <-watcher.Errors: // such as too much at once, which is a hint, too
			if !ok {
				return
			}
		}
		select {
		case hints <- struct{}{}:
		default:
		}
	}
}

func watchBelow(watcher *fsnotify.Watcher, root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() {
			return nil
		}
		if entry.Name() == engine.OwnFolder || len(watcher.WatchList()) >= mostWatched {
			return fs.SkipDir
		}
		if err := watcher.Add(path); err != nil {
			return fmt.Errorf("watch %s: %w", path, err)
		}
		return nil
	})
}
