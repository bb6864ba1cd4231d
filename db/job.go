package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"dogear/engine"
)

// published reads the published body of a row; that of an object nobody has
// published yet is zero.
func published[B any](r *objectRow) (engine.Head, B, error) {
	body, err := decode[B](r.Body)
	return r.head(), body, err
}

// drafted reads a row as it is being edited.
func drafted[B any](r *objectRow) (engine.Draft[B], error) {
	text := r.Body
	if r.Draft.Valid {
		text = r.Draft.String
	}
	body, err := decode[B](text)
	return engine.Draft[B]{Head: r.head(), Body: body, Open: r.Draft.Valid, Seq: r.DraftSeq}, err
}

func job(r *objectRow) (engine.Job, error) {
	head, body, err := published[engine.JobBody](r)
	return engine.Job{Head: head, JobBody: body}, err
}

func crawler(r *objectRow) (engine.Crawler, error) {
	head, body, err := published[engine.CrawlerBody](r)
	return engine.Crawler{Head: head, CrawlerBody: body}, err
}

func connection(r *objectRow) (engine.Connection, error) {
	head, body, err := published[engine.ConnectionBody](r)
	return engine.Connection{Head: head, ConnectionBody: body}, err
}

// Jobs lists the jobs by name as they are published.
func (s *Store) Jobs(ctx context.Context) ([]engine.Job, error) {
	rows, err := s.objects(ctx, engine.KindJob)
	return collect(rows, err, job)
}

// JobDrafts lists the jobs by name as they are being edited.
func (s *Store) JobDrafts(ctx context.Context) ([]engine.Draft[engine.JobBody], error) {
	rows, err := s.objects(ctx, engine.KindJob)
	return collect(rows, err, drafted[engine.JobBody])
}

// Job returns the published version of a job.
func (s *Store) Job(ctx context.Context, id engine.ID) (engine.Job, error) {
	row, err := s.object(ctx, s.read.DB, engine.KindJob, id, false)
	if err != nil {
		return engine.Job{}, err
	}
	return job(&row)
}

// JobHeads returns what is published of those of some jobs that are there.
func (s *Store) JobHeads(ctx context.Context, ids []engine.ID) (map[engine.ID]engine.Head, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []objectRow
	err := s.read.NewSelect().Model(&rows).Column("id", "name", "version").
		Where("kind = ? AND deleted_at = 0 AND id IN (?)", string(engine.KindJob), bun.List(ids)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the versions of jobs: %w", err)
	}
	heads := make(map[engine.ID]engine.Head, len(rows))
	for i := range rows {
		id := engine.ID(rows[i].ID)
		heads[id] = engine.Head{ID: id, Name: rows[i].Name, Version: rows[i].Version}
	}
	return heads, nil
}

// JobNamed returns the published version of the job with that name.
func (s *Store) JobNamed(ctx context.Context, name string) (engine.Job, error) {
	row, err := s.objectNamed(ctx, engine.KindJob, name)
	if err != nil {
		return engine.Job{}, err
	}
	return job(&row)
}

// JobVersion returns an earlier version of a job.
func (s *Store) JobVersion(ctx context.Context, id engine.ID, version int) (engine.Job, error) {
	head, body, err := versionBody[engine.JobBody](ctx, s.read.DB, s.bind(selectVersion), id, version)
	return engine.Job{Head: head, JobBody: body}, err
}

// JobDraft returns a job as it is being edited.
func (s *Store) JobDraft(ctx context.Context, id engine.ID) (engine.Draft[engine.JobBody], error) {
	row, err := s.object(ctx, s.read.DB, engine.KindJob, id, false)
	if err != nil {
		return engine.Draft[engine.JobBody]{}, err
	}
	return drafted[engine.JobBody](&row)
}

// CreateJob makes a job as a draft and returns its id.
func (s *Store) CreateJob(ctx context.Context, name string, body engine.JobBody, by string, now time.Time) (engine.ID, error) {
	return s.create(ctx, engine.KindJob, name, body, by, now)
}

// SaveJobDraft keeps body as the draft of a job. base is the newest operation
// the editor has seen; another one since then is a Conflict.
func (s *Store) SaveJobDraft(ctx context.Context, id engine.ID, body engine.JobBody, base int64, by string, now time.Time) (int64, error) {
	return s.saveDraft(ctx, engine.KindJob, id, body, base)
}

// PublishJob makes the draft of a job its next version.
func (s *Store) PublishJob(ctx context.Context, id engine.ID, by string, now time.Time) (engine.Job, error) {
	row, err := s.publishOne(ctx, engine.KindJob, id, by, now)
	if err != nil {
		return engine.Job{}, err
	}
	return job(&row)
}

// Crawlers lists the crawlers by name as they are published.
func (s *Store) Crawlers(ctx context.Context) ([]engine.Crawler, error) {
	rows, err := s.objects(ctx, engine.KindCrawler)
	return collect(rows, err, crawler)
}

// CrawlerDrafts lists the crawlers by name as they are being edited.
func (s *Store) CrawlerDrafts(ctx context.Context) ([]engine.Draft[engine.CrawlerBody], error) {
	rows, err := s.objects(ctx, engine.KindCrawler)
	return collect(rows, err, drafted[engine.CrawlerBody])
}

