package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"dogear/db"
	"dogear/db/secret"
	"dogear/engine"
	"dogear/engine/bookmark"
)

// bucketOf is a listing of n objects as a bucket shows them: a day holds a
// thousand, each with an ETag that cannot be packed. Of those that a ledger of
// the same n knows, one in a thousand has changed and one in a thousand is
// gone; one in a hundred is new.
type bucketOf struct {
	n     int
	later bool // the listing a day later: with what is changed, gone and new
}

// etag is 16 bytes without a pattern that follow from a number (SplitMix64).
func etag(i, content int) string {
	var raw [16]byte
	x := uint64(i)<<8 | uint64(content)
	for half := range 2 {
		x += 0x9e3779b97f4a7c15
		z := x
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		binary.LittleEndian.PutUint64(raw[half*8:], z^z>>31)
	}
	return hex.EncodeToString(raw[:])
}

var firstDay = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

const perDay = 1000

func object(i, content int, key []byte) (engine.Object, []byte) {
	day := firstDay.AddDate(0, 0, i/perDay)
	if i%perDay == 0 || len(key) == 0 {
		key = day.AppendFormat(key[:0], "sales/2006/01/02/part-")
	}
	const dayLength = len("sales/2006/01/02/part-")
	key = append(key[:dayLength], "00000000"...)
	digits := strconv.AppendInt(nil, int64(i%perDay), 10)
	copy(key[len(key)-len(digits):], digits)
	key = append(key, ".csv.gz"...)
	return engine.Object{
		Key: string(key), Size: int64(20_000 + i%977 + content), ModNS: day.UnixNano() + int64(i%perDay)*1e6, ETag: etag(i, content),
	}, key
}

func (b bucketOf) List(context.Context, engine.Source) iter.Seq2[bookmark.Listed, error] {
	return func(yield func(bookmark.Listed, error) bool) {
		var key []byte
		var o engine.Object
		n := b.n
		if b.later {
			n += b.n / 100
		}
		for i := range n {
			content := 0
			if b.later && i < b.n {
				if i%1000 == 1 {
					continue
				}
				if i%1000 == 2 {
					content = 1
				}
			}
			o, key = object(i, content, key)
			if !yield(bookmark.Listed{Object: o}, nil) {
				return
			}
		}
	}
}

func (bucketOf) Root(engine.Source) string { return "s3://lake" }

// ledgerOf writes the ledger that knows all of b, as runs of a day's files
// would leave it.
func ledgerOf(ctx context.Context, store *db.Store, b bucketOf) (string, error) {
	const chunk = 64 * 4096
	root, run := bookmark.Empty, engine.NewID(time.Now())
	changes := make([]engine.Entry, 0, chunk)
	flush := func() error {
		written, err := bookmark.Write(ctx, store, root, changes)
		root, changes = written.Root, changes[:0]
		return err
	}
	for o, err := range b.List(ctx, engine.Source{}) {
		if err != nil {
			return root, err
		}
		changes = append(changes, engine.Entry{Object: o.Object, Run: run, State: engine.EntryRead})
		if len(changes) == chunk {
			if err := flush(); err != nil {
				return root, err
			}
		}
	}
	return root, flush()
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

const manyObjects = 10_000_000

// ledger measures the ledger at ten million objects, and that its cost grows
// with them and not faster.
func ledger(ctx context.Context, dir string) error {
	large, small := filepath.Join(dir, "large"), filepath.Join(dir, "small")
	var stores [2]*db.Store
	var roots [2]string
	for i, at := range []string{large, small} {
		if err := os.MkdirAll(at, 0o700); err != nil {
			return err
		}
		if err := again(ctx, "ledger", at, strconv.Itoa([]int{manyObjects, manyObjects / 10}[i])); err != nil {
			return err
		}
		var err error
		if stores[i], err = openStore(ctx, at); err != nil {
			return err
		}
		root, err := os.ReadFile(filepath.Join(at, "root"))
		if err != nil {
			return err
		}
		roots[i] = string(root)
	}
	// Pairs, so that a busy machine slows both sides.
	var best, bestSmall time.Duration
	var part engine.SourcePlan
	var memory float64
	for range 3 {
		took, plan, err := merged(ctx, stores[0], roots[0], manyObjects)
		if err != nil {
			return err
		}
		if memory == 0 { // later the plans before it count as well
			memory = peak()
		}
		tookSmall, _, err := merged(ctx, stores[1], roots[1], manyObjects/10)
		if err != nil {
			return err
		}
		if best == 0 || took < best {
			best, part = took, plan
		}
		if bestSmall == 0 || tookSmall < bestSmall {
			bestSmall = tookSmall
		}
	}
	figure{Name: "ledger_merge_10m", Ours: best.Seconds(), Limit: 2.5, Unit: "s", Note: "a listing with 1 % new, 0.1 % changed, 0.1 % gone against 10 million known objects; best of three, without making up the listing"}.print()
	figure{Name: "ledger_merge_10m_memory", Ours: memory, Limit: 120, Unit: "MB", Note: fmt.Sprintf("peak of the process that planned; %.0f MB of it are the program's own file, which DuckDB makes large", program())}.print()
	figure{Name: "ledger_growth", Ours: best.Seconds(), Against: 10 * bestSmall.Seconds(), Limit: 1.2, Unit: "s", Note: "10 million objects against ten times 1 million; the limit is on the ratio"}.print()
	size, err := fileSize(filepath.Join(large, "dogear.db"))
	if err != nil {
		return err
	}
	figure{Name: "ledger_size_10m", Ours: size, Limit: 400, Unit: "MB", Note: "the database that holds only the ledger of 10 million objects"}.print()
	if err := lookups(ctx, stores[0], roots[0]); err != nil {
		return err
	}
	return commit1pct(ctx, stores[0], roots[0], part)
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
	figure{Name: "ledger_lookup", Ours: median(all) / 1000, Limit: 5, Unit: "ms", Note: "was this file read? median of 50 among 10 million"}.print()
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
	figure{Name: "ledger_commit_1pct", Ours: took.Seconds(), Limit: 0.5, Unit: "s", Note: "100,000 new objects of the newest days over 10 million"}.print()
	return nil
}
