package page_test

import (
	"net/url"
	"strings"
	"testing"

	"dogear/engine"
)

// TestTheResumeDialogSpeaksOfWhatIsThere: of properties where the run has some that a
// person may change, of a mark and its reason where a node is marked.
func TestTheResumeDialogSpeaksOfWhatIsThere(t *testing.T) {
	t.Parallel()
	var given map[string]string
	s, _ := steered(t, func(r *engine.Run) { ended(r); r.Properties = given })
	path := "/runs/" + string(runID) + "/resume"
	mark := url.Values{"do." + s.nodes[0].Ref.String(): {"failed"}, "why": {"wrong prices"}}

	given = map[string]string{"aws:eventIds": "1"}
	_, plain := s.get(t, path)
	given = map[string]string{"day": "monday"}
	_, some := s.get(t, path)
	_, marked := s.change(t, path+"/nodes", mark)

	contains(t, "the dialog of a run with a property", some, "properties of this one", "property.day")
	contains(t, "a form with a mark", marked, "Reason of the mark", `value="wrong prices"`)
	for _, about := range []string{"properties of this one", "Reason of the mark", "or marked"} {
		if strings.Contains(plain, about) {
			t.Errorf("the dialog of a run without any says %q", about)
		}
	}
}
