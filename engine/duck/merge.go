package duck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dogear/engine"
	"dogear/engine/place"
)

// merge puts the rows of batch into the target by key. Where LatestBy is set,
// a row that stands in the target and is later than the batch's stays. Every
// partition that gets a row or loses one is written whole into the stage: its
// rows that have none of the keys, and the new ones.
func (w *writer) merge(ctx context.Context, number int, out Output, batch string, columns []engine.Column) (Written, error) {
	m := merger{writer: w, sink: out.Sink, number: number, columns: columns}
	if err := m.newRows(ctx, batch); err != nil {
		return Written{}, err
	}
	if err := m.oldRows(ctx, out.Existing); err != nil {
		return Written{}, err
	}
	kept, err := m.keepLatest(ctx)
	if err != nil {
		return Written{}, err
	}
	replaced, partitions, err := m.match(ctx)
	if err != nil {
		return Written{}, err
	}
	fresh, err := w.count(ctx, "SELECT count(*) FROM "+m.name("new"))
	if err != nil {
		return Written{}, fmt.Errorf("count the new rows: %w", err)
	}
	var written Written
	if fresh > 0 || len(out.Existing) == 0 {
		if written, err = w.copyOut(ctx, number, out.Stage, m.sink, m.result(partitions)); err != nil {
			return Written{}, err
		}
	}
	if written.Columns, err = m.shape(ctx); err != nil {
		return Written{}, err
	}
	written.Touched = together(touched(written.Files), partitions)
	written.Rows, written.Updated, written.Inserted, written.Kept = fresh, min(replaced, fresh), max(fresh-replaced, 0), kept
	return written, nil
}

// merger is one merge. Its views carry the number of the output.
type merger struct {
	*writer
	sink    engine.Sink
	number  int
	columns []engine.Column // of the batch
	old     []engine.Column // of the target; nil where it holds nothing
}

func (m *merger) name(part string) string { return quote(fmt.Sprintf("dogear %s %d", part, m.number)) }

// result selects the rows of the partitions as they will be.
func (m *merger) result(partitions []string) string {
	fresh := "SELECT * FROM " + m.name("new")
	if len(partitions) == 0 {
		return fresh
	}
	return fmt.Sprintf(`SELECT e.* EXCLUDE (%s) FROM %s e ANTI JOIN %s n USING (%s) WHERE e.%s IN (SELECT path FROM %s WHERE touched) UNION ALL BY NAME %s`,
		quote(fileColumn), m.name("old"), m.name("new"), names(m.sink.Keys), quote(fileColumn), m.name("files"), fresh)
}

// shape is the columns of the whole target after the merge, those of
// partitions that the batch leaves alone included.
func (m *merger) shape(ctx context.Context) ([]engine.Column, error) {
	query := "SELECT * FROM " + m.name("new")
	if m.old != nil {
		query = fmt.Sprintf("SELECT * EXCLUDE (%s) FROM %s UNION ALL BY NAME %s", quote(fileColumn), m.name("old"), query)
	}
	columns, err := m.describe(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("describe the merged rows: %w", err)
	}
	return columns, nil
}

// newRows makes the view "batch" with one row for each key. The view "new",
// which begins as all of them, is those that go into the target.
func (m *merger) newRows(ctx context.Context, batch string) error {
	var missing []string
	for _, key := range m.sink.Keys {
		missing = append(missing, quote(key)+" IS NULL")
	}
	n, err := m.count(ctx, fmt.Sprintf("SELECT count(*) FROM (%s) WHERE %s", batch, strings.Join(missing, " OR ")))
	if err != nil {
		return fmt.Errorf("look for rows without a key: %w", err)
	}
	if n > 0 {
		return failf(FailData, "%s of %s have no value in the key (%s), so they cannot be merged. Filter them out, or give them a key.",
			plural(n, "row", "rows"), m.sink.From, strings.Join(m.sink.Keys, ", "))
	}
	n, key, err := m.repeated(ctx, batch)
	switch {
	case err != nil:
		return err
	case n > 0 && m.sink.LatestBy == "":
		return failf(FailData, "%d rows of %s have the key %s. Say which of them counts by a column for the latest, or make the key unique in the SQL.", n, m.sink.From, key)
	case n > 0:
		// Rows alike in LatestBy are told apart by all their columns, so that
		// the same batch always keeps the same row.
		batch = fmt.Sprintf("%s QUALIFY row_number() OVER (PARTITION BY %s ORDER BY %s DESC NULLS LAST, %s) = 1",
			batch, names(m.sink.Keys), quote(m.sink.LatestBy), allNames(m.columns))
	}
	if err := m.exec(ctx, "CREATE TEMP VIEW "+m.name("batch")+" AS "+batch); err != nil {
		return err
	}
	return m.exec(ctx, "CREATE TEMP VIEW "+m.name("new")+" AS SELECT * FROM "+m.name("batch"))
}

