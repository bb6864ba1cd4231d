package dbtest_test

import (
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/portable"
)

// imported is a workflow of one crawler as a file says it.
const imported = `dogear: 1
workflow:
  name: "odd '☃ name"
  triggers:
    - name: noon
      type: scheduled
      schedule: cron(0 12 * * ? *)
      start:
        - crawler: look
crawlers:
  - name: look
    database: lake
    targets:
      - path: in
`

func TestAnImportIsPublishedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		ctx, now := t.Context(), time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
		next := func(engine.Trigger) time.Time { return now.Add(time.Hour) }
		d, err := portable.Parse([]byte(imported))
		must(t, err)
		set, err := portable.Resolve(d, portable.Here{}, now)
		must(t, err)

		made, entry, err := store.Import(ctx, &set, "owner", now, next)
		must(t, err)
		_, _, taken := store.Import(ctx, &set, "owner", now, next) // the names are taken now
		changed := set
		changed.Workflow.Verb, changed.Workflow.Version, changed.Workflow.Seq = portable.Change, 1, 0 // its draft is at 1
		changed.Crawlers = []portable.Part[engine.CrawlerBody]{{ID: engine.NewID(now), Name: "half", Verb: portable.Make}}
		_, _, stale := store.Import(ctx, &changed, "owner", now, next)

		if made.Version != 1 || entry == nil || entry.Seq != 1 || len(made.Triggers) != 1 {
			t.Errorf("got version %d with entry %+v, want version 1 with entry 1", made.Version, entry)
		}
		if engine.CodeOf(taken) != engine.Conflict || engine.CodeOf(stale) != engine.Conflict {
			t.Errorf("importing twice and over a draft that moved: got %v and %v, want Conflict", taken, stale)
		}
		crawlers, err := store.Crawlers(ctx)
		must(t, err)
		if len(crawlers) != 1 || crawlers[0].Name != "look" || crawlers[0].Version != 1 {
			t.Errorf("got crawlers %+v, want look v1 alone", crawlers)
		}
		schedules, err := store.Schedules(ctx)
		must(t, err)
		for _, schedule := range schedules {
			if !schedule.Next.Equal(now.Add(time.Hour)) {
				t.Errorf("got the schedule %+v, want it an hour later", schedule)
			}
		}
		if len(schedules) != 1 {
			t.Errorf("got schedules %+v, want one", schedules)
		}
	})
}
