package run

import (
	"slices"

	"dogear/engine"
)

// noBookmark says why there is no bookmark that this node could have moved.
func (n Node) noBookmark() string {
	switch {
	case n.Attempt.Attempt == 0 || n.Attempt.Version == 0:
		return "This node has not started yet."
	case n.Ref.Kind == engine.KindCrawler:
		return "A crawler has no bookmark that moves: it keeps a list of its own of what it has looked at."
	case n.Ran == nil:
		return "This version of the job is not kept any more."
	case n.Ran.Kind == engine.JobPython:
		return "A script has no bookmark: Dogear does not know what it reads. Whether it succeeded, and what starts after it, follows from its exit code alone."
	case n.Ran.Bookmark == engine.BookmarkOff:
		return "The bookmark of this job was off: it reads everything each time and remembers nothing."
	case n.Ran.SQL != nil && !slices.ContainsFunc(n.Ran.SQL.Sources, func(s engine.Source) bool { return s.Read != engine.ReadAll }):
		return "Every source of this job is read whole each time, so there is nothing to remember."
	}
	return "Bookmark on, nothing committed yet: it is there once the job has read something and succeeded."
}

// became says what became of a bookmark in this run.
func (n Node) became(m Move) string {
	switch {
	case m.Move != nil:
		return m.text()
	case n.Live():
		return "It moves when this attempt has succeeded."
	case n.View.Run.Pick != nil:
		return "This run read beside it and left it where it is."
	case n.Attempt.Copied != "":
		return "This node was not done in this run, so it left the bookmark where it is."
	case n.Attempt.State != engine.Succeeded:
		return "This attempt did not succeed, so it stays where it was."
	case m.Mark.Paused || n.Ran != nil && n.Ran.Bookmark == engine.BookmarkPaused:
		return "It is paused, so nothing was committed."
	case n.Ran != nil && n.Ran.Bookmark == engine.BookmarkOff:
		return "The bookmark of the job was off, so nothing was committed."
	case n.Attempt.Counts.Held > 0:
		return "Bookmark on, nothing committed: what there was to read is held, as Inputs says. On the page of the bookmark it can be released."
	}
	return "Bookmark on, nothing committed: there was nothing new to read."
}
