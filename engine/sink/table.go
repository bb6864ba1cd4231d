package sink

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"dogear/engine"
	"dogear/engine/failpoint"
	"dogear/engine/table"
)

// tableExtra is what a manifest keeps for publishing into a table.
type tableExtra struct {
	Batch string `json:"batch"`
}

// target is the table that a sink writes, for one batch.
func (s *Sink) target(ctx context.Context, sink engine.Sink, index int, batch engine.ID) (table.Target, error) {
	config, err := s.Tables.Config(ctx, sink.Connection)
	if err != nil {
		return table.Target{}, err
	}
	return table.Target{
		Config: config, Table: sink.Table, Batch: fmt.Sprintf("%s_%d", strings.ToLower(string(batch)), index),
		Mode: sink.Mode, PartitionBy: sink.PartitionBy, Keys: sink.Keys, LatestBy: sink.LatestBy,
	}, nil
}

// stageTable tries what the filled stage will do to the target and takes it
// back, so that a row that the target refuses fails the job, and not a publish
// that must go on.
func stageTable(ctx context.Context, target table.Target, m engine.SinkManifest) (engine.SinkManifest, error) {
	target.Columns = m.Columns
	failpoint.Hit("sink.rehearse.before")
	written, err := target.Rehearse(ctx)
	failpoint.Hit("sink.rehearse.after")
	if err != nil {
		return m, err
	}
	m.Inserted, m.Updated, m.Deleted = written.Inserted, written.Updated, written.Deleted
	m.Extra, err = json.Marshal(tableExtra{Batch: target.Batch})
	return m, err
}

// publishTable puts the stage into the target.
func (s *Sink) publishTable(ctx context.Context, sink engine.Sink, m engine.SinkManifest) error {
	var x tableExtra
	if err := json.Unmarshal(m.Extra, &x); err != nil {
		return fmt.Errorf("read the manifest: %w", err)
	}
	target, err := s.target(ctx, sink, m.Sink, "")
	if err != nil {
		return err
	}
	target.Batch, target.Columns = x.Batch, m.Columns
	failpoint.Hit("sink.rows.before")
	if err := target.Publish(ctx, s.step); err != nil {
		return err
	}
	failpoint.Hit("sink.rows.after")
	s.prune(ctx, target)
	return nil
}
