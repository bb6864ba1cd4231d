package bookmark_test

import (
	"errors"
	"slices"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/flow"
)

// The steps of an attempt after which a server can die, in their order. What
// the server knew is gone then; what it had stored and written stays.
const (
	planned   = "planned"   // the plan is made and not stored
	stored    = "stored"    // the batch is PLANNED
	staged    = "staged"    // the stage is written, the batch not yet STAGED
	written   = "written"   // STAGED, and the pages of the ledger are written ahead
	committed = "committed" // COMMITTED: the bookmark stands at its new version
	half      = "half"      // a part of the stage is in the target
	published = "published" // all of it is
	finalized = "finalized" // FINALIZED
)

var steps = []string{planned, stored, staged, written, committed, half, published, finalized}

// errDied ends an attempt whose server died.
var errDied = errors.New("the server died")

// left is what the database holds of an attempt: its batch with the plan, and
// from STAGED on what it read and will publish.
type left struct {
	state engine.BatchState
	run   engine.ID
	part  engine.SourcePlan
	read  []engine.Entry
}

// attempt is how one attempt goes.
type attempt struct {
	fails bool
	dies  string // the step after which its server dies; "" lives
	// rival is called once the plan is stored: what else happens meanwhile.
	rival func()
}

// attempted is what came of it.
type attempted struct {
	part  engine.SourcePlan
	read  []string // keys that were read, in order; what changed since the plan is not
	again bool     // an earlier server's plan was taken up
	moved bool
}

// try makes an attempt at now, by the transitions of engine/exec: it goes on
// with what a dead server left, if there is such.
func (w *world) try(t tester, now time.Time, a attempt) (attempted, error) {
	t.Helper()
	did := attempted{again: w.left != nil}
	if w.left == nil {
		part, err := w.plan(t.Context(), now)
		if did.part = part; err != nil || len(part.Taken) == 0 {
			return did, err // nothing to do starts no batch and moves nothing
		}
		if a.dies == planned {
			return did, errDied
		}
		w.left = &left{state: engine.BatchPlanned, run: engine.NewID(now), part: part}
	}
	did.part = w.left.part
	if a.dies == stored {
		return did, errDied
	}
	if a.rival != nil {
		mine := w.left
		w.left = nil
		a.rival()
		w.left = mine
	}
	if w.left.state != engine.BatchCommitted {
		if err := w.commit(t, now, a, &did); err != nil || w.left == nil {
			return did, err
		}
	}
	for _, e := range w.left.read {
		did.read = append(did.read, e.Key)
	}
	return did, w.publish(a)
}

// commit reads what the plan takes and moves the bookmark. A stage that is
// there already is that of an attempt whose server died, and is written anew.
func (w *world) commit(t tester, now time.Time, a attempt, did *attempted) error {
	b := w.left
	b.read = w.fetch(b.part, b.run)
	w.stages[b.run] = slices.Clone(b.read)
	if a.dies == staged {
		return errDied
	}
	if a.fails {
		w.discard()
		return nil
	}
	b.state = engine.BatchStaged
	moves, err := w.advance(t, now, b)
	if a.dies == written {
		return errDied
	}
	if err != nil {
		w.discard()
		return err
	}
	if moves != nil {
		moves()
		did.moved = true
	}
	sorted := slices.SortedFunc(slices.Values(b.read), byKey)
	input, err := bookmark.Write(t.Context(), w, bookmark.Empty, sorted)
	must(t, err)
	w.inputs = append([]flow.Input{{Batch: b.run, Ctx: b.part.Ctx, Root: input.Root}}, w.inputs...)
	b.state = engine.BatchCommitted
	if a.dies == committed {
		return errDied
	}
	return nil
}

// fetch reads what the plan takes and is still as it was planned (If-Match).
func (w *world) fetch(part engine.SourcePlan, run engine.ID) (read []engine.Entry) {
	for _, o := range part.Taken {
		if now, ok := w.objects[o.Key]; ok && now.ETag == o.ETag && now.Size == o.Size {
			read = append(read, engine.Entry{Object: o.Object, Run: run, State: engine.EntryRead})
		}
	}
	return read
}

// advance writes the pages of the next ledger ahead and returns the move that
// the commit makes, or Conflict where the bookmark is not where the plan saw it.
func (w *world) advance(t tester, now time.Time, b *left) (func(), error) {
	entries := bookmark.Settled(b.part, b.run, b.read)
	if !b.part.Moves || len(entries) == 0 || w.mark != nil && w.mark.Paused {
		return nil, nil
	}
	mark := engine.Bookmark{ID: engine.NewID(now), Ctx: b.part.Ctx}
	if w.mark != nil {
		mark = *w.mark
	}
	if mark.Version != b.part.LedgerVersion || mark.Root != b.part.LedgerRoot {
		return nil, engine.Errorf(engine.Conflict, "The bookmark is at v%d and was at v%d.", mark.Version, b.part.LedgerVersion)
	}
	mark.Fingerprint = b.part.Fingerprint
	moved, line, err := bookmark.Advance(t.Context(), w, mark, entries, int64(len(b.read)), bookmark.By{Who: "owner", At: now, Run: b.run})
	must(t, err)
	return func() { w.keep(moved, line) }, nil
}

// publish moves the stage into the target file by file. What is there already
// an earlier try has put there.
func (w *world) publish(a attempt) error {
	b := w.left
	for i, e := range b.read {
		if a.dies == half && i == len(b.read)/2 {
			return errDied
		}
		if stage := w.stages[b.run]; len(stage) > 0 && stage[0] == e {
			w.stages[b.run] = stage[1:]
			w.target[content(e.Object)]++
		}
	}
	if a.dies == published {
		return errDied
	}
	w.left = nil
	delete(w.stages, b.run)
	if a.dies == finalized {
		return errDied
	}
	return nil
}

func (w *world) discard() {
	delete(w.stages, w.left.run)
	w.left = nil
}

// content names what the rows of an object are: what was read of which file.
func content(o engine.Object) string { return o.Key + " " + o.ETag }

func byKey(a, b engine.Entry) int { return strings.Compare(a.Key, b.Key) }
