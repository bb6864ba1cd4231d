package duck

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// keepLatest takes out of "new" the rows that are older than the one with
// their key in the target, and returns how many those are. Of two that are
// alike the batch's counts; a row without a value loses.
func (m *merger) keepLatest(ctx context.Context) (int64, error) {
	if _, has := find(m.old, m.sink.LatestBy); m.sink.LatestBy == "" || !has {
		return 0, nil
	}
	if err := m.markTouched(ctx); err != nil {
		return 0, err
	}
	latest, _ := find(m.columns, m.sink.LatestBy)
	before := fmt.Sprintf("TRY_CAST(e.%s AS %s)", quote(latest.Name), latest.Type)
	stop := m.watch(ctx, "comparing with the target")
	err := m.exec(ctx, fmt.Sprintf("CREATE TEMP TABLE %s AS SELECT DISTINCT %s FROM %s e JOIN %s n USING (%s) WHERE (%s > n.%s OR n.%s IS NULL AND %s IS NOT NULL)%s",
		m.name("kept"), names(m.sink.Keys), m.name("old"), m.name("batch"), names(m.sink.Keys), before, quote(latest.Name), quote(latest.Name), before, m.scope(" AND ")))
	stop()
	if err != nil {
		return 0, fmt.Errorf("compare with the rows of the target: %w", err)
	}
	kept, err := m.count(ctx, "SELECT count(*) FROM "+m.name("kept"))
	if err != nil || kept == 0 {
		return 0, err
	}
	return kept, m.exec(ctx, fmt.Sprintf("CREATE OR REPLACE TEMP VIEW %s AS SELECT * FROM %s ANTI JOIN %s USING (%s)",
		m.name("new"), m.name("batch"), m.name("kept"), names(m.sink.Keys)))
}

// match marks the existing files whose partition is touched. It returns how
// many rows are replaced, and those partitions.
func (m *merger) match(ctx context.Context) (replaced int64, partitions []string, err error) {
	files := m.name("files")
	n, err := m.count(ctx, "SELECT count(*) FROM "+files)
	if err != nil || n == 0 {
		return 0, nil, err
	}
	if err := m.markTouched(ctx); err != nil {
		return 0, nil, err
	}
	// The files that hold a row with one of the keys.
	hits := m.name("hits")
	stop := m.watch(ctx, "looking up keys")
	err = m.exec(ctx, fmt.Sprintf("CREATE TEMP TABLE %s AS SELECT e.%s AS path, count(*) AS n FROM %s e SEMI JOIN %s USING (%s)%s GROUP BY 1",
		hits, quote(fileColumn), m.name("old"), m.name("new"), names(m.sink.Keys), m.scope(" WHERE ")))
	stop()
	if err != nil {
		return 0, nil, fmt.Errorf("look up the keys: %w", err)
	}
	if replaced, err = m.count(ctx, "SELECT coalesce(sum(n), 0)::BIGINT FROM "+hits); err != nil {
		return 0, nil, fmt.Errorf("count the replaced rows: %w", err)
	}
	err = m.exec(ctx, fmt.Sprintf("UPDATE %s SET touched = true WHERE partition IN (SELECT partition FROM %s WHERE touched OR path IN (SELECT path FROM %s))", files, files, hits))
	if err != nil {
		return 0, nil, fmt.Errorf("mark the touched partitions: %w", err)
	}
	partitions, err = m.texts(ctx, "SELECT DISTINCT partition FROM "+files+" WHERE touched ORDER BY 1")
	return replaced, partitions, err
}

// markTouched marks the files of the partitions that new rows go to.
func (m *merger) markTouched(ctx context.Context) error {
	here := "EXISTS (FROM " + m.name("new") + ")"
	if len(m.sink.PartitionBy) > 0 {
		var same, columns []string
		for i, column := range m.sink.PartitionBy {
			columns = append(columns, fmt.Sprintf("%s::VARCHAR AS v%d", quote(column), i))
			same = append(same, fmt.Sprintf("f.v%d IS NOT DISTINCT FROM p.v%d", i, i))
		}
		here = fmt.Sprintf("EXISTS (FROM (SELECT DISTINCT %s FROM %s) p WHERE %s)", strings.Join(columns, ", "), m.name("new"), strings.Join(same, " AND "))
	}
	if err := m.exec(ctx, fmt.Sprintf("UPDATE %s AS f SET touched = %s", m.name("files"), here)); err != nil {
		return fmt.Errorf("find the partitions of the new rows: %w", err)
	}
	return nil
}

// scope limits a look into the old rows to the files of touched partitions. A
// key may have moved from any partition, unless the partition is part of it.
func (m *merger) scope(join string) string {
	if !m.partitionInKey() {
		return ""
	}
	return fmt.Sprintf("%se.%s IN (SELECT path FROM %s WHERE touched)", join, quote(fileColumn), m.name("files"))
}

// partitionInKey reports whether every partition column is part of the key.
func (m *merger) partitionInKey() bool {
	for _, column := range m.sink.PartitionBy {
		if !slices.ContainsFunc(m.sink.Keys, func(k string) bool { return strings.EqualFold(k, column) }) {
			return false
		}
	}
	return len(m.sink.PartitionBy) > 0
}
