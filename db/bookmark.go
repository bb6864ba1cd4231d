package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/flow"
)

type bookmarkRow struct {
	bun.BaseModel `bun:"table:bookmark"`

	ID          string `bun:"id,pk"`
	JobID       string
	Ctx         string
	Fingerprint string
	Version     int
	Root        string
	Files       int64
	Bytes       int64
	Newest      string
	Paused      int
	At          int64
	By          string
	RunID       string
	Branch      string
}

func (r *bookmarkRow) bookmark() (engine.Bookmark, error) {
	newest, err := decode[engine.Object](r.Newest)
	return engine.Bookmark{
		ID: engine.ID(r.ID), Job: engine.ID(r.JobID), Ctx: r.Ctx, Fingerprint: r.Fingerprint, Version: r.Version, Root: r.Root,
		Files: r.Files, Bytes: r.Bytes, Newest: newest, Paused: r.Paused != 0, At: instant(r.At), By: r.By, Run: engine.ID(r.RunID), Branch: r.Branch,
	}, err
}

func newBookmarkRow(b *engine.Bookmark) *bookmarkRow {
	row := &bookmarkRow{
		ID: string(b.ID), JobID: string(b.Job), Ctx: b.Ctx, Fingerprint: b.Fingerprint, Version: b.Version, Root: b.Root,
		Files: b.Files, Bytes: b.Bytes, Newest: encode(b.Newest), At: micros(b.At), By: b.By, RunID: string(b.Run), Branch: b.Branch,
	}
	if b.Paused {
		row.Paused = 1
	}
	return row
}

type moveRow struct {
	bun.BaseModel `bun:"table:bookmark_move"`

	BookmarkID string `bun:",pk"`
	Seq        int64  `bun:",pk"`
	Version    int
	Kind       string
	ToVersion  int
	Root       string
	Files      int64
	Bytes      int64
	Added      int64
	Again      int64
	Removed    int64
	InBytes    int64
	RowsRead   int64
	Newest     string
	RunID      string
	By         string
	Why        string
	At         int64
}

func (r *moveRow) move() (engine.BookmarkMove, error) {
	newest, err := decode[engine.Object](r.Newest)
	return engine.BookmarkMove{
		Bookmark: engine.ID(r.BookmarkID), Seq: r.Seq, Version: r.Version, Kind: engine.MoveKind(r.Kind), To: r.ToVersion, Root: r.Root,
		Files: r.Files, Bytes: r.Bytes, Added: r.Added, Again: r.Again, Removed: r.Removed, InBytes: r.InBytes, Rows: r.RowsRead,
		Newest: newest, Run: engine.ID(r.RunID), By: r.By, Why: r.Why, At: instant(r.At),
	}, err
}

// insertMove appends a line to the history of a bookmark.
func insertMove(ctx context.Context, tx bun.Conn, m *engine.BookmarkMove) error {
	err := tx.NewSelect().Model((*moveRow)(nil)).ColumnExpr("coalesce(max(seq), 0) + 1").Where("bookmark_id = ?", string(m.Bookmark)).Scan(ctx, &m.Seq)
	if err != nil {
		return fmt.Errorf("number a move of a bookmark: %w", err)
	}
	row := moveRow{
		BookmarkID: string(m.Bookmark), Seq: m.Seq, Version: m.Version, Kind: string(m.Kind), ToVersion: m.To, Root: m.Root,
		Files: m.Files, Bytes: m.Bytes, Added: m.Added, Again: m.Again, Removed: m.Removed, InBytes: m.InBytes, RowsRead: m.Rows,
		Newest: encode(m.Newest), RunID: string(m.Run), By: m.By, Why: m.Why, At: micros(m.At),
	}
	if _, err := tx.NewInsert().Model(&row).Exec(ctx); err != nil {
		return fmt.Errorf("keep a move of a bookmark: %w", err)
	}
	return nil
}

