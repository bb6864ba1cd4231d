package sql

import (
	"context"

	"dogear/engine"
)

// apart refuses a job that would write where it reads, or twice to one target,
// by where its paths really lead (Safe writes). What their texts show is
// refused before, when the job is saved.
func (w *work) apart(ctx context.Context) error {
	var targets []engine.Area
	for _, out := range w.Job.SQL.Sinks {
		target, err := w.Sink.Area(ctx, out)
		if err != nil {
			return err
		}
		for _, other := range targets {
			if wrong := engine.SameTarget(target, other); wrong != "" {
				return engine.Errorf(engine.Invalid, "%s", wrong)
			}
		}
		targets = append(targets, target)
	}
	for _, part := range w.batch.Plan.Sources {
		if part.Spec.Path == "" {
			continue
		}
		source, err := w.Source.Area(ctx, part.Spec)
		if err != nil {
			return err
		}
		for _, target := range targets {
			if wrong := engine.OwnInput(target, source, part.Source); wrong != "" {
				return engine.Errorf(engine.Invalid, "%s", wrong)
			}
		}
	}
	return nil
}
