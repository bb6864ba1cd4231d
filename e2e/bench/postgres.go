package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"dogear/db"
	"dogear/e2e/bench/measure"
	"dogear/engine"
	"dogear/engine/bookmark"
	"dogear/engine/bucket"
	"dogear/engine/place"
	"dogear/engine/runner"
	"dogear/engine/runner/sql"
	"dogear/engine/sink"
	"dogear/engine/source"
	"dogear/engine/table"
)

const pgRows = 3_000_000

const fillOrders = `CREATE UNLOGGED TABLE bench_orders AS SELECT i::bigint AS order_id,
  timestamptz '2026-01-01' + i * interval '10 seconds' AS ordered_at, (i::bigint * 7919 % 100000)::integer AS customer,
  (ARRAY['DE', 'FR', 'ES', 'IT'])[1 + i % 4] AS country, (i % 9)::smallint AS quantity, (i % 50000 / 100.0)::numeric(10,2) AS price,
  'note ' || i || ' of this order' AS note, i % 3 = 0 AS gift, i / 7.0::double precision AS weight, date '2026-01-01' + (i % 365)::integer AS due
FROM generate_series(1, $1::integer) AS i`

// postgresToParquet measures a whole run from a table into Parquet against
// pgx reading the same rows and doing nothing with them.
func postgresToParquet(ctx context.Context, dir string) (err error) {
	address := os.Getenv("DOGEAR_TEST_POSTGRES")
	if address == "" {
		return errors.New("DOGEAR_TEST_POSTGRES names no server; run it by e2e/with-postgres.sh")
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	for _, statement := range []string{
		"DROP TABLE IF EXISTS bench_orders", strings.ReplaceAll(fillOrders, "$1", strconv.Itoa(pgRows)),
		"ALTER TABLE bench_orders ADD PRIMARY KEY (order_id), ALTER ordered_at SET NOT NULL, ALTER customer SET NOT NULL, ALTER price SET NOT NULL", "VACUUM ANALYZE bench_orders",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	h, err := newHouse(ctx, dir, tableRunner(filepath.Join(dir, "files"), address))
	if err != nil {
		return err
	}
	var ours, raw []time.Duration
	for round := range 3 {
		took, err := rawScan(ctx, conn)
		if err != nil {
			return err
		}
		raw = append(raw, took)
		if took, err = h.copyTable(ctx, fmt.Sprint("orders", round)); err != nil {
			return err
		}
		ours = append(ours, took)
	}
	measure.Figure{
		Name: "postgres_to_parquet", Ours: pgRows / measure.Median(ours), Against: pgRows / measure.Median(raw), Limit: 0.55, AtLeast: true, Unit: "million rows/s",
		Note: "a whole run against pgx reading raw rows, 3 million rows of 10 columns, median of three; the limit is on the ratio",
	}.Print()
	measure.Figure{Name: "postgres_to_parquet_memory", Ours: childPeak(), Limit: 300, Unit: "MB", Note: "peak of the worker"}.Print()
	return nil
}

func rawScan(ctx context.Context, conn *pgx.Conn) (time.Duration, error) {
	start := time.Now()
	rows, err := conn.Query(ctx, "SELECT * FROM bench_orders")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		_ = rows.RawValues()
		n++
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if n != pgRows {
		return 0, fmt.Errorf("pgx read %d rows, want %d", n, pgRows)
	}
	return time.Since(start), nil
}

func (h *house) copyTable(ctx context.Context, name string) (time.Duration, error) {
	id, err := h.job(ctx, name, engine.JobBody{
		Kind: engine.JobSQL, Bookmark: engine.BookmarkOn,
		SQL: &engine.SQLJob{
			Sources: []engine.Source{{Name: "orders", Connection: "bench", Table: "bench_orders", Keys: []string{"order_id"}}},
			Sinks:   []engine.Sink{{From: "orders", Path: "out/" + name}},
		},
	})
	if err != nil {
		return 0, err
	}
	took, node, err := h.runJob(ctx, id)
	if err == nil && node.Counts.RowsOut != pgRows {
		err = fmt.Errorf("the run wrote %d rows, want %d", node.Counts.RowsOut, pgRows)
	}
	return took, err
}

// server is the connection of the benchmark.
type server string

// Database reads the address.
func (s server) Database(context.Context, engine.ID) (table.Config, error) {
	u, err := url.Parse(string(s))
	if err != nil {
		return table.Config{}, err
	}
	port, err := strconv.Atoi(u.Port())
	password, _ := u.User.Password()
	return table.Config{
		Kind: engine.ConnectionPostgres, Host: u.Hostname(), Port: port, Database: strings.TrimPrefix(u.Path, "/"),
		User: u.User.Username(), Password: password, TLS: engine.TLSOff,
	}, err
}

func tableRunner(root, address string) func(*db.Store) runner.Runner {
	return func(store *db.Store) runner.Runner {
		roots, buckets := place.Roots{Base: root, Allowed: []string{root}}, bucket.New(nil)
		files, tables := source.New(roots, buckets), table.New(roots, server(address))
		planner := &bookmark.Planner{Ledger: store, Lister: files, Tables: store, Hasher: files, Surveyor: tables}
		sinks := sink.New(roots, buckets)
		sinks.Tables = tables
		return &sql.Runner{Planner: planner, Source: files, Sink: sinks, Tables: tables, Pages: store, Now: time.Now}
	}
}