// putMove writes the next version of a bookmark, if it still stands where the
// plan saw it. Of two runs that read the same, the second one is refused.
func (s *Store) putMove(ctx context.Context, tx bun.Conn, m *flow.Move) error {
	row := newBookmarkRow(&m.Bookmark)
	if m.From == 0 && m.FromRoot == bookmark.Empty {
		done, err := s.firstMove(ctx, tx, row)
		if err != nil {
			return err
		}
		if done {
			return insertMove(ctx, tx, &m.Move)
		}
	}
	result, err := tx.NewUpdate().Model(row).Column("fingerprint", "version", "root", "files", "bytes", "newest", "at", "by", "run_id").
		Where("id = ? AND version = ? AND root = ?", row.ID, m.From, m.FromRoot).Exec(ctx)
	if err != nil {
		return fmt.Errorf("move a bookmark: %w", err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		return errors.Join(err, insertMove(ctx, tx, &m.Move))
	}
	var now bookmarkRow
	if err := tx.NewSelect().Model(&now).Where("id = ?", row.ID).Scan(ctx); err != nil {
		return fmt.Errorf("read a bookmark that moved meanwhile: %w", err)
	}
	return engine.Errorf(engine.Conflict, "The bookmark %s was at v%d when this run made its plan and is now at v%d, moved by %s. Nothing was written; start the run again.",
		now.Ctx, m.From, now.Version, mover(&now))
}

func mover(r *bookmarkRow) string {
	if r.RunID != "" {
		return "run " + r.RunID
	}
	return r.By
}

// firstMove makes the row of a bookmark that has none yet. done is false where
// somebody else was first.
func (s *Store) firstMove(ctx context.Context, tx bun.Conn, row *bookmarkRow) (done bool, err error) {
	result, err := tx.NewInsert().Model(row).On("CONFLICT (job_id, ctx, branch) DO NOTHING").Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("make a bookmark: %w", err)
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// BookmarkOf returns the bookmark of one context of a job, or nil.
func (s *Store) BookmarkOf(ctx context.Context, job engine.ID, name string) (*engine.Bookmark, error) {
	var row bookmarkRow
	err := s.read.NewSelect().Model(&row).Where("job_id = ? AND ctx = ? AND branch = ''", string(job), name).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read bookmark %s of %s: %w", name, job, err)
	}
	mark, err := row.bookmark()
	return &mark, err
}

// Bookmark returns a bookmark by id.
func (s *Store) Bookmark(ctx context.Context, id engine.ID) (engine.Bookmark, error) {
	row, err := s.bookmarkRow(ctx, s.read, id)
	if err != nil {
		return engine.Bookmark{}, err
	}
	return row.bookmark()
}

func (s *Store) bookmarkRow(ctx context.Context, on bun.IDB, id engine.ID) (bookmarkRow, error) {
	var row bookmarkRow
	q := on.NewSelect().Model(&row).Where("id = ?", string(id))
	if on != bun.IDB(s.read) {
		q = s.lock(q)
	}
	err := q.Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return row, engine.Errorf(engine.NotFound, "There is no bookmark with the id %s.", id)
	}
	if err != nil {
		return row, fmt.Errorf("read bookmark %s: %w", id, err)
	}
	return row, nil
}

// Bookmarks lists every bookmark, by job and context.
func (s *Store) Bookmarks(ctx context.Context) ([]engine.Bookmark, error) {
	var rows []bookmarkRow
	err := s.read.NewSelect().Model(&rows).Where("ctx NOT LIKE 'crawl:%' AND branch = ''").Order("job_id", "ctx").Scan(ctx)
	return collect(rows, err, (*bookmarkRow).bookmark)
}

// BookmarksOf lists the bookmarks of one job.
func (s *Store) BookmarksOf(ctx context.Context, job engine.ID) ([]engine.Bookmark, error) {
	var rows []bookmarkRow
	err := s.read.NewSelect().Model(&rows).Where("job_id = ? AND branch = ''", string(job)).Order("ctx").Scan(ctx)
	return collect(rows, err, (*bookmarkRow).bookmark)
}

// Branches lists the branches of a bookmark by name.
func (s *Store) Branches(ctx context.Context, job engine.ID, name string) ([]engine.Bookmark, error) {
	var rows []bookmarkRow
	err := s.read.NewSelect().Model(&rows).Where("job_id = ? AND ctx = ? AND branch <> ''", string(job), name).Order("branch").Scan(ctx)
	return collect(rows, err, (*bookmarkRow).bookmark)
}

// DropBranch removes a branch with its history. What it made count as read
// stays where it was promoted.
func (s *Store) DropBranch(ctx context.Context, id engine.ID) error {
	return s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		row, err := s.bookmarkRow(ctx, tx, id)
		if err != nil {
			return err
		}
		if row.Branch == "" {
			return engine.Errorf(engine.Invalid, "Runs read by this bookmark; only a branch can be dropped.")
		}
		if err := s.exec(ctx, tx, "drop the history of a branch", `DELETE FROM bookmark_move WHERE bookmark_id = ?`, string(id)); err != nil {
			return err
		}
		return s.exec(ctx, tx, "drop a branch", `DELETE FROM bookmark WHERE id = ?`, string(id))
	})
}

// MakeBookmark makes a bookmark at its beginning, or returns the one that its
// context has already.
func (s *Store) MakeBookmark(ctx context.Context, b engine.Bookmark) (engine.Bookmark, error) {
	if _, err := s.write.NewInsert().Model(newBookmarkRow(&b)).On("CONFLICT (job_id, ctx, branch) DO NOTHING").Exec(ctx); err != nil {
		return b, diskFull(fmt.Errorf("make a bookmark: %w", err))
	}
	var row bookmarkRow
	err := s.read.NewSelect().Model(&row).Where("job_id = ? AND ctx = ? AND branch = ?", string(b.Job), b.Ctx, b.Branch).Scan(ctx)
	if err != nil {
		return b, fmt.Errorf("read a bookmark that was made: %w", err)
	}
	return row.bookmark()
}

// BookmarkMoves is the history of a bookmark, newest first.
func (s *Store) BookmarkMoves(ctx context.Context, id engine.ID) ([]engine.BookmarkMove, error) {
	return moves(ctx, s.read, id)
}

