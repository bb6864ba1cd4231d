package sample

import (
	"context"
	"time"

	"dogear/engine"
	"dogear/engine/schedule"
)

// Name is the workflow of the sample.
const Name = "daily-sales-pipeline"

// Store is where the objects of the sample are made.
type Store interface {
	JobDrafts(ctx context.Context) ([]engine.Draft[engine.JobBody], error)
	CrawlerDrafts(ctx context.Context) ([]engine.Draft[engine.CrawlerBody], error)
	CreateJob(ctx context.Context, name string, body engine.JobBody, by string, now time.Time) (engine.ID, error)
	PublishJob(ctx context.Context, id engine.ID, by string, now time.Time) (engine.Job, error)
	CreateCrawler(ctx context.Context, name string, body engine.CrawlerBody, by string, now time.Time) (engine.ID, error)
	PublishCrawler(ctx context.Context, id engine.ID, by string, now time.Time) (engine.Crawler, error)
	CreateWorkflow(ctx context.Context, name string, body engine.WorkflowBody, by string, now time.Time) (engine.ID, error)
	PublishWorkflow(ctx context.Context, id engine.ID, seq int64, with []engine.Ref, by string, now time.Time, next func(engine.Trigger) time.Time) (engine.Workflow, error)
}

// by is who made the sample, in histories.
const by = "sample"

// Make makes the jobs, the crawler and the workflow of the sample and returns
// the workflow. Jobs and a crawler of their names that are there already are left
// as they are and become part of it. Paths are relative to the folder of the server's files.
func Make(ctx context.Context, store Store, now time.Time) (engine.Workflow, error) {
	curate, err := makeJob(ctx, store, "raw-to-curated", curated(), now)
	if err != nil {
		return engine.Workflow{}, err
	}
	export, err := makeJob(ctx, store, "legacy-csv-export", exported(), now)
	if err != nil {
		return engine.Workflow{}, err
	}
	crawler, err := makeCrawler(ctx, store, now)
	if err != nil {
		return engine.Workflow{}, err
	}
	body := pipeline(curate, export, crawler, now)
	id, err := store.CreateWorkflow(ctx, Name, body, by, now)
	if err != nil {
		return engine.Workflow{}, err
	}
	return store.PublishWorkflow(ctx, id, 0, nil, by, now, func(t engine.Trigger) time.Time {
		cron, err := schedule.Parse(t.Schedule)
		if err != nil {
			return time.Time{}
		}
		return cron.Next(now, time.UTC)
	})
}

func makeJob(ctx context.Context, store Store, name string, body engine.JobBody, now time.Time) (engine.Ref, error) {
	there, err := store.JobDrafts(ctx)
	if err != nil {
		return engine.Ref{}, err
	}
	head, err := headOf(there, name, func() (engine.ID, error) { return store.CreateJob(ctx, name, body, by, now) })
	if err == nil && head.Version == 0 {
		_, err = store.PublishJob(ctx, head.ID, by, now)
	}
	return engine.Ref{Kind: engine.KindJob, ID: head.ID}, err
}

func makeCrawler(ctx context.Context, store Store, now time.Time) (engine.Ref, error) {
	const name = "curated-crawler"
	there, err := store.CrawlerDrafts(ctx)
	if err != nil {
		return engine.Ref{}, err
	}
	body := engine.CrawlerBody{
		Description: "Finds the curated orders and keeps their table and partitions in the catalog.",
		Targets:     []engine.CrawlerTarget{{Path: "curated/sales"}}, Database: "sales_curated",
	}
	head, err := headOf(there, name, func() (engine.ID, error) { return store.CreateCrawler(ctx, name, body, by, now) })
	if err == nil && head.Version == 0 {
		_, err = store.PublishCrawler(ctx, head.ID, by, now)
	}
	return engine.Ref{Kind: engine.KindCrawler, ID: head.ID}, err
}

// headOf is the one of that name among those that are there, else a new one.
func headOf[B any](there []engine.Draft[B], name string, create func() (engine.ID, error)) (engine.Head, error) {
	for i := range there {
		if there[i].Name == name {
			return there[i].Head, nil
		}
	}
	id, err := create()
	return engine.Head{ID: id, Name: name}, err
}

