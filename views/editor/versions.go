package editor

import (
	"strconv"

	"dogear/engine/draft"
	"dogear/views/show"
)

// Versions is a page of the published versions of a workflow, newest first.
type Versions struct {
	State State
	List  []draft.Version
	Older int // the page after this one begins below it; 0 for none
}

// now reports the version that runs.
func (v Versions) now(version draft.Version) bool { return version.Version == v.State.Draft.Version }

// word is the name of a version.
func word(v draft.Version) string { return "v" + strconv.Itoa(v.Version) }

// holds is what a first version is made of.
func holds(v draft.Version) string {
	return "The first version: " + show.Many(int64(len(v.Body.Refs())), "node") + " and " + show.Many(int64(len(v.Body.Triggers)), "trigger") + "."
}

// sure asks before the draft becomes an earlier version.
func sure(v draft.Version) string {
	return "Make the draft what " + word(v) + " was? Nothing is published by that, and an undo in the editor brings back what the draft holds now."
}
