package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"dogear/e2e/bench/measure"
	"dogear/engine"
)

const comparedRows = 1_000_000

// compareTable measures a table that is kept like another by comparing every
// row: the first run, which reads all of them, and one after a hundredth has
// changed.
func compareTable(ctx context.Context, dir string) (err error) {
	address := os.Getenv("DOGEAR_TEST_POSTGRES")
	if address == "" {
		return errors.New("DOGEAR_TEST_POSTGRES names no server; run it by e2e/with-postgres.sh")
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	do := func(statement string) error {
		_, err := conn.Exec(ctx, statement)
		return err
	}
	if err := errors.Join(do("DROP TABLE IF EXISTS bench_orders, bench_copy"), do(strings.ReplaceAll(fillOrders, "$1", strconv.Itoa(comparedRows))),
		do("ALTER TABLE bench_orders ADD PRIMARY KEY (order_id)")); err != nil {
		return err
	}
	h, err := newHouse(ctx, dir, tableRunner(filepath.Join(dir, "files"), address))
	if err != nil {
		return err
	}
	id, err := h.job(ctx, "compare", engine.JobBody{
		Kind: engine.JobSQL, Bookmark: engine.BookmarkOn,
		SQL: &engine.SQLJob{
			Sources: []engine.Source{{Name: "orders", Connection: "bench", Table: "bench_orders", Read: engine.ReadCompare}},
			Sinks:   []engine.Sink{{From: "orders", Connection: "bench", Table: "bench_copy", Mode: engine.Merge, Keys: []string{"order_id"}}},
		},
	})
	if err != nil {
		return err
	}
	read := func(want int64) (time.Duration, error) {
		took, node, err := h.runJob(ctx, id)
		if err == nil && node.Counts.RowsIn != want {
			err = fmt.Errorf("the run read %d rows, want %d", node.Counts.RowsIn, want)
		}
		return took, err
	}
	first, err := read(comparedRows)
	if err != nil {
		return err
	}
	if err := do("UPDATE bench_orders SET quantity = quantity + 1 WHERE order_id % 100 = 0"); err != nil {
		return err
	}
	again, err := read(comparedRows / 100)
	if err != nil {
		return err
	}
	measure.Figure{Name: "compare_1m", Ours: again.Seconds(), Unit: "s", Note: fmt.Sprintf("a run that compares 1 million rows of 10 columns and reads the hundredth that changed; the first run took %.1f s", first.Seconds())}.Print()
	measure.Figure{Name: "compare_1m_memory", Ours: measure.Peak(), Limit: 300, Unit: "MB", Note: "peak of the server, ledger and store included"}.Print()
	measure.Figure{Name: "compare_1m_worker", Ours: childPeak(), Unit: "MB", Note: "peak of a worker that merges 1 million rows into a table"}.Print()
	return nil
}
