package place

import (
	"io/fs"
	"os"
	"sync"
	"time"
)

// Whole remembers the files that sinks of this server wrote: they get their
// names when they are complete, so that whoever reads them need not wait until
// they have settled. A file counts only as long as it is the very one, with the
// size and time that it had; what somebody else writes there is none of ours.
// The zero value is ready, nil knows of no file.
type Whole struct {
	mu    sync.Mutex
	files map[string]whole
}

type whole struct {
	info  fs.FileInfo
	noted time.Time
}

// wholeFor is how long a file is remembered: longer than files settle.
const wholeFor = 10 * time.Minute

// Note remembers that the file of info is complete and will be called path.
func (w *Whole) Note(path string, info fs.FileInfo) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files == nil {
		w.files = map[string]whole{}
	}
	w.files[path] = whole{info, time.Now()}
}

// Forget drops what was noted long ago.
func (w *Whole) Forget() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, f := range w.files {
		if time.Since(f.noted) > wholeFor {
			delete(w.files, path)
		}
	}
}

// Has reports whether info, of the file at path, is that of a complete file.
func (w *Whole) Has(path string, info fs.FileInfo) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.files[path]
	return ok && os.SameFile(f.info, info) && f.info.Size() == info.Size() && f.info.ModTime().Equal(info.ModTime())
}
