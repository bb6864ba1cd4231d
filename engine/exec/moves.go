package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/flow"
	"dogear/engine/runner"
)

// mostMovesTries bounds how often moves are tried that break although the
// database answers.
const mostMovesTries = 5

// movesThrough is moves, tried again where the machine broke it, and for as long
// as the database is away: pages that are written twice are one, and the work of
// the attempt is done. What the end of ctx breaks off fails with its cause.
func (a *attempt) movesThrough(ctx context.Context, r runner.Result) ([]flow.Move, []flow.Input, error) {
	broke := 0 // while the database answered
	for try := 1; ; try++ {
		moves, inputs, err := a.moves(ctx, r)
		if err == nil || engine.CodeOf(err) != engine.Internal && !away(err) {
			return moves, inputs, err
		}
		if a.e.Store.Ping(ctx) == nil {
			broke++
		}
		if broke == mostMovesTries {
			return nil, nil, err
		}
		a.e.Log.Error("how a bookmark moves could not be worked out and is tried again", "run", a.node.Run, "node", a.node.Ref, "try", try, "err", err)
		if ctx.Err() != nil || !a.pause(ctx, min(a.e.Backoff(try), longestWait)) {
			return nil, nil, context.Cause(ctx)
		}
	}
}

// moves works out how the result moves the bookmarks of the job or crawler,
// writing the pages of their ledgers ahead of the commit.
func (a *attempt) moves(ctx context.Context, r runner.Result) ([]flow.Move, []flow.Input, error) {
	if a.batch == nil {
		return nil, nil, nil
	}
	var moves []flow.Move
	var inputs []flow.Input
	for _, part := range a.batch.Plan.Sources {
		change := changeOf(r, part)
		input, err := a.input(ctx, part, r.State)
		if err != nil {
			return nil, nil, err
		}
		if input != nil {
			inputs = append(inputs, *input)
		}
		if part.Read == engine.ReadAll {
			continue
		}
		move, err := a.move(ctx, part, change, r.State)
		if err != nil {
			return nil, nil, err
		}
		if move != nil {
			moves = append(moves, *move)
		}
	}
	return moves, inputs, nil
}

func changeOf(r runner.Result, part engine.SourcePlan) runner.LedgerChange {
	for _, c := range r.Ledger {
		if c.Ctx == part.Ctx {
			return c
		}
	}
	return runner.LedgerChange{}
}

// move is the advance of one bookmark, nil where it stays. What was held is
// kept whatever the state, so that nobody stumbles over it again.
func (a *attempt) move(ctx context.Context, part engine.SourcePlan, change runner.LedgerChange, state engine.State) (*flow.Move, error) {
	entries := slices.Clone(change.Entries)
	for i := range entries {
		entries[i].Run = a.node.Run
	}
	if state == engine.Succeeded {
		entries = bookmark.Settled(part, a.node.Run, entries)
	} else {
		entries = slices.DeleteFunc(entries, func(e engine.Entry) bool { return e.State != engine.EntryHeld })
	}
	if len(entries) == 0 {
		return nil, nil
	}
	mark, err := a.e.Store.BookmarkOf(ctx, a.node.Ref.ID, part.Ctx)
	if err != nil {
		return nil, err
	}
	if mark == nil {
		mark = &engine.Bookmark{ID: engine.NewID(a.e.Now()), Job: a.node.Ref.ID, Ctx: part.Ctx}
	}
	if mark.Paused || !part.Moves {
		return nil, nil
	}
	mark.Fingerprint = part.Fingerprint
	from, root := part.LedgerVersion, part.LedgerRoot
	mark.Version, mark.Root = from, root // the store refuses it where the ledger has moved on
	moved, line, err := bookmark.Advance(ctx, a.e.Store, *mark, entries, change.Rows, bookmark.By{
		Who: a.run.By, At: a.e.Now().UTC(), Run: a.node.Run,
	})
	if err != nil {
		return nil, fmt.Errorf("write the ledger of %s: %w", part.Ctx, err)
	}
	return &flow.Move{Bookmark: moved, Move: line, From: from, FromRoot: root}, nil
}

// input packs what one source of a successful attempt read, so that it can be
// asked for ever after.
func (a *attempt) input(ctx context.Context, part engine.SourcePlan, state engine.State) (*flow.Input, error) {
	if state != engine.Succeeded || len(part.Taken) == 0 {
		return nil, nil
	}
	entries := make([]engine.Entry, len(part.Taken))
	for i, o := range part.Taken {
		entries[i] = engine.Entry{Object: o.Object, Run: a.node.Run, State: engine.EntryRead}
	}
	slices.SortFunc(entries, func(x, y engine.Entry) int { return strings.Compare(x.Key, y.Key) })
	written, err := bookmark.Write(ctx, a.e.Store, bookmark.Empty, entries)
	if err != nil {
		return nil, fmt.Errorf("keep what was read of %s: %w", part.Source, err)
	}
	return &flow.Input{Batch: a.batch.ID, Ctx: part.Ctx, Root: written.Root, Files: written.Files, Bytes: written.Bytes}, nil
}
