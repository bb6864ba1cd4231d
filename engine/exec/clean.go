package exec

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"dogear/engine"
	"dogear/engine/failpoint"
	"dogear/engine/runner"
)

// cleanEvery is how long the directory of an attempt that has ended may stay.
// To remove it takes longer than a transition, and keeps the folder of its run
// locked, where the next attempt is about to begin.
const cleanEvery = 50 * time.Millisecond

// clean has the attempt's directory removed; its log stays. What was made for its
// process is used again at once where that can be: the next may need it.
func (a *attempt) clean() {
	e, left := a.e, remains{key: a.node.Key(), process: a.node.Process}
	if work, ok := e.Runners[a.node.Ref.Kind].(runner.Keeper); ok && a.node.Process.Apart && work.Reuse(a.node.Process) {
		left.process = engine.Process{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.ended) == 0 {
		e.work.Go(e.cleanUp)
	}
	e.ended = append(e.ended, left)
}

// remains are what an attempt that has ended leaves on the disk.
type remains struct {
	key     engine.NodeKey
	process engine.Process // as in its row, or nothing where that is used again
}

// cleanUp removes the directories of attempts that have ended, a moment later and
// all of them at once, and with the last of a run that of the run.
func (e *Exec) cleanUp() {
	time.Sleep(cleanEvery)
	e.mu.Lock()
	ended := e.ended
	e.ended = nil
	e.mu.Unlock()
	made := e.worked()
	for i := range ended {
		key := ended[i].key
		dir := e.path("work", key)
		failpoint.Hit("exec.clean.before")
		var err error
		if made[string(key.Run)] {
			err = os.RemoveAll(dir)
		}
		if work, ok := e.Runners[key.Ref.Kind].(runner.Keeper); ok {
			err = errors.Join(err, work.Clean(ended[i].process))
		}
		failpoint.Hit("exec.clean.after")
		if err != nil {
			e.Log.Warn("the directory of an attempt could not be removed", "run", key.Run, "node", key.Ref, "err", err)
		}
		e.mu.Lock()
		_, open := e.pins[key.Run]
		e.mu.Unlock()
		if !open && made[string(key.Run)] { // of an open run another attempt may be about to make its own in it
			_ = os.Remove(filepath.Dir(dir)) // it stays where another attempt is not yet clean
		}
	}
}

// worked are the runs that have a directory. Most attempts leave nothing there, and to
// look for each costs more than to look once.
func (e *Exec) worked() map[string]bool {
	entries, err := os.ReadDir(filepath.Join(e.Dir, "work"))
	if err != nil {
		return nil // nothing was ever made
	}
	made := make(map[string]bool, len(entries))
	for _, entry := range entries {
		made[entry.Name()] = true
	}
	return made
}

// tidy removes the directories that an earlier server left here, but for those
// of nodes that are taken up now: an attempt that another server went on with
// has another one there.
func (e *Exec) tidy(left []engine.NodeRun) {
	keep, processes := map[string]bool{}, []engine.Process(nil)
	for i := range left {
		keep[e.path("work", left[i].Key())] = true
		processes = append(processes, left[i].Process)
	}
	if work, ok := e.Runners[engine.KindJob].(runner.Keeper); ok {
		if err := work.KeepOnly(processes); err != nil {
			e.Log.Warn("the folder of an old script could not be removed", "err", err)
		}
	}
	work := filepath.Join(e.Dir, "work")
	runs, err := os.ReadDir(work)
	if err != nil {
		return // nothing was ever made
	}
	for _, run := range runs {
		attempts, err := os.ReadDir(filepath.Join(work, run.Name()))
		if err != nil {
			continue
		}
		for _, attempt := range attempts {
			path := filepath.Join(work, run.Name(), attempt.Name())
			if keep[path] {
				continue
			}
			if err := os.RemoveAll(path); err != nil {
				e.Log.Warn("the directory of an old attempt could not be removed", "path", path, "err", err)
			}
		}
		_ = os.Remove(filepath.Join(work, run.Name())) // one that is not empty is in use
	}
}