// pipeline is the graph: a schedule starts the curation; its success starts
// the crawler and, beside it, the export.
func pipeline(curate, export, crawler engine.Ref, now time.Time) engine.WorkflowBody {
	return engine.WorkflowBody{
		Description: "Reads the shop's daily order files, merges them into curated Parquet, and tells the catalog and the old CSV consumers.",
		Triggers: []engine.Trigger{
			{
				ID: engine.NewID(now), Name: "daily at noon", Type: engine.Scheduled, Schedule: "cron(0 12 * * ? *)",
				Actions: []engine.Action{{Ref: curate}},
			},
			{
				ID: engine.NewID(now), Name: "after raw-to-curated", Type: engine.Conditional,
				Predicate: engine.Predicate{Logic: engine.All, Conditions: []engine.Condition{{Ref: curate, State: engine.Succeeded}}},
				Actions:   []engine.Action{{Ref: crawler}, {Ref: export}},
			},
		},
	}
}

// curated reads new order files and merges them by order, so that a file that
// was corrected or comes late changes its own orders and nothing else.
func curated() engine.JobBody {
	yes := true
	return engine.JobBody{
		Description: "Order files to Parquet, one row an order, by year and month.",
		Kind:        engine.JobSQL, Bookmark: engine.BookmarkOn, Timeout: engine.DefaultTimeout,
		SQL: &engine.SQLJob{
			Sources: []engine.Source{{
				Name: "sales", Path: "raw/sales/*.csv", Format: engine.CSV, Read: engine.ReadNew, Ctx: "sales_csv",
				Options: engine.SourceOptions{CSV: engine.Dialect{Delimiter: ",", Quote: `"`, Escape: `"`, Header: &yes}},
				Schema: []engine.Column{
					{Name: "order_id", Type: "BIGINT"},
					{Name: "ordered_at", Type: "TIMESTAMP"},
					{Name: "customer_id", Type: "VARCHAR"},
					{Name: "country", Type: "VARCHAR"},
					{Name: "product", Type: "VARCHAR"},
					{Name: "quantity", Type: "BIGINT"},
					{Name: "unit_price", Type: "DECIMAL(10,2)"},
					{Name: "note", Type: "VARCHAR"},
					{Name: "updated_at", Type: "TIMESTAMP"},
				},
			}},
			Steps: []engine.Step{{
				Name: "orders",
				SQL: `SELECT
  order_id, ordered_at, customer_id, country, product, quantity, unit_price,
  CAST(quantity * unit_price AS DECIMAL(12,2)) AS amount,
  note, updated_at,
  strftime(ordered_at, '%Y') AS year,
  strftime(ordered_at, '%m') AS month
FROM sales`,
			}},
			Sinks: []engine.Sink{{
				From: "orders", Path: "curated/sales", Format: engine.Parquet, PartitionBy: []string{"year", "month"},
				Mode: engine.Merge, Keys: []string{"order_id"}, LatestBy: "updated_at",
			}},
		},
	}
}

// exported sums the curated orders for those who still want one CSV file.
func exported() engine.JobBody {
	return engine.JobBody{
		Description: "Daily revenue by country as one CSV file, written anew each time.",
		Kind:        engine.JobSQL, Bookmark: engine.BookmarkOn, Timeout: engine.DefaultTimeout,
		SQL: &engine.SQLJob{
			Sources: []engine.Source{{
				Name: "orders", Path: "curated/sales/**/*.parquet", Format: engine.Parquet, Read: engine.ReadAll, Ctx: "curated",
			}},
			Steps: []engine.Step{{
				Name: "revenue",
				SQL: `SELECT
  CAST(ordered_at AS DATE) AS day, country,
  count(*) AS orders, sum(amount) AS revenue
FROM orders
GROUP BY ALL
ORDER BY day, country`,
			}},
			Sinks: []engine.Sink{{From: "revenue", Path: "export/daily-revenue", Format: engine.CSV, Mode: engine.Replace}},
		},
	}
}
