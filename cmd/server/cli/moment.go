package cli

import (
	"time"

	"dogear/engine"
)

// moment is a day or a time on the command line, in UTC where it does not say.
type moment struct{ time.Time }

// moments are the ways to write one, the most exact first.
var moments = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly}

// UnmarshalText reads a moment; kong calls it.
func (m *moment) UnmarshalText(text []byte) error {
	for _, layout := range moments {
		if at, err := time.Parse(layout, string(text)); err == nil {
			m.Time = at.UTC()
			return nil
		}
	}
	return engine.Errorf(engine.Invalid, "%q is neither a day nor a time; write it as 2026-11-29 or 2026-11-29T12:00:00Z", text)
}
