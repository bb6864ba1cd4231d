package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/place"
	"dogear/engine/table"
	"dogear/engine/table/tabletest"
)

// dieInTable makes this binary publish a table.Target and kill itself at a step.
const dieInTable = "DOGEAR_TEST_DIE_IN_TABLE"

func publishTableAndDie(step, text string) int {
	var target table.Target
	at, err := strconv.Atoi(step)
	if err = errors.Join(err, json.Unmarshal([]byte(text), &target)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	err = target.Publish(context.Background(), func() {
		if at == 0 {
			_ = exec.Command("kill", "-9", strconv.Itoa(os.Getpid())).Run()
		}
		at--
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}

// staged fills the stage of a batch with rows (id, day, n) made by SQL of the
// database itself, through the same Stage that a worker uses.
func staged(t *testing.T, b tabletest.Base, target table.Target, rows string) table.Target {
	t.Helper()
	target.Config, target.Table = b.Config, "sales"
	target.Columns = []engine.Column{{Name: "id", Type: "INTEGER"}, {Name: "day", Type: "VARCHAR"}, {Name: "n", Type: "INTEGER"}}
	tabletest.Must(t, target.Stage(t.Context(), 0, nil))
	b.Do(t, "INSERT INTO dogear_stage_"+target.Batch+" VALUES "+rows)
	return target
}

const makeTable = "CREATE TABLE sales (id INTEGER, day VARCHAR(20), n INTEGER)"

func TestPublishIntoATableEndsAlikeWhereverItIsKilled(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		target table.Target
		want   string
	}{
		"append":    {table.Target{}, "1|mon|1 2|tue|2 2|wed|20 3|thu|30"},
		"merge":     {table.Target{Mode: engine.Merge, Keys: []string{"id"}}, "1|mon|1 2|wed|20 3|thu|30"},
		"overwrite": {table.Target{Mode: engine.OverwritePartitions, PartitionBy: []string{"day"}}, "1|mon|1 2|tue|2 2|wed|20 3|thu|30"},
		"replace":   {table.Target{Mode: engine.Replace}, "2|wed|20 3|thu|30"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
				b.Do(t, makeTable)
				for step := 0; ; step++ {
					b.Do(t, "DELETE FROM sales", "INSERT INTO sales VALUES (1, 'mon', 1), (2, 'tue', 2)")
					target := tt.target
					target.Batch = fmt.Sprintf("b%d", step)
					target = staged(t, b, target, "(2, 'wed', 20), (3, 'thu', 30)")
					died := dies(t, target, step)
					// The redo of a recovery, and one more that comes by mistake.
					for range 2 {
						tabletest.Must(t, target.Publish(t.Context(), func() {}))
					}
					if got := b.Rows(t, "SELECT id, day, n FROM sales ORDER BY id, n"); got != tt.want {
						t.Fatalf("killed at step %d: got %s, want %s", step, got, tt.want)
					}
					if left, err := b.Databases.Tables(t.Context(), tabletest.Connection); err != nil || len(left) != 2 {
						t.Fatalf("killed at step %d: got the tables %v, want the target and the batches (%v)", step, left, err)
					}
					if !died {
						if step < 4 {
							t.Errorf("the publish had %d steps, want at least 4", step)
						}
						return
					}
				}
			})
		})
	}
}

func dies(t *testing.T, target table.Target, step int) bool {
	t.Helper()
	text, err := json.Marshal(target)
	tabletest.Must(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0], string(text))
	cmd.Env = append(os.Environ(), dieInTable+"="+strconv.Itoa(step))
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(err.Error(), "killed") {
		t.Fatalf("publish in another process: %v %s", err, out)
	}
	return err != nil
}

