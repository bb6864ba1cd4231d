package editor

import (
	"strconv"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/views/show"
)

// Versions is a page of the published versions of a workflow, newest first.
type Versions struct {
	State State
	List  []Version
	Older int // the page after this one begins below it; 0 for none
}

// Version is one of them, and how it differs from the one before.
type Version struct {
	engine.Head
	Body    engine.WorkflowBody
	First   bool // there is none before
	Changes []draft.Change
}

// now reports the version that runs.
func (v Versions) now(version Version) bool { return version.Version == v.State.Draft.Version }

// word is the name of a version.
func (v Version) word() string { return "v" + strconv.Itoa(v.Version) }

// holds is what a first version is made of.
func (v Version) holds() string {
	return "The first version: " + show.Many(int64(len(v.Body.Refs())), "node") + " and " + show.Many(int64(len(v.Body.Triggers)), "trigger") + "."
}

// sure asks before the draft becomes an earlier version.
func (v Version) sure() string {
	return "Make the draft what " + v.word() + " was? Nothing is published by that, and an undo in the editor brings back what the draft holds now."
}
