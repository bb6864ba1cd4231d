package page_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestVersionsOfAJobAreCompared, each with any other and with the draft; the page offers
// it for each version.
func TestVersionsOfAJobAreCompared(t *testing.T) {
	t.Parallel()
	s := edit(t)
	publish := func(retries int) {
		s.saveRetries(t, retries)
		_, err := s.store.PublishJob(t.Context(), s.job, "owner", noon)
		must(t, err)
	}
	publish(4)
	publish(5)
	s.saveRetries(t, 6)
	at := "/jobs/" + string(s.job)
	versions, err := s.store.Versions(t.Context(), s.job)
	must(t, err)
	last := versions[0].Version
	v := strconv.Itoa

	_, page := s.get(t, at)
	_, before := s.get(t, at+"/compare?to="+v(last))
	_, drawn := s.get(t, at+"/compare?from="+v(last-1)+"&to=0")
	_, same := s.get(t, at+"/compare?from="+v(last)+"&to="+v(last))
	nowhere, says := s.get(t, at+"/compare?from=99&to=0")

	contains(t, "the page", page, `hx-get="`+at+`/compare?to=`+v(last)+`"`, `aria-label="Compare v`+v(last)+` with another version"`)
	contains(t, "a version with the one before", before, "<del>4</del>", "<ins>5</ins>", `<option value="`+v(last-1)+`" selected>`, "by owner, runs now")
	contains(t, "a version with the draft", drawn, "<del>4</del>", "<ins>6</ins>", `<option value="0" selected>the draft`)
	contains(t, "a version with itself", same, "This is one and the same.")
	if nowhere != http.StatusNotFound || !strings.Contains(says, "There is no version 99") {
		t.Errorf("a version that is nowhere = %d %q, want 404 that names it", nowhere, says)
	}
}