func allNames(columns []engine.Column) string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.Name
	}
	return names(all)
}

// repeated finds a key that several rows have, and how many; 0 where none is.
func (m *merger) repeated(ctx context.Context, batch string) (n int64, key string, err error) {
	values := make([]string, len(m.sink.Keys))
	for i, key := range m.sink.Keys {
		values[i] = fmt.Sprintf("%s || ' = ' || %s::VARCHAR", literal(key), quote(key))
	}
	stop := m.watch(ctx, "looking for keys that come twice")
	defer stop()
	err = m.c.QueryRowContext(ctx, fmt.Sprintf("SELECT count(*), %s FROM (%s) GROUP BY %s HAVING count(*) > 1 ORDER BY ALL LIMIT 1",
		strings.Join(values, " || ', ' || "), batch, names(m.sink.Keys))).Scan(&n, &key)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, "", nil
	}
	if err != nil {
		return 0, "", fmt.Errorf("look for keys that come twice: %w", err)
	}
	return n, key, nil
}

// oldRows makes the table "files" of what the target holds, and the view
// "old" over its rows with their partition and file.
func (m *merger) oldRows(ctx context.Context, existing []Existing) error {
	files := m.name("files")
	definition := []string{"path VARCHAR", "partition VARCHAR", "touched BOOLEAN"}
	for i := range m.sink.PartitionBy {
		definition = append(definition, fmt.Sprintf("v%d VARCHAR", i))
	}
	if err := m.exec(ctx, "CREATE TEMP TABLE "+files+" ("+strings.Join(definition, ", ")+")"); err != nil {
		return fmt.Errorf("note the existing files: %w", err)
	}
	marks := strings.Repeat(", ?", len(m.sink.PartitionBy))
	paths := make([]string, 0, len(existing))
	for _, e := range existing {
		args := []any{e.Path, e.Partition}
		values, err := m.values(e.Partition)
		if err != nil {
			return err
		}
		if err := m.exec(ctx, "INSERT INTO "+files+" VALUES (?, ?, false"+marks+")", append(args, values...)...); err != nil {
			return fmt.Errorf("note an existing file: %w", err)
		}
		paths = append(paths, e.Path)
	}
	if len(existing) == 0 {
		return nil
	}
	scan := "read_parquet(" + list(exactly(paths...)) + ", union_by_name = true, hive_partitioning = false, filename = " + literal(fileColumn) + ")"
	inFiles, err := m.describe(ctx, "SELECT * FROM "+scan)
	if err != nil {
		return fmt.Errorf("read the existing files: %w", err)
	}
	m.compare(inFiles)
	m.old = inFiles
	selected := []string{"e.*"}
	for i, column := range m.sink.PartitionBy {
		if _, has := find(inFiles, column); !has {
			c, _ := find(m.columns, column)
			selected = append(selected, fmt.Sprintf("CAST(f.v%d AS %s) AS %s", i, c.Type, quote(column)))
			m.old = append(m.old, c)
		}
	}
	return m.exec(ctx, fmt.Sprintf("CREATE TEMP VIEW %s AS SELECT %s FROM %s e JOIN %s f ON e.%s = f.path",
		m.name("old"), strings.Join(selected, ", "), scan, files, quote(fileColumn)))
}

// values returns the partition's values in the order of PartitionBy.
func (m *merger) values(partition string) ([]any, error) {
	keys, found := place.Values(partition + "/x")
	values := make([]any, len(m.sink.PartitionBy))
	for i, column := range m.sink.PartitionBy {
		at := slices.IndexFunc(keys, func(k string) bool { return strings.EqualFold(k, column) })
		if at < 0 {
			return nil, failf(FailData, "The target holds files in %q, which has no value for the partition column %s. Move them away, or partition the sink as they are.", partition, column)
		}
		if found[at] != nil {
			values[i] = *found[at]
		}
	}
	return values, nil
}

// compare notes where the columns of target and batch differ.
func (m *merger) compare(old []engine.Column) {
	for _, c := range m.columns {
		before, has := find(old, c.Name)
		switch {
		case has && before.Type != c.Type:
			m.events.note(true, "the column %s is %s in the target and %s in this batch; rewritten files take the type that holds both", c.Name, before.Type, c.Type)
		case !has && !slices.ContainsFunc(m.sink.PartitionBy, func(p string) bool { return strings.EqualFold(p, c.Name) }):
			m.events.note(true, "the column %s is new in the target; rows that were there have NULL", c.Name)
		}
	}
	for _, c := range old {
		if _, has := find(m.columns, c.Name); !has && c.Name != fileColumn {
			m.events.note(true, "the target's column %s is missing in this batch; its rows have NULL", c.Name)
		}
	}
}

// texts runs a query with one column of text.
func (s *session) texts(ctx context.Context, query string) ([]string, error) {
	rows, err := s.c.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

// together puts two lists together, each text once and in order.
func together(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
