package engine

import (
	"fmt"
	"strings"
	"time"
)

// Selection picks objects of a source: those that fit every condition that is
// set. An empty one picks nothing, so that a forgotten condition does not pick
// everything.
type Selection struct {
	Keys []string `json:"keys,omitempty"` // exactly these
	// Pattern is a path pattern: * and ? stay within a folder, ** crosses them.
	Pattern string `json:"pattern,omitempty"`
	// Since and Until bound when an object was last written: from Since on,
	// before Until.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// Empty reports that s picks nothing.
func (s *Selection) Empty() bool {
	return len(s.Keys) == 0 && s.Pattern == "" && s.Since.IsZero() && s.Until.IsZero()
}

// Words writes s for people: "2026/11/*, written since 1 Nov 2026".
func (s *Selection) Words() string {
	const day = "2 Jan 2006 15:04"
	var parts []string
	switch len(s.Keys) {
	case 0:
	case 1:
		parts = append(parts, s.Keys[0])
	default:
		parts = append(parts, fmt.Sprintf("%d chosen files", len(s.Keys)))
	}
	if s.Pattern != "" {
		parts = append(parts, s.Pattern)
	}
	if !s.Since.IsZero() {
		parts = append(parts, "written since "+s.Since.UTC().Format(day))
	}
	if !s.Until.IsZero() {
		parts = append(parts, "written before "+s.Until.UTC().Format(day))
	}
	return strings.Join(parts, ", ")
}
