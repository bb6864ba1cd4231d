package dbtest_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/flow"
)

// someJob is the id of a job that nothing but its runs knows of.
const someJob = engine.ID("01KJM2QH00AAAAAAAAAAAAAAAA")

// begun makes a run of one job that is ready.
func begun(t *testing.T, store *db.Store) engine.Run {
	t.Helper()
	run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunJob, Object: someJob, Trigger: "t", By: "owner", Started: dbtest.Noon, Due: dbtest.Noon}
	w := store.Commit(t.Context(), []flow.Step{{New: &run, Decide: func(run engine.Run, st flow.State) (flow.Writes, error) {
		return flow.BeginAlone(st, run, engine.Ref{Kind: engine.KindJob, ID: someJob}, dbtest.Noon), nil
	}}})[0]
	must(t, w.Err)
	return w.Run
}

// TestEachCheckFindsWhatItIsFor breaks one rule after the other past the store.
func TestEachCheckFindsWhatItIsFor(t *testing.T) {
	t.Parallel()
	broken := map[string]string{
		"I2":                         `INSERT INTO step (run_id, first, last, events) SELECT r.id, (SELECT max(last) FROM step) + n, (SELECT max(last) FROM step) + n, '[{"kind":"node","card":"c","state":"failed","start":1,"attempt":1,"at":0}]' FROM run AS r, (SELECT 1 AS n UNION ALL SELECT 2) AS two`,
		"I3":                         `INSERT INTO trigger_run (run_id, trigger_id, met, dead, fired_at, dead_at) SELECT id, 't', 1, 0, 1, 2 FROM run`,
		"I3, by what it started":     `INSERT INTO trigger_run (run_id, trigger_id, met, dead, fired_at, dead_at) SELECT run_id, trigger_id, 0, 1, 0, 2 FROM node_run`,
		"I4":                         `UPDATE node_run SET ended = 1`,
		"I4, when the run has ended": `UPDATE run SET ended = 1`,
		"I6":                         `UPDATE step SET first = 7, last = 7 WHERE first = 1`,
		"I7":                         `UPDATE bookmark SET version = 5`,
		"I9": `INSERT INTO run (id, kind, object_id, name, version, properties, "by", trigger_id, due, started, ended, stop_asked, stop_by, outcome, error)
SELECT 'another', kind, object_id, name, version, properties, "by", trigger_id, due, started, 1, 0, '', 'succeeded', '' FROM run`,
	}
	for id, statement := range broken {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			dbtest.Addresses(t, func(t *testing.T, address string) {
				store := dbtest.Open(t, address)
				begun(t, store)
				service, mark := reader(t, store)
				_, err := service.Make(t.Context(), mark.ID, setNow, "owner")
				must(t, err)
				assertBroken(t, store, "")

				dbtest.Exec(t, address, statement)

				rule, _, _ := strings.Cut(id, ",")
				assertBroken(t, store, rule)
			})
		})
	}
}

// TestAnOpenNodeOfAnOldRunIsFound, however many runs ended since, within a few looks;
// and from then on by each.
func TestAnOpenNodeOfAnOldRunIsFound(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		store := dbtest.Open(t, address)
		begun(t, store)
		dbtest.Exec(t, address, `UPDATE run SET ended = 1`)
		dbtest.Exec(t, address, `INSERT INTO run (id, kind, object_id, name, version, properties, "by", trigger_id, due, started, ended, stop_asked, stop_by, outcome, error)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
SELECT '8ZZZ' || (100000 + i), 'job', 'o', 'o', 1, '{}', 'owner', 't', 0, 1, 1, 0, '', 'succeeded', '' FROM n`)

		var found []bool
		for range 8 {
			checks, err := store.Checks(t.Context())
			must(t, err)
			i := slices.IndexFunc(checks, func(c engine.Check) bool { return c.ID == "I4" })
			found = append(found, len(checks[i].Broken) == 1)
		}

		first := slices.Index(found, true)
		if first < 0 || first > 2 || slices.Contains(found[first:], false) {
			t.Errorf("the looks found it: %v; want one of the first three, and each from then on", found)
		}
	})
}

func assertBroken(t *testing.T, store *db.Store, id string) {
	t.Helper()
	checks, err := store.Checks(t.Context())
	must(t, err)
	h := engine.Health{At: time.Now(), Checks: checks}
	if h.Well() != (id == "") {
		t.Errorf("all is well: %t, want %t: %+v", h.Well(), id == "", checks)
	}
	for _, c := range checks {
		if (len(c.Broken) > 0) != (c.ID == id) {
			t.Errorf("%s found %+v, want only %q broken", c.ID, c.Broken, id)
		}
	}
}

// TestAWriteOfSomebodyWhoseTurnIsOverIsSeen: the store writes what it is told
// to, as for a server that forgets to compare the fence, and the watchdog says
// so for ever after.
func TestAWriteOfSomebodyWhoseTurnIsOverIsSeen(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]engine.NodeRun{
		"an old fence":                   {Fence: 1, Owner: "first"},
		"the fence of another":           {Fence: 2, Owner: "first"},
		"an old fence and another state": {Fence: 1, Owner: "first", State: engine.Stopping},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Databases(t, func(t *testing.T, store *db.Store) {
				run := begun(t, store)
				node := engine.NodeRun{Run: run.ID, Ref: engine.Ref{Kind: engine.KindJob, ID: someJob}, Start: 1, Attempt: 1}
				write := func(fence int64, owner engine.ID, state engine.State) {
					t.Helper()
					commits(t, store, flow.Step{Run: run.ID, Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
						n := node
						n.Fence, n.Owner, n.State = fence, owner, state
						return flow.Writes{Run: run, Nodes: []engine.NodeRun{n}}, nil
					}})
				}
				write(1, "first", engine.Starting)
				write(1, "first", engine.Running)
				write(2, "second", engine.Running) // it is taken over
				write(2, "second", engine.Running)
				assertBroken(t, store, "")

				write(late.Fence, late.Owner, cmp.Or(late.State, engine.Running))
				assertBroken(t, store, "I8")

				write(3, "third", engine.Running)
				assertBroken(t, store, "I8")
			})
		})
	}
}
