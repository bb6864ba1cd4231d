package bookmark

import "dogear/engine"

// Renamed says which bookmarks of a job go by another name from now on: the
// context before, and the one after. A source keeps its ledger where it is the
// same thing by its fingerprint and only its context has changed. Where two
// could be meant, neither is: their bookmarks begin anew.
func Renamed(before, after *engine.SQLJob) map[string]string {
	if before == nil || after == nil {
		return nil
	}
	gone, come := without(before, after), without(after, before)
	renamed := map[string]string{}
	for fingerprint, from := range gone {
		if to := come[fingerprint]; len(from) == 1 && len(to) == 1 {
			renamed[from[0]] = to[0]
		}
	}
	return renamed
}

// without lists, by fingerprint, the contexts of job that other does not have.
func without(job, other *engine.SQLJob) map[string][]string {
	theirs := map[string]bool{}
	for i := range other.Sources {
		theirs[other.Sources[i].Context()] = true
	}
	mine := map[string][]string{}
	for i := range job.Sources {
		src := &job.Sources[i]
		if name := src.Context(); src.Read != engine.ReadAll && !theirs[name] {
			fingerprint := Fingerprint(*src)
			mine[fingerprint] = append(mine[fingerprint], name)
		}
	}
	return mine
}
