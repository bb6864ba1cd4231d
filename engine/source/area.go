package source

import (
	"context"

	"dogear/engine"
)

// Area is where src reads, by where its path really leads.
func (s *Source) Area(ctx context.Context, src engine.Source) (engine.Area, error) {
	at, err := s.place(src)
	if err != nil {
		return engine.Area{}, err
	}
	return s.roots.Area(at, src.Path, func() (string, error) { return s.buckets.Store(ctx, src.Connection) })
}
