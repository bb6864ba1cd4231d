package page_test

import (
	"testing"

	"dogear/engine"
	"dogear/engine/flow"
)

// TestTheMapShowsWhatTheTargetLacks: five days were read and the target has
// four; what fills the gap can be asked for.
func TestTheMapShowsWhatTheTargetLacks(t *testing.T) {
	t.Parallel()
	m := mark(t)
	_, without := m.get(t, m.at("/coverage"))
	draft, err := m.store.JobDraft(t.Context(), m.job)
	must(t, err)
	draft.Body.SQL.Sinks[0].CatalogTable = "shop.sales"
	_, err = m.store.SaveJobDraft(t.Context(), m.job, draft.Body, draft.Seq, "owner", noon)
	must(t, err)
	_, err = m.store.PublishJob(t.Context(), m.job, "owner", noon)
	must(t, err)
	m.catalog(t, "2026-11-23", "2026-11-24", "2026-11-26", "2026-11-27")

	_, with := m.get(t, m.at("/coverage"))
	_, dialog := m.get(t, m.at("/preview/read_again?key=2026-11-25.csv&key=2026-11-26.csv"))

	contains(t, "without a table", without, `<section id="coverage" hidden`)
	contains(t, "the map", with, "partitions of shop.sales; drag over gaps", "1 gap", `data-keys="2026-11-25.csv"`, `title="25 Nov 2026: 1 file read, no partition"`, "26 Nov 2026: 1 file read, 7 rows in the target")
	contains(t, "the dialog", dialog, "Read again: 2 chosen files", `name="key" value="2026-11-25.csv"`, `name="key" value="2026-11-26.csv"`, "The next run reads 2 files")
}

// catalog makes the table shop.sales with partitions of these days.
func (m *marked) catalog(t *testing.T, days ...string) {
	t.Helper()
	change := engine.TableChange{Whole: true, Table: engine.Table{
		Database: "shop", Name: "sales", Location: "/out", Format: engine.Parquet, OwnerJob: m.job, By: "job", At: noon,
		Columns: []engine.Column{{Name: "id", Type: "BIGINT"}}, Keys: []engine.Column{{Name: "dt", Type: "DATE"}},
	}}
	for _, day := range days {
		change.Partitions = append(change.Partitions, engine.Partition{Values: []string{day}, Location: "/out/dt=" + day, Files: 1, Rows: 7, Bytes: 9, Run: runID, At: noon})
	}
	run := engine.Run{ID: engine.NewID(noon), Kind: engine.RunJob, By: "owner"}
	for _, w := range m.store.Commit(t.Context(), []flow.Step{{
		New: &run,
		Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) {
			return flow.Writes{Run: run, Tables: []engine.TableChange{change}}, nil
		},
	}}) {
		must(t, w.Err)
	}
}
