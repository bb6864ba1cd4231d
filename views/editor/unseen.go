package editor

import (
	"maps"
	"slices"
	"strings"

	"dogear/views/show"
)

// seen are the fields of a part that the short form shows.
var seen = map[string]bool{
	"name": true, "timeout": true, "retries": true, "max_runs": true, "database": true, "table_prefix": true,
	"script.body": true, "arguments": true,
	"source.0.path": true, "step.0.sql": true, "properties": true, "schedule": true, "zone": true,
	"sink.0.path": true, "sink.0.keys": true, "sink.0.partition_by": true, "sink.0.catalog_table": true,
}

// unseen are the errors of fields that only the whole page shows.
func (p Panel) unseen() []string { return elsewhere(p.Errors) }

// unseenFails are what a run would fail of there.
func (p Panel) unseenFails() []string {
	if p.Job == nil {
		return nil
	}
	return elsewhere(p.Job.Fails)
}

// elsewhere are what is said of fields that the panel does not show.
func elsewhere(said map[string]string) []string {
	var texts []string
	for _, field := range slices.Sorted(maps.Keys(said)) {
		if !seen[field] && !strings.HasPrefix(field, "target.") && !strings.HasPrefix(field, startField) {
			texts = append(texts, said[field])
		}
	}
	return texts
}

// jobSub says what a job is and how many workflows share it.
func jobSub(p Panel) string {
	if n := len(p.Used); n > 1 {
		return show.JobKind(p.Job.Body.Kind) + " · used by " + show.Many(int64(n), "workflow")
	}
	return show.JobKind(p.Job.Body.Kind)
}
