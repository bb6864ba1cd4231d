package duck

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dogear/engine"
)

// copyOut writes query into the empty folder stage, and proves that what lies
// there is every row of it.
func (w *writer) copyOut(ctx context.Context, number int, stage string, sink engine.Sink, query string) (Written, error) {
	written, counted, err := w.copyOnce(ctx, number, stage, sink, query)
	if err == nil && tooManyFiles(written.Files) {
		// More partitions than stay open at once: each was begun again and
		// again. Sorted, each is written in one go (guard G5).
		w.events.note(false, "%d files for %d partitions: sorting by partition and writing again", len(written.Files), len(touched(written.Files)))
		if err := emptyStages([]Output{{Stage: stage}}); err != nil {
			return Written{}, err
		}
		written, counted, err = w.copyOnce(ctx, number, stage, sink, query+" ORDER BY "+names(sink.PartitionBy))
	}
	if err != nil {
		return Written{}, err
	}
	for _, f := range written.Files {
		written.Rows += f.Rows
	}
	if counted != written.Rows {
		return Written{}, failf(FailInternal, "%d rows were to be written and %d were", counted, written.Rows)
	}
	return written, nil
}

// tooManyFiles reports whether partitions were closed and begun again.
func tooManyFiles(files []engine.OutFile) bool {
	partitions := len(touched(files))
	return partitions > openPartitions && len(files) > 2*partitions
}

func (w *writer) copyOnce(ctx context.Context, number int, stage string, sink engine.Sink, query string) (Written, int64, error) {
	// Two jobs, or two sinks of one, may write to one folder.
	base := engine.PartName(w.batch, w.tag, number)
	extension := string(cmp.Or(sink.Format, engine.Parquet))
	target := filepath.Join(stage, base+"0."+extension)
	options := map[engine.Format]string{
		engine.Parquet: "FORMAT parquet, COMPRESSION zstd, RETURN_FILES",
		engine.CSV:     "FORMAT csv, HEADER, RETURN_FILES",
		engine.JSON:    "FORMAT json, RETURN_FILES",
	}[cmp.Or(sink.Format, engine.Parquet)]
	if sink.Format == engine.JSON && len(sink.PartitionBy) > 0 {
		var err error
		if query, err = w.jsonLines(ctx, query, sink.PartitionBy); err != nil {
			return Written{}, 0, err
		}
		options = linesOfText
	}
	if len(sink.PartitionBy) > 0 {
		target = stage
		options += ", PARTITION_BY (" + names(sink.PartitionBy) + "), FILENAME_PATTERN " + literal(base+"{i}")
	}
	statement := fmt.Sprintf("COPY (%s) TO %s (%s)", query, literal(target), options)
	stop := w.watch(ctx, "writing")
	files, counted, err := w.copied(ctx, statement)
	stop()
	if err != nil {
		return Written{}, 0, err
	}
	w.profile()
	written := Written{}
	seen := map[string]bool{}
	for _, f := range files {
		if seen[f] {
			// Two values of one partition made one path, and the second wrote
			// over the first (guard G3).
			return Written{}, 0, failf(FailData, "Two different partition values of %s are written to the same folder %s, so rows would be lost. Replace the text __HIVE_DEFAULT_PARTITION__ or NULL in %s.",
				sink.From, filepath.Dir(f), strings.Join(sink.PartitionBy, ", "))
		}
		seen[f] = true
	}
	written.Files, err = w.inventory(ctx, stage, slices.Sorted(maps.Keys(seen)), sink)
	return written, counted, err
}

// linesOfText writes one column as it is, a row a line. DuckDB partitions CSV
// and not JSON.
const linesOfText = "FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER E'\\n', FILE_EXTENSION 'json', RETURN_FILES"

// jsonLines selects each row of query as the text of a JSON object, which
// holds no line break, beside the columns of its partition.
func (w *writer) jsonLines(ctx context.Context, query string, partitionBy []string) (string, error) {
	columns, err := w.describe(ctx, query)
	if err != nil {
		return "", err
	}
	var fields []string
	for _, c := range columns {
		if !slices.ContainsFunc(partitionBy, func(p string) bool { return strings.EqualFold(p, c.Name) }) {
			fields = append(fields, quote(c.Name)+" := "+quote(c.Name))
		}
	}
	return fmt.Sprintf(`SELECT to_json(struct_pack(%s)) AS "dogear line", %s FROM (%s)`, strings.Join(fields, ", "), names(partitionBy), query), nil
}

// copied runs a COPY and returns the files and the number of rows it names.
func (w *writer) copied(ctx context.Context, statement string) (files []string, counted int64, err error) {
	rows, err := w.c.QueryContext(ctx, statement)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, 0, err
	}
	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, 0, fmt.Errorf("read what was written: %w", err)
		}
		for i, column := range columns {
			switch v := values[i].(type) {
			case int64:
				if column == "Count" {
					counted = v
				}
			case []any:
				for _, f := range v {
					if text, ok := f.(string); ok {
						files = append(files, text)
					}
				}
			}
		}
	}
	return files, counted, rows.Err()
}

// inventory counts the rows of what lies in the stage by reading it, so that
// the manifest tells what is there and not what was meant.
func (w *writer) inventory(ctx context.Context, stage string, files []string, sink engine.Sink) ([]engine.OutFile, error) {
	if len(files) == 0 {
		return nil, nil
	}
	query := "SELECT file_name, num_rows FROM parquet_file_metadata(" + list(exactly(files...)) + ")"
	switch sink.Format {
	case engine.CSV:
		query = "SELECT filename, count(*) FROM read_csv(" + list(exactly(files...)) + ", all_varchar = true, header = true, delim = ',', quote = '\"', escape = '\"', union_by_name = true, hive_partitioning = false, filename = true, auto_detect = true) GROUP BY 1"
	case engine.JSON:
		query = "SELECT filename, count(*) FROM read_json_objects(" + list(exactly(files...)) + ", format = 'newline_delimited', filename = true) GROUP BY 1"
	case engine.Parquet:
	}
	counts := map[string]int64{}
	rows, err := w.c.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("count what was written: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return nil, fmt.Errorf("count what was written: %w", err)
		}
		counts[name] = n
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count what was written: %w", err)
	}
	out := make([]engine.OutFile, 0, len(files))
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return nil, fmt.Errorf("look at what was written: %w", err)
		}
		below, err := filepath.Rel(stage, f)
		if err != nil {
			return nil, fmt.Errorf("name what was written: %w", err)
		}
		partition := filepath.ToSlash(filepath.Dir(below))
		if partition == "." {
			partition = ""
		}
		out = append(out, engine.OutFile{Path: filepath.ToSlash(below), Partition: partition, Rows: counts[f], Bytes: info.Size()})
	}
	return out, nil
}

// touched lists the partitions of files once, in order.
func touched(files []engine.OutFile) []string {
	set := map[string]bool{}
	for _, f := range files {
		set[f.Partition] = true
	}
	return slices.Sorted(maps.Keys(set))
}
