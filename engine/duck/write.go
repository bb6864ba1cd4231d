package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"dogear/engine"
)

// writer writes the outputs of a job.
type writer struct {
	*session
	batch  int64 // its number and tag are in the names of files
	tag    string
	uses   map[string]int
	landed map[string]string // query: the file that holds its rows
	scans  map[string]int64  // rows of each scan, by its first file
}

// rowsIn adds up what was read: from the footers of Parquet files, from the
// scans of others. A file that was scanned twice counts once.
func (w *writer) rowsIn() int64 {
	var total int64
	for _, r := range w.reads {
		total += max(r.rows, 0)
	}
	for _, rows := range w.scans {
		total += rows
	}
	return total
}

func (w *writer) write(ctx context.Context, number int, out Output) (Written, error) {
	sink := out.Sink
	if sink.Format == "" {
		sink.Format = engine.Parquet
	}
	columns, err := w.describe(ctx, "SELECT * FROM "+quote(sink.From))
	if err != nil {
		return Written{}, w.inSQL(ctx, err, sink.From, "", 0)
	}
	if err := check(sink, columns); err != nil {
		return Written{}, err
	}
	if out.Table == nil {
		if err := isEmpty(out.Stage); err != nil {
			return Written{}, err
		}
	}
	query, columns, err := portable(sink, columns)
	if err != nil {
		return Written{}, err
	}
	if w.uses[sink.From] > 1 {
		if query, err = w.land(ctx, number, query); err != nil {
			return Written{}, err
		}
	}
	if out.Table != nil {
		return w.fill(ctx, number, *out.Table, sink, query, columns)
	}
	query, columns, err = w.conform(ctx, number, sink, query, columns, w.targetColumns(ctx, out.Like))
	otherType, refused := errors.AsType[*Failure](err)
	if err != nil && (!refused || sink.Mode != engine.OverwritePartitions) {
		return Written{}, err
	}
	if sink.Mode == engine.Merge {
		return w.merge(ctx, number, out, query, columns)
	}
	written, err := w.copyOut(ctx, number, out.Stage, sink, query)
	if err != nil {
		return Written{}, err
	}
	written.Columns = columns
	if sink.Mode == engine.OverwritePartitions || sink.Mode == engine.Replace {
		written.Touched = touched(written.Files)
	}
	// Where every file of the target is overwritten, none of another type stays.
	if refused && slices.ContainsFunc(out.Existing, func(e Existing) bool { return !slices.Contains(written.Touched, e.Partition) }) {
		return Written{}, otherType
	}
	return written, nil
}

// needs refuses a sink that uses columns which its relation does not have.
func needs(sink engine.Sink, columns []engine.Column) error {
	needed := slices.Concat(sink.PartitionBy, sink.Keys)
	if sink.LatestBy != "" {
		needed = append(needed, sink.LatestBy)
	}
	for _, name := range needed {
		if _, ok := find(columns, name); !ok {
			f := failf(FailData, "The sink of %s uses the column %s. %s", sink.From, name, engine.Lacking(sink.From, name, columnNames(columns)))
			f.Lacks, f.Near = name, engine.Near(name, columnNames(columns))
			return f
		}
	}
	return nil
}

// check refuses a sink whose columns or format cannot work, before anything
// is read.
func check(sink engine.Sink, columns []engine.Column) error {
	if err := needs(sink, columns); err != nil {
		return err
	}
	switch {
	case len(sink.PartitionBy) >= len(columns):
		return failf(FailData, "The sink of %s partitions by every column; at least one must be left to write.", sink.From)
	case sink.Mode == engine.Merge && sink.Format != engine.Parquet:
		return failf(FailData, "The sink of %s merges, and only Parquet can be merged.", sink.From)
	case sink.Mode == engine.Merge && len(sink.Keys) == 0:
		return failf(FailData, "The sink of %s merges and needs the columns that make up its key.", sink.From)
	}
	return nil
}

