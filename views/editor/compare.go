package editor

import (
	"strconv"

	"dogear/engine"
	"dogear/engine/draft"
	"dogear/views/form"
)

// Comparing is how two versions of a job differ; version 0 is the draft.
type Comparing struct {
	Job      engine.ID
	Name     string
	Versions []engine.Head // newest first
	From, To int
	Fields   []draft.Field // from the one to the other
}

// Other is the version that n is first compared with: the one before it, and the first
// with the newest.
func Other(versions []engine.Head, n int) int {
	for _, v := range versions { // newest first
		if v.Version < n {
			return v.Version
		}
	}
	if len(versions) > 0 && versions[0].Version != n {
		return versions[0].Version
	}
	return 0
}

func (c Comparing) href() string { return "/jobs/" + string(c.Job) + "/compare" }

// choices are what can be compared.
func (c Comparing) choices() []form.Choice {
	list := []form.Choice{{"0", "the draft"}}
	for i, v := range c.Versions {
		word := "v" + strconv.Itoa(v.Version) + ", by " + v.By
		if i == 0 {
			word += ", runs now"
		}
		list = append(list, form.Choice{strconv.Itoa(v.Version), word})
	}
	return list
}

// same says what is so where nothing differs.
func (c Comparing) same() string {
	if c.From == c.To {
		return "This is one and the same. Choose another to compare it with."
	}
	return "They hold the same."
}