func TestBatchesThatMergeIntoOneTableAtOnceLoseNothing(t *testing.T) {
	t.Parallel()
	const writers = 6
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, makeTable)
		var targets []table.Target
		for i := range writers {
			merge := table.Target{Mode: engine.Merge, Keys: []string{"id"}, Batch: fmt.Sprintf("w%d", i)}
			targets = append(targets, staged(t, b, merge, fmt.Sprintf("(0, 'all', %d), (%d, 'own', %d)", i, i+1, i)))
		}
		var all sync.WaitGroup
		for _, target := range targets {
			all.Go(func() {
				if _, err := target.Rehearse(t.Context()); err != nil {
					t.Errorf("rehearse: %v", err)
				}
				if err := target.Publish(t.Context(), func() {}); err != nil {
					t.Errorf("publish: %v", err)
				}
			})
		}
		all.Wait()
		if got := b.Rows(t, "SELECT count(*), count(DISTINCT id) FROM sales"); got != fmt.Sprintf("%d|%d", writers+1, writers+1) {
			t.Errorf("got %s, want every key once: %s", got, b.Rows(t, "SELECT * FROM sales ORDER BY id"))
		}
	})
}

func TestAPublishWhoseStageIsGoneSaysSo(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, makeTable)
		target := staged(t, b, table.Target{Batch: "gone"}, "(1, 'mon', 1)")
		tabletest.Must(t, target.Discard(t.Context()))
		tabletest.Must(t, target.Discard(t.Context()))

		err := target.Publish(t.Context(), func() {})

		if err == nil || !strings.Contains(err.Error(), "did not take the rows for sales") || !strings.Contains(err.Error(), "dogear_stage_gone") {
			t.Errorf("got %v", err)
		}
	})
}

// ended says of every batch but one that it is finalized.
type ended struct{ but engine.ID }

func (e ended) Finalized(_ context.Context, ids []engine.ID) ([]engine.ID, error) {
	return slices.DeleteFunc(slices.Clone(ids), func(id engine.ID) bool { return id == e.but }), nil
}

func (ended) Siblings(context.Context, engine.ID, []int64) (map[int64]string, error) { return nil, nil }

func TestATargetForgetsOnlyBatchesThatEndedLongAgo(t *testing.T) {
	t.Parallel()
	tabletest.Each(t, func(t *testing.T, b tabletest.Base) {
		b.Do(t, makeTable)
		now := time.Now()
		id := func(age time.Duration) engine.ID { return engine.NewID(now.Add(-age)) }
		long, open, young, last := id(40*24*time.Hour), id(35*24*time.Hour), id(20*24*time.Hour), id(0)
		s := New(place.Roots{}, nil)
		s.Tables, s.Batches = b.Databases, ended{but: open}
		write := func(id engine.ID) {
			t.Helper()
			sink := engine.Sink{Table: "sales", Connection: tabletest.Connection}
			target, err := s.target(t.Context(), sink, 0, id)
			tabletest.Must(t, err)
			target = staged(t, b, target, "(1, 'mon', 1)")
			m, err := stageTable(t.Context(), target, engine.SinkManifest{Columns: target.Columns})
			tabletest.Must(t, err)
			for range 2 { // and once more, as a recovery does
				tabletest.Must(t, s.Publish(t.Context(), sink, m))
			}
		}
		s.pruned.due(b.Config.String()+" sales", now) // not again today
		for _, id := range []engine.ID{long, open, young} {
			write(id)
		}
		b.Do(t, "INSERT INTO dogear_batch (batch, target, row_count) VALUES ('somebody', 'sales', 1), ('"+strings.ToLower(string(long))+"_9', 'other', 1)")
		remembers := func() string { return b.Rows(t, "SELECT batch FROM dogear_batch ORDER BY batch") }
		text := func(id engine.ID) string { return strings.ToLower(string(id)) + "_0" }
		before := remembers()
		s.pruned.last = nil // the next day

		write(last)

		if !strings.Contains(before, text(long)) {
			t.Fatalf("before: got %s", before)
		}
		want := strings.Join([]string{strings.ToLower(string(long)) + "_9", text(open), text(young), text(last), "somebody"}, " ")
		if got := remembers(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := b.Rows(t, "SELECT count(*) FROM sales"); got != "4" {
			t.Errorf("got %s rows, want each batch once", got)
		}
	})
}
