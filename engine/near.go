package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

const (
	maxNear   = 3   // names that are offered
	maxListed = 400 // bytes of names that are listed, about
)

// Near returns those of names that a misspelt name may stand for, the nearest first:
// at most three, and none where nothing is like it. Names are compared without regard
// to case.
func Near(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	low := strings.ToLower(name)
	for _, n := range names {
		other := strings.ToLower(n)
		// Two letters that changed places count as two.
		distance := levenshtein.ComputeDistance(low, other)
		begins := len(low) > 2 && len(other) > 2 && (strings.HasPrefix(other, low) || strings.HasPrefix(low, other))
		if distance <= (len(low)+2)/3 || begins {
			found = append(found, candidate{n, distance})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	near := make([]string, 0, maxNear)
	for _, c := range found[:min(len(found), maxNear)] {
		near = append(near, c.name)
	}
	return near
}

// Lacking says that of has no column of that name, which are like it, and which there
// are. It is two or three sentences.
func Lacking(of, name string, columns []string) string {
	text := of + " has no column " + name + "."
	if near := Near(name, columns); len(near) > 0 {
		text += " Did you mean " + strings.Join(near, " or ") + "?"
	}
	return text + " It has " + Listed(columns) + "."
}

// Unnamed is NotFound: there is no such thing of that name, but these that are like it,
// or these.
func Unnamed(what, name string, names []string) error {
	var text string
	switch near := Near(name, names); {
	case len(near) > 0:
		text = "Did you mean " + strings.Join(near, " or ") + "?"
	case len(names) == 0:
		text = "There is none yet."
	default:
		text = "There is " + Listed(names) + "."
	}
	return Errorf(NotFound, "There is no %s named %q. %s", what, name, text)
}

// Listed are names with commas between them; of very many the first.
func Listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	var list strings.Builder
	for i, name := range names {
		if i > 0 {
			list.WriteString(", ")
		}
		if list.Len()+len(name) > maxListed {
			list.WriteString("…")
			break
		}
		list.WriteString(name)
	}
	return list.String()
}
