package bookmark

import (
	"fmt"

	"dogear/engine"
	rules "dogear/engine/bookmark"
	"dogear/views/show"
)

// chooseTitle heads the form on which a move begins.
func chooseTitle(word string) string {
	switch word {
	case "read_again":
		return "Read files again"
	case "hold":
		return "Hold files"
	case "release":
		return "Release files"
	case "rewind":
		return "Rewind"
	case "branch":
		return "Make a branch"
	case "import":
		return "Import a bookmark"
	}
	return "Move"
}

// chooseHint says what such a move is for.
func chooseHint(word string) string {
	switch word {
	case "read_again":
		return "What fits all that you fill in counts as not read, so the next run reads it again."
	case "hold":
		return "What fits and was not read yet is kept from being read until it is released."
	case "release":
		return "What fits and is held is read by the next run."
	}
	return "What counted as read then counts as read again, as a new version. Fill in one of these."
}

// versions are those that a rewind can go back to.
func (v View) versions() []engine.BookmarkMove {
	var list []engine.BookmarkMove
	for _, m := range v.Moves {
		if !beside(m) && m.Version != v.Mark.Version && m.Root != rules.Pruned {
			list = append(list, m)
		}
	}
	return list
}

// comparable are those that can be compared.
func (v View) comparable() []engine.BookmarkMove {
	var list []engine.BookmarkMove
	for _, m := range v.Moves {
		if !beside(m) && m.Root != rules.Pruned {
			list = append(list, m)
		}
	}
	return list
}

// versionWords name a version in a list of them.
func versionWords(m engine.BookmarkMove) string {
	return fmt.Sprintf("v%d · %s · %s", m.Version, m.At.UTC().Format("2 Jan 15:04 UTC"), change(m))
}

// runWords name a run that moved the bookmark.
func runWords(m engine.BookmarkMove) string {
	return fmt.Sprintf("%s · %s · v%d", show.Short(m.Run), m.At.UTC().Format("2 Jan 15:04 UTC"), m.Version)
}

// toKey is what was filled in for column i of a key.
func (a Ask) toKey(i int) string {
	if i < len(a.ToKey) {
		return a.ToKey[i]
	}
	return ""
}
