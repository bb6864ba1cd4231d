package duck

import (
	"context"
	"errors"
)

// runParse parses statements as a run does before it makes views of them. Nothing
// is executed: the text goes to DuckDB's parser as a value, in a session that is
// sealed without a file, a folder or a network.
func runParse(ctx context.Context, limits Limits, p Parse, events *speaker) (result Result, err error) {
	s, err := open(ctx, limits, true, events)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.seal(ctx, nil, nil); err != nil {
		return Result{}, err
	}
	for _, step := range p.Steps {
		err := s.isSelect(ctx, step.Name, step.SQL)
		failure, isOurs := errors.AsType[*Failure](err)
		if err != nil && !isOurs {
			return Result{}, err
		}
		result.Wrong = append(result.Wrong, failure)
	}
	return result, nil
}
