// Command ledger measures the ledger of bookmarks at ten million objects. It is
// a program of its own because it links no DuckDB, whose pages would count as
// memory of the ledger. It prints one JSON line a figure.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"dogear/db"
	"dogear/db/secret"
	"dogear/e2e/bench/measure"
	"dogear/engine"
	"dogear/engine/bookmark"
)

const manyObjects = 10_000_000

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1)
	}
}

// run makes a ledger, measures the memory of one plan, or measures all, each in
// a process of its own.
func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return measureAll(ctx)
	}
	if len(args) != 3 {
		return fmt.Errorf("want make DIR N, plan DIR N or nothing")
	}
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	if args[0] == "make" {
		return makeLedger(ctx, args[1], n)
	}
	return measureMemory(ctx, args[1], n)
}

func openStore(ctx context.Context, dir string) (*db.Store, error) {
	key, err := secret.New(make([]byte, 32))
	if err != nil {
		return nil, err
	}
	return db.Open(ctx, filepath.Join(dir, "dogear.db"), key)
}

// makeLedger is the process that writes a ledger, so that its memory is not
// that of the one that measures.
func makeLedger(ctx context.Context, dir string, n int) error {
	store, err := openStore(ctx, dir)
	if err != nil {
		return err
	}
	root, err := ledgerOf(ctx, store, bucketOf{n: n})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "root"), []byte(root), 0o600); err != nil {
		return err
	}
	return store.Close()
}

// known is a ledger for a job that reads the bucket.
type known struct {
	*db.Store
	root string
}

func (k known) BookmarkOf(context.Context, engine.ID, string) (*engine.Bookmark, error) {
	src := bucketJob().Sources[0]
	return &engine.Bookmark{ID: "mark", Version: 1, Root: k.root, Fingerprint: bookmark.Fingerprint(src)}, nil
}

func bucketJob() *engine.SQLJob {
	return &engine.SQLJob{
		Sources: []engine.Source{{Name: "files", Path: "s3://lake/**", Format: engine.CSV, Ctx: "files"}},
		Sinks:   []engine.Sink{{From: "files", Path: "out", Mode: engine.Merge, Keys: []string{"id"}}},
	}
}

// merged plans the later listing against a ledger of n, and says how long that
// took beyond walking the listing alone.
func merged(ctx context.Context, store *db.Store, root string, n int) (time.Duration, engine.SourcePlan, error) {
	later := bucketOf{n: n, later: true}
	start := time.Now()
	for _, err := range later.List(ctx, engine.Source{}) {
		if err != nil {
			return 0, engine.SourcePlan{}, err
		}
	}
	alone := time.Since(start)
	planner := bookmark.Planner{Ledger: known{store, root}, Lister: later}
	start = time.Now()
	plan, err := planner.Plan(ctx, bookmark.Request{
		Job: engine.Job{JobBody: engine.JobBody{Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, SQL: bucketJob()}}, Now: time.Now(),
	})
	if err != nil {
		return 0, engine.SourcePlan{}, err
	}
	took := time.Since(start) - alone
	part := plan.Sources[0]
	want := map[engine.Reason]int64{
		engine.ReasonNew: int64(n / 100), engine.ReasonChanged: int64(n / 1000), engine.ReasonGone: int64(n / 1000),
		engine.ReasonAlreadyRead: int64(n - 2*n/1000),
	}
	for reason, files := range want {
		if got := part.Counts[reason].Files; got != files {
			return 0, part, fmt.Errorf("the plan finds %d %s, want %d", got, reason, files)
		}
	}
	return took, part, nil
}

// opened is a store and the root of the ledger in it.
type opened struct {
	store *db.Store
	root  string
}

func open(ctx context.Context, dir string) (opened, error) {
	store, err := openStore(ctx, dir)
	if err != nil {
		return opened{}, err
	}
	root, err := os.ReadFile(filepath.Join(dir, "root"))
	return opened{store, string(root)}, err
}

// measureMemory is the process of one plan.
func measureMemory(ctx context.Context, dir string, n int) error {
	at, err := open(ctx, dir)
	if err != nil {
		return err
	}
	if _, _, err := merged(ctx, at.store, at.root, n); err != nil {
		return err
	}
	measure.Figure{Name: "ledger_merge_10m_memory", Ours: measure.Peak(), Limit: 120, Unit: "MB", Note: "peak of the process that made one such plan"}.Print()
	return at.store.Close()
}

