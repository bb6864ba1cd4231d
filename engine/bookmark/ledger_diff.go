package bookmark

import (
	"context"
	"iter"

	"dogear/engine"
	"dogear/engine/bookmark/page"
)

// Difference is what one version of a ledger counts as read and another does
// not.
type Difference struct {
	Key  string
	From *engine.Entry // nil: not there before
	To   *engine.Entry // nil: not there afterwards
}

// Diff yields what differs from the ledger at root a to the one at root b, in
// order of key. Pages that both share are not read.
func Diff(ctx context.Context, pages Pages, a, b string) iter.Seq2[Difference, error] {
	return func(yield func(Difference, error) bool) {
		fail := func(err error) { yield(Difference{}, err) }
		left, err := refs(ctx, pages, a)
		if err != nil {
			fail(err)
			return
		}
		right, err := refs(ctx, pages, b)
		if err != nil {
			fail(err)
			return
		}
		shared := map[string]bool{}
		for _, ref := range left {
			shared[ref.ID] = true
		}
		both := map[string]bool{}
		for _, ref := range right {
			both[ref.ID] = shared[ref.ID]
		}
		nextA, stopA := iter.Pull2(unshared(ctx, pages, left, both))
		defer stopA()
		nextB, stopB := iter.Pull2(unshared(ctx, pages, right, both))
		defer stopB()
		zip(nextA, nextB, yield)
	}
}

// unshared yields the entries of the pages that are not in both.
func unshared(ctx context.Context, pages Pages, all []page.Ref, both map[string]bool) iter.Seq2[engine.Entry, error] {
	return func(yield func(engine.Entry, error) bool) {
		var decoder page.Decoder
		for _, ref := range all {
			if both[ref.ID] {
				continue
			}
			entries, err := load(ctx, pages, ref, &decoder)
			if err != nil {
				yield(engine.Entry{}, err)
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

type pull func() (engine.Entry, error, bool)

// zip walks two sorted sequences side by side and yields where they differ.
func zip(nextA, nextB pull, yield func(Difference, error) bool) {
	a, errA, okA := nextA()
	b, errB, okB := nextB()
	for okA || okB {
		if errA != nil || errB != nil {
			yield(Difference{}, firstError(errA, errB))
			return
		}
		var d Difference
		switch {
		case !okB || okA && a.Key < b.Key:
			from := a
			d = Difference{Key: a.Key, From: &from}
			a, errA, okA = nextA()
		case !okA || b.Key < a.Key:
			to := b
			d = Difference{Key: b.Key, To: &to}
			b, errB, okB = nextB()
		default:
			from, to := a, b
			d = Difference{Key: a.Key, From: &from, To: &to}
			a, errA, okA = nextA()
			b, errB, okB = nextB()
		}
		if d.From != nil && d.To != nil && *d.From == *d.To {
			continue
		}
		if !yield(d, nil) {
			return
		}
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