// Crawler returns the published version of a crawler.
func (s *Store) Crawler(ctx context.Context, id engine.ID) (engine.Crawler, error) {
	row, err := s.object(ctx, s.read.DB, engine.KindCrawler, id, false)
	if err != nil {
		return engine.Crawler{}, err
	}
	return crawler(&row)
}

// CrawlerNamed returns the published version of the crawler with that name.
func (s *Store) CrawlerNamed(ctx context.Context, name string) (engine.Crawler, error) {
	row, err := s.objectNamed(ctx, engine.KindCrawler, name)
	if err != nil {
		return engine.Crawler{}, err
	}
	return crawler(&row)
}

// CrawlerDraft returns a crawler as it is being edited.
func (s *Store) CrawlerDraft(ctx context.Context, id engine.ID) (engine.Draft[engine.CrawlerBody], error) {
	row, err := s.object(ctx, s.read.DB, engine.KindCrawler, id, false)
	if err != nil {
		return engine.Draft[engine.CrawlerBody]{}, err
	}
	return drafted[engine.CrawlerBody](&row)
}

// CreateCrawler makes a crawler as a draft and returns its id.
func (s *Store) CreateCrawler(ctx context.Context, name string, body engine.CrawlerBody, by string, now time.Time) (engine.ID, error) {
	return s.create(ctx, engine.KindCrawler, name, body, by, now)
}

// SaveCrawlerDraft keeps body as the draft of a crawler; see SaveJobDraft.
func (s *Store) SaveCrawlerDraft(ctx context.Context, id engine.ID, body engine.CrawlerBody, base int64, by string, now time.Time) (int64, error) {
	return s.saveDraft(ctx, engine.KindCrawler, id, body, base)
}

// PublishCrawler makes the draft of a crawler its next version.
func (s *Store) PublishCrawler(ctx context.Context, id engine.ID, by string, now time.Time) (engine.Crawler, error) {
	row, err := s.publishOne(ctx, engine.KindCrawler, id, by, now)
	if err != nil {
		return engine.Crawler{}, err
	}
	return crawler(&row)
}

// create makes an object of any kind as a draft.
func (s *Store) create(ctx context.Context, kind engine.Kind, name string, body any, by string, now time.Time) (engine.ID, error) {
	if err := engine.CheckName(string(kind), name); err != nil {
		return "", err
	}
	id := engine.NewID(now)
	return id, s.insertObject(ctx, kind, id, name, body, by, now)
}

func (s *Store) saveDraft(ctx context.Context, kind engine.Kind, id engine.ID, body any, base int64) (int64, error) {
	var seq int64
	err := s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		row, err := s.object(ctx, tx.Conn, kind, id, true)
		if err != nil {
			return err
		}
		if row.DraftSeq != base {
			return engine.Errorf(engine.Conflict,
				"Somebody else saved this %s since you opened it. Open it again in another tab to see what changed; what you typed is still here.", kind)
		}
		row.DraftSeq++
		seq = row.DraftSeq
		text := encode(body)
		row.Draft = sql.NullString{String: text, Valid: text != row.Body}
		if _, err := tx.NewUpdate().Model(&row).WherePK().Exec(ctx); err != nil {
			return fmt.Errorf("save the draft of %s %s: %w", kind, id, err)
		}
		return nil
	})
	return seq, err
}

// publishOne makes the open draft of one object its next version. Without an
// open draft nothing changes.
func (s *Store) publishOne(ctx context.Context, kind engine.Kind, id engine.ID, by string, now time.Time) (objectRow, error) {
	var row objectRow
	err := s.tx(ctx, func(ctx context.Context, tx bun.Conn) error {
		var err error
		if row, err = s.object(ctx, tx.Conn, kind, id, true); err != nil || !row.Draft.Valid {
			return err
		}
		return s.publishText(ctx, tx, &row, by, now)
	})
	return row, err
}

// publishText makes the stored draft of row its next version as it stands. The
// bookmarks of a job go by the names of its contexts from then on.
func (s *Store) publishText(ctx context.Context, tx bun.IDB, row *objectRow, by string, now time.Time) error {
	if row.Version > 0 && row.Kind == string(engine.KindJob) {
		if err := s.renameMarks(ctx, tx, row.ID, row.Body, row.Draft.String); err != nil {
			return err
		}
	}
	if row.Kind == string(engine.KindJob) {
		body, err := decode[engine.JobBody](row.Draft.String)
		if err != nil {
			return err
		}
		row.MaxRuns, row.Priority, row.Pool = body.MaxRuns, body.Priority, body.Pool
	}
	row.Version++
	row.Body, row.Draft = row.Draft.String, sql.NullString{}
	row.At, row.By = micros(now), by
	if _, err := tx.NewUpdate().Model(row).WherePK().Exec(ctx); err != nil {
		return fmt.Errorf("publish %s %q: %w", row.Kind, row.Name, err)
	}
	version := objectVersionRow{ObjectID: row.ID, Version: row.Version, Name: row.Name, Body: row.Body, At: row.At, By: by}
	if _, err := tx.NewInsert().Model(&version).Exec(ctx); err != nil {
		return fmt.Errorf("keep version %d of %s %q: %w", row.Version, row.Kind, row.Name, err)
	}
	return nil
}