// measureAll measures the ledger at ten million objects, and that its cost
// grows with them and not faster.
func measureAll(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "dogear-ledger-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	large, err := made(ctx, filepath.Join(dir, "large"), manyObjects)
	if err != nil {
		return err
	}
	small, err := made(ctx, filepath.Join(dir, "small"), manyObjects/10)
	if err != nil {
		return err
	}
	part, err := compared(ctx, large, small)
	if err != nil {
		return err
	}
	if err := measure.Again(ctx, "plan", filepath.Join(dir, "large"), strconv.Itoa(manyObjects)); err != nil {
		return err
	}
	size, err := fileSize(filepath.Join(dir, "large", "dogear.db"))
	if err != nil {
		return err
	}
	measure.Figure{Name: "ledger_size_10m", Ours: size, Limit: 400, Unit: "MB", Note: "the database that holds only the ledger of 10 million objects"}.Print()
	if err := lookups(ctx, large.store, large.root); err != nil {
		return err
	}
	return commit1pct(ctx, large.store, large.root, part)
}

// made makes the ledger of n objects in a process of its own and opens it.
func made(ctx context.Context, dir string, n int) (opened, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return opened{}, err
	}
	if err := measure.Again(ctx, "make", dir, strconv.Itoa(n)); err != nil {
		return opened{}, err
	}
	return open(ctx, dir)
}

// compared plans on a large and a small ledger in pairs, so that a busy machine
// slows both sides, and returns the plan on the large one.
func compared(ctx context.Context, large, small opened) (engine.SourcePlan, error) {
	var best, bestSmall time.Duration
	var part engine.SourcePlan
	for range 3 {
		took, plan, err := merged(ctx, large.store, large.root, manyObjects)
		if err != nil {
			return part, err
		}
		tookSmall, _, err := merged(ctx, small.store, small.root, manyObjects/10)
		if err != nil {
			return part, err
		}
		if best == 0 || took < best {
			best, part = took, plan
		}
		if bestSmall == 0 || tookSmall < bestSmall {
			bestSmall = tookSmall
		}
	}
	measure.Figure{
		Name: "ledger_merge_10m", Ours: best.Seconds(), Limit: 2.5, Unit: "s",
		Note: "a listing with 1 % new, 0.1 % changed, 0.1 % gone against 10 million known objects; best of three, without making up the listing",
	}.Print()
	measure.Figure{
		Name: "ledger_growth", Ours: best.Seconds(), Against: 10 * bestSmall.Seconds(), Limit: 1.2, Unit: "s",
		Note: "10 million objects against ten times 1 million; the limit is on the ratio",
	}.Print()
	return part, nil
}

func fileSize(path string) (float64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()) / 1e6, nil
}

// lookups asks whether a file was read.
func lookups(ctx context.Context, store *db.Store, root string) error {
	var all []time.Duration
	for i := range 50 {
		o, _ := object(i*manyObjects/50+i, 0, nil)
		start := time.Now()
		e, err := bookmark.Find(ctx, store, root, o.Key)
		if err != nil {
			return err
		}
		all = append(all, time.Since(start))
		if e == nil || e.ETag != o.ETag {
			return fmt.Errorf("%s was not found as it was read", o.Key)
		}
	}
	measure.Figure{Name: "ledger_lookup", Ours: measure.Median(all) / 1000, Limit: 5, Unit: "ms", Note: "was this file read? median of 50 among 10 million"}.Print()
	return nil
}

// commit1pct lays the new objects of the plan over the ledger: what a run's
// commit costs, its pages written ahead included.
func commit1pct(ctx context.Context, store *db.Store, root string, part engine.SourcePlan) error {
	run := engine.NewID(time.Now())
	var entries []engine.Entry
	for _, o := range part.Taken {
		if o.Reason == engine.ReasonNew {
			entries = append(entries, engine.Entry{Object: o.Object, Run: run, State: engine.EntryRead})
		}
	}
	start := time.Now()
	_, move, err := bookmark.Advance(ctx, store, engine.Bookmark{ID: "mark", Version: 1, Root: root}, entries, 0, bookmark.By{Who: "bench", At: time.Now(), Run: run})
	if err != nil {
		return err
	}
	took := time.Since(start)
	if move.Added != int64(len(entries)) || move.Files != manyObjects+move.Added {
		return fmt.Errorf("the advance added %d of %d", move.Added, len(entries))
	}
	measure.Figure{Name: "ledger_commit_1pct", Ours: took.Seconds(), Limit: 0.5, Unit: "s", Note: "100,000 new objects of the newest days over 10 million"}.Print()
	return nil
}
