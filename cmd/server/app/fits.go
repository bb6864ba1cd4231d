package app

import (
	"context"

	"dogear/engine"
	"dogear/engine/place"
)

// fits reports whether this server has the folders that a job or crawler
// reads, so that of several servers one takes it up that has them. What lies
// in a bucket or a database is the same for all.
func (h *house) fits(roots place.Roots) func(context.Context, engine.Ref) bool {
	return func(ctx context.Context, ref engine.Ref) bool {
		paths, err := h.reads(ctx, ref)
		if err != nil {
			return true // whatever is wrong, the attempt says it
		}
		for _, path := range paths {
			at, err := roots.Parse(path)
			if err != nil || at.S3() {
				continue
			}
			if _, err := roots.Check(at.Root); err != nil {
				return false
			}
		}
		return true
	}
}

// reads lists the paths that a job or crawler reads.
func (h *house) reads(ctx context.Context, ref engine.Ref) (paths []string, err error) {
	if ref.Kind == engine.KindCrawler {
		crawler, err := h.store.Crawler(ctx, ref.ID)
		for _, t := range crawler.Targets {
			paths = append(paths, t.Path)
		}
		return paths, err
	}
	job, err := h.store.Job(ctx, ref.ID)
	if err == nil && job.Script != nil && job.Script.Address != "" {
		paths = append(paths, job.Script.Address)
	}
	if err != nil || job.SQL == nil {
		return paths, err
	}
	for _, s := range job.SQL.Sources {
		switch {
		case s.Path != "":
			paths = append(paths, s.Path)
		case s.Table != "":
			made, err := h.store.Connection(ctx, s.Connection)
			if err == nil && made.Type == engine.ConnectionSQLite {
				paths = append(paths, made.Database)
			}
		}
	}
	return paths, nil
}