func moves(ctx context.Context, on bun.IDB, id engine.ID) ([]engine.BookmarkMove, error) {
	var rows []moveRow
	err := on.NewSelect().Model(&rows).Where("bookmark_id = ?", string(id)).Order("seq DESC").Scan(ctx)
	return collect(rows, err, (*moveRow).move)
}

// MoveOf returns the move that a run made, or nil.
func (s *Store) MoveOf(ctx context.Context, run engine.ID, bookmark engine.ID) (*engine.BookmarkMove, error) {
	var row moveRow
	err := s.read.NewSelect().Model(&row).Where("bookmark_id = ? AND run_id = ?", string(bookmark), string(run)).Order("seq DESC").Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the move of run %s: %w", run, err)
	}
	move, err := row.move()
	return &move, err
}

// MoveBookmark calls decide inside a transaction and writes what it returns. A
// move that would pull the ledger away under a run is refused.
func (s *Store) MoveBookmark(ctx context.Context, id engine.ID, beside bool,
	decide func(engine.Bookmark, []engine.BookmarkMove) (engine.Bookmark, engine.BookmarkMove, error),
) (engine.Bookmark, error) {
	var moved engine.Bookmark
	err := s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		row, err := s.bookmarkRow(ctx, tx, id)
		if err != nil {
			return err
		}
		if !beside && row.Branch == "" { // no run reads by a branch
			if err := s.refuseDuringRun(ctx, tx, row.JobID); err != nil {
				return err
			}
		}
		mark, err := row.bookmark()
		if err != nil {
			return err
		}
		history, err := moves(ctx, tx, id)
		if err != nil {
			return err
		}
		next, move, err := decide(mark, slices.Clone(history))
		if err != nil {
			return err
		}
		moved = next
		if _, err := tx.NewUpdate().Model(newBookmarkRow(&next)).WherePK().Exec(ctx); err != nil {
			return fmt.Errorf("move bookmark %s: %w", id, err)
		}
		return insertMove(ctx, tx, &move)
	})
	return moved, err
}

// refuseDuringRun is Conflict while a run of a job reads by its bookmarks.
func (s *Store) refuseDuringRun(ctx context.Context, tx bun.IDB, job string) error {
	var run string
	ref := engine.Ref{Kind: engine.KindJob, ID: engine.ID(job)}
	err := tx.NewSelect().Table("node_run").Column("run_id").
		Where("ref = ? AND "+s.underWay(), ref.String()).Limit(1).Scan(ctx, &run)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for a run of the job: %w", err)
	}
	return engine.Errorf(engine.Conflict, "Run %s of this job is under way and reads by this bookmark. Stop the run, or move the bookmark after it has ended.", run)
}

type pageRow struct {
	bun.BaseModel `bun:"table:ledger_page"`

	ID   string `bun:"id,pk"`
	Body []byte
	At   int64
}

// Page returns a page of a ledger.
func (s *Store) Page(ctx context.Context, id string) ([]byte, error) {
	var body []byte
	err := s.read.DB.QueryRowContext(ctx, s.bind(`SELECT body FROM ledger_page WHERE id = ?`), id).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("page %s of a ledger is missing: %w", id, bookmark.ErrNoPage)
	}
	return body, err
}

// PutPages keeps pages of ledgers, ahead of the commit that names them.
func (s *Store) PutPages(ctx context.Context, pages map[string][]byte) error {
	rows := make([]pageRow, 0, len(pages))
	for id, body := range pages {
		rows = append(rows, pageRow{ID: id, Body: body, At: micros(time.Now())})
	}
	if len(rows) == 0 {
		return nil
	}
	// A page that is there already is written anew: it must not be swept as old
	// before a version names it.
	_, err := s.write.NewInsert().Model(&rows).On("CONFLICT (id) DO UPDATE").Set("at = EXCLUDED.at").Exec(ctx)
	return err
}

// paceRuns is how many of the last runs an estimate is made from.
const paceRuns = 20

// Pace is how fast the last successful runs of a job were, from when each could
// start to its end.
func (s *Store) Pace(ctx context.Context, job engine.ID) (bookmark.Pace, error) {
	var pace bookmark.Pace
	nodes, err := s.NodeHistory(ctx, engine.Ref{Kind: engine.KindJob, ID: job}, paceRuns)
	if err != nil {
		return pace, err
	}
	for _, n := range nodes {
		if n.State != engine.Succeeded || n.Counts.BytesIn == 0 || n.Started.IsZero() || n.Copied != "" {
			continue
		}
		began := n.Started
		if !n.ReadyAt.IsZero() {
			began = n.ReadyAt
		}
		if n.NotBefore.After(began) {
			began = n.NotBefore
		}
		spent := n.Ended.Sub(began)
		if pace.Bytes == 0 || spent < pace.Shortest {
			pace.Shortest = spent
		}
		pace.Bytes += n.Counts.BytesIn
		pace.Rows += n.Counts.RowsOut
		pace.Spent += spent
	}
	return pace, nil
}
