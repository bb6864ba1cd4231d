package table

import (
	"context"
	"time"

	"dogear/engine"
)

// settle leaves out what is too young to be sure of: of a time by the clock,
// of a number by its distance to the highest.
func (s *survey) settle(ctx context.Context, w *conditions) error {
	o, first := s.Source.Options.Table, s.keys[0]
	moment := first.class == timeClass || first.class == dateClass
	switch {
	case o.Closed == "" && o.Lag == 0:
	case o.Closed != "" && !moment:
		return engine.Errorf(engine.Invalid, "Source %s reads closed periods only, but its key %s is not a time. Choose a lag in numbers, or another key.", s.Source.Name, first.Name)
	case moment:
		bound, op := s.Now.UTC(), " < "
		switch o.Closed {
		case "hour":
			bound = bound.Truncate(time.Hour)
		case "day":
			bound = bound.Truncate(24 * time.Hour)
		default:
			op = " <= "
		}
		unit := time.Second
		if first.class == dateClass {
			unit = 24 * time.Hour
		}
		if o.Lag > 0 {
			bound = bound.Add(-time.Duration(o.Lag) * unit)
		}
		w.add(first.in(s.d) + op + w.value(first, engine.KeyValue{Text: s.d.moment(first, bound), Type: "text"}))
	case first.class == integerClass || first.class == decimalClass:
		highest, err := s.keyAt(ctx, s.eligible(), true, 0)
		if err != nil || highest == nil {
			return err
		}
		text, err := s.less(ctx, first, highest[0], o.Lag)
		if err != nil {
			return err
		}
		w.add(first.in(s.d) + " <= " + w.value(first, engine.KeyValue{Text: text, Type: highest[0].Type}))
	default:
		return engine.Errorf(engine.Invalid, "Source %s has a settle lag, but its key %s is neither a time nor a number.", s.Source.Name, first.Name)
	}
	return nil
}

// less is a value less an amount, worked out by the database.
func (s *survey) less(ctx context.Context, c Column, v engine.KeyValue, amount int64) (string, error) {
	expr, arg := s.d.bound(c, v, s.d.param(1))
	var text string
	err := s.q.QueryRowContext(ctx, "SELECT "+s.d.minus(c, expr, amount), arg).Scan(&text)
	return text, err
}

// young counts what settle left out.
func (s *survey) young(ctx context.Context, settled *conditions) (int64, error) {
	all := s.eligible()
	if len(all.parts) == len(settled.parts) {
		return 0, nil
	}
	total, err := s.count(ctx, all)
	if err != nil {
		return 0, err
	}
	kept, err := s.count(ctx, settled)
	return total - kept, err
}
