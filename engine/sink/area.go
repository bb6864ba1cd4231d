package sink

import (
	"context"
	"strings"

	"dogear/engine"
)

// Area is where a sink writes, by where its path or connection really leads.
func (s *Sink) Area(ctx context.Context, sink engine.Sink) (engine.Area, error) {
	if sink.Table != "" {
		config, err := s.Tables.Config(ctx, sink.Connection)
		if err != nil {
			return engine.Area{}, err
		}
		// A slash in it is no folder.
		root := "table://" + strings.ReplaceAll(config.Identity(sink.Table), "/", "%2F")
		return engine.Area{Root: root, As: sink.Place()}, nil
	}
	at, err := s.place(sink)
	if err != nil {
		return engine.Area{}, err
	}
	return s.roots.Area(at, sink.Path, func() (string, error) { return s.buckets.Store(ctx, sink.Connection) })
}

// Target is the Root of the sink's Area, for those who only compare. One that
// cannot be told is its text: the attempt that writes it will say why.
func (s *Sink) Target(ctx context.Context, sink engine.Sink) string {
	area, err := s.Area(ctx, sink)
	if err != nil {
		return sink.Place()
	}
	return area.Root
}
