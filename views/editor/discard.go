package editor

import (
	"strconv"

	"dogear/engine"
	"dogear/engine/draft"
)

// Discarding asks whether drafts are to become what is published again.
type Discarding struct {
	CSRF    string
	Ref     engine.Ref // of the workflow, job or crawler
	Name    string
	Version int   // that runs
	Seq     int64 // of the draft that is shown
	Moved   bool  // the draft of the workflow differs, if only by the places of cards
	Changes []draft.Change
	Fields  []draft.Field // of a job or crawler
	Parts   []Part        // the jobs and crawlers of the workflow whose drafts differ
}

func (d Discarding) href() string {
	return "/" + string(d.Ref.Kind) + "s/" + string(d.Ref.ID) + "/discard"
}

func (d Discarding) version() string { return "v" + strconv.Itoa(d.Version) }

// becomes says what the draft is afterwards.
func (d Discarding) becomes() string {
	return "The draft becomes what " + d.version() + " is, which runs now. This is lost:"
}

// back says what can be taken back.
func (d Discarding) back() string {
	switch {
	case d.Ref.Kind != engine.KindWorkflow:
		return "It cannot be brought back."
	case len(d.Parts) > 0 && d.Moved:
		return "An undo in the editor brings back what this workflow loses. What jobs and crawlers lose cannot be brought back."
	case len(d.Parts) > 0:
		return "What jobs and crawlers lose cannot be brought back."
	}
	return "An undo in the editor brings it back."
}
