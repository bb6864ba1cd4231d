package job_test

import (
	"net/url"
	"testing"

	"dogear/engine"
	"dogear/views/job"
)

// TestARenamedSourceKeepsItsBookmark: the context is the old name from then on,
// however often the source is renamed.
func TestARenamedSourceKeepsItsBookmark(t *testing.T) {
	t.Parallel()
	type step struct{ name, rest, want string }
	for _, s := range []step{
		{"orders", `{"name":"orders"}`, ""},
		{"sales", `{"name":"orders"}`, "orders"},
		{"deals", `{"name":"sales","ctx":"orders"}`, "orders"},
		{"fresh", "", ""},
	} {
		form := job.ReadForm(url.Values{
			"name": {"load"}, "source.0.name": {s.name}, "source.0.rest": {s.rest}, "source.0.path": {"in/*.csv"},
		}, engine.Draft[engine.JobBody]{})
		if got := form.Body.SQL.Sources[0].Ctx; got != s.want {
			t.Errorf("%s after %s reads by %q, want %q", s.name, s.rest, got, s.want)
		}
	}
}