// isEmpty insists on a new folder: a write into one that is not mixes with
// what is there, or deletes it (guard G1).
func isEmpty(stage string) error {
	entries, err := os.ReadDir(stage)
	if err != nil {
		return fmt.Errorf("look into the stage: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("the stage %s is not empty", stage)
	}
	return nil
}

// Types that Parquet or its readers do not hold, and what they are written
// as. HUGEINT would silently become DOUBLE (guard G4).
var (
	hugeType = regexp.MustCompile(`\bU?HUGEINT\b`)
	textType = regexp.MustCompile(`\b(UUID|JSON|INTERVAL|BIT|VARINT|BIGNUM|TIME WITH TIME ZONE|TIME|ENUM\([^)]*\))(\W|$)`)
	// zonedType would be taken for a TIME in the middle of it.
	zonedType = regexp.MustCompile(`\bTIMESTAMP WITH TIME ZONE\b`)
	wideType  = regexp.MustCompile(`\bUBIGINT\b`)
)

// portable selects the relation of sink with types that every reader knows.
// A value that does not fit fails the write; none is rounded.
func portable(sink engine.Sink, columns []engine.Column) (string, []engine.Column, error) {
	if sink.Format != engine.Parquet {
		return "SELECT * FROM " + quote(sink.From), columns, nil
	}
	cast := slices.Clone(columns)
	expressions := make([]string, len(columns))
	for i, c := range columns {
		expressions[i] = quote(c.Name)
		if strings.HasPrefix(c.Type, "UNION(") {
			return "", nil, failf(FailData, "The column %s of %s is a union, which Parquet cannot hold. Cast it in the SQL.", c.Name, sink.From)
		}
		to := hugeType.ReplaceAllString(zonedType.ReplaceAllString(c.Type, "TIMESTAMPTZ"), "DECIMAL(38,0)")
		to = textType.ReplaceAllString(to, "VARCHAR$2")
		to = wideType.ReplaceAllString(to, "DECIMAL(20,0)")
		if c.Type == `"NULL"` {
			to = "VARCHAR"
		}
		if to = strings.ReplaceAll(to, "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"); to != c.Type {
			expressions[i] = fmt.Sprintf("CAST(%s AS %s) AS %s", quote(c.Name), to, quote(c.Name))
			cast[i].Type = to
		}
	}
	return "SELECT " + strings.Join(expressions, ", ") + " FROM " + quote(sink.From), cast, nil
}

// land writes the rows of a relation down, so that they are computed once, and
// returns a query over them.
func (w *writer) land(ctx context.Context, number int, query string) (string, error) {
	path, err := w.landFile(ctx, number, query)
	return "SELECT * FROM read_parquet(" + literal(path) + ", hive_partitioning = false)", err
}

// landFile is land that returns the file.
func (w *writer) landFile(ctx context.Context, number int, query string) (string, error) {
	if known := w.landed[query]; known != "" {
		return known, nil
	}
	path := filepath.Join(w.limits.Scratch, fmt.Sprintf("landed-%d.parquet", number))
	stop := w.watch(ctx, "reading")
	err := w.exec(ctx, fmt.Sprintf("COPY (%s) TO %s (FORMAT parquet, COMPRESSION snappy)", query, literal(path)))
	stop()
	if err != nil {
		return "", err
	}
	w.profile()
	w.landed[query] = path
	return path, nil
}

// profile remembers how many rows each scan of the last query gave. Without
// a profile the figures of what was read are missing, and nothing else.
func (w *writer) profile() {
	if info, err := duckdb.GetProfilingInfo(w.c); err == nil {
		w.scanned(info)
	}
}

func (w *writer) scanned(node duckdb.ProfilingInfo) {
	name, extra := node.Metrics["OPERATOR_NAME"], node.Metrics["EXTRA_INFO"]
	if strings.Contains(name, "READ_CSV") || strings.Contains(name, "READ_JSON") {
		rows, err := strconv.ParseInt(node.Metrics["OPERATOR_CARDINALITY"], 10, 64)
		first := scanFile.FindString(extra)
		if err == nil {
			w.scans[first] = max(rows, w.scans[first])
		}
	}
	for _, child := range node.Children {
		w.scanned(child)
	}
}

// scanFile finds the files of a scan in its profile: they tell scans apart.
var scanFile = regexp.MustCompile(`'?Filename\(s\)'?=[^}\n]*`)
