package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	_ "github.com/duckdb/duckdb-go/v2" // DuckDB alone, to compare with

	"dogear/e2e/bench/measure"
	"dogear/engine"
)

// orders writes files of orders until they hold about size bytes in all.
func orders(dir string, size int64) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	const files = 8
	old := time.Now().Add(-time.Hour)
	r := rand.New(rand.NewPCG(1, 2))
	id := 0
	for f := range files {
		name := filepath.Join(dir, fmt.Sprintf("%02d.csv", f))
		file, err := os.Create(name)
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(file, 1<<20)
		// The writer keeps its first error for Flush.
		n, _ := fmt.Fprintln(w, "order_id,ordered_at,country,quantity,price,note")
		for int64(n) < size/files {
			id++
			day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(365*24)) * time.Hour)
			m, _ := fmt.Fprintf(w, "%d,%s,%s,%d,%d.%02d,note %d of this order\n", id, day.Format(time.DateTime), []string{"DE", "FR", "ES", "IT"}[r.IntN(4)], r.IntN(9), r.IntN(500), r.IntN(100), r.IntN(1e6))
			n += m
		}
		if err := errors.Join(w.Flush(), file.Close(), os.Chtimes(name, old, old)); err != nil {
			return err
		}
	}
	return nil
}

var schema = []engine.Column{
	{Name: "order_id", Type: "BIGINT"},
	{Name: "ordered_at", Type: "TIMESTAMP"},
	{Name: "country", Type: "VARCHAR"},
	{Name: "quantity", Type: "BIGINT"},
	{Name: "price", Type: "DECIMAL(10,2)"},
	{Name: "note", Type: "VARCHAR"},
}

const partitioned = "SELECT *, strftime(ordered_at, '%Y') AS year, strftime(ordered_at, '%m') AS month FROM orders"

// convert measures CSV to partitioned Parquet through a whole run against
// DuckDB alone on the same files, and how memory grows with the input.
func convert(ctx context.Context, dir string) error {
	root := filepath.Join(dir, "files")
	if err := orders(filepath.Join(root, "small"), 300e6); err != nil {
		return err
	}
	h, err := newHouse(ctx, dir, sqlRunner(root))
	if err != nil {
		return err
	}
	var ours, alone []time.Duration
	for round := range 3 {
		took, err := h.convert(ctx, "small", fmt.Sprint("small", round))
		if err != nil {
			return err
		}
		ours = append(ours, took)
		took, err = duckAlone(ctx, filepath.Join(root, "small"), filepath.Join(dir, fmt.Sprint("alone", round)))
		if err != nil {
			return err
		}
		alone = append(alone, took)
	}
	measure.Figure{
		Name: "csv_to_parquet", Ours: 300 / (measure.Median(ours) / 1e6), Against: 300 / (measure.Median(alone) / 1e6), Limit: 0.85, AtLeast: true, Unit: "MB/s",
		Note: "a whole run against DuckDB alone, 0.3 GB in 8 files to 12 partitions, median of three; the limit is on the ratio",
	}.Print()

	small := childPeak()
	if err := orders(filepath.Join(root, "large"), 1300e6); err != nil {
		return err
	}
	if _, err := h.convert(ctx, "large", "large"); err != nil {
		return err
	}
	measure.Figure{
		Name: "csv_memory_growth", Ours: childPeak(), Against: small, Limit: 1.2, Unit: "MB",
		Note: "peak of the worker at 1.3 GB of input against 0.3 GB; the limit is on the ratio",
	}.Print()
	return nil
}

func (h *house) convert(ctx context.Context, in, out string) (time.Duration, error) {
	id, err := h.job(ctx, out, engine.JobBody{
		Kind: engine.JobSQL, Bookmark: engine.BookmarkOn,
		SQL: &engine.SQLJob{
			Sources: []engine.Source{{Name: "orders", Path: in + "/*.csv", Format: engine.CSV, Ctx: "orders", Schema: schema}},
			Steps:   []engine.Step{{Name: "partitioned", SQL: partitioned}},
			Sinks:   []engine.Sink{{From: "partitioned", Path: "out/" + out, PartitionBy: []string{"year", "month"}, Mode: engine.Append}},
		},
	})
	if err != nil {
		return 0, err
	}
	took, _, err := h.runJob(ctx, id)
	return took, err
}

// duckAlone lets DuckDB do the same by itself with the same settings: what a
// person would type.
func duckAlone(ctx context.Context, in, out string) (took time.Duration, err error) {
	start := time.Now()
	pool, err := sql.Open("duckdb", "")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	for _, statement := range []string{
		"SET preserve_insertion_order = false",
		"SET memory_limit = '1228MB'",
		"SET temp_directory = '" + out + ".spill'",
		`CREATE VIEW orders AS SELECT * FROM read_csv('` + in + `/*.csv', header = true, delim = ',', quote = '"', columns = {
  order_id: 'BIGINT', ordered_at: 'TIMESTAMP', country: 'VARCHAR', quantity: 'BIGINT', price: 'DECIMAL(10,2)', note: 'VARCHAR'})`,
		"COPY (" + partitioned + ") TO '" + out + "' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (year, month))",
	} {
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}
