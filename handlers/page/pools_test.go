package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dogear/engine"
)

func TestAPoolIsMadeResizedAndDeleted(t *testing.T) {
	t.Parallel()
	site, told := steered(t, func(*engine.Run) {})
	for name, wrong := range map[string]url.Values{
		"no name":     {"new": {"1"}, "name": {""}, "places": {"2"}},
		"no number":   {"new": {"1"}, "name": {"warehouse"}, "places": {"many"}},
		"below zero":  {"new": {"1"}, "name": {"warehouse"}, "places": {"-1"}},
		"a name that": {"new": {"1"}, "name": {"backfills"}, "places": {"1"}},
	} {
		if status, _ := site.change(t, "/pools", wrong); status != http.StatusUnprocessableEntity {
			t.Errorf("%s: got %d", name, status)
		}
	}

	status, _ := site.change(t, "/pools", url.Values{"new": {"1"}, "name": {"warehouse"}, "places": {"2"}})
	_, list := site.get(t, "/pools")
	if status >= 400 || !strings.Contains(list, `data-pool="warehouse"`) || !strings.Contains(list, `aria-label="Places of warehouse"`) {
		t.Fatalf("making a pool: got %d", status)
	}
	site.change(t, "/pools", url.Values{"name": {"warehouse"}, "places": {"7"}})
	_, form := site.get(t, "/jobs/"+string(site.job))
	if _, list = site.get(t, "/pools"); !strings.Contains(list, `value="7"`) || !strings.Contains(form, `<option value="warehouse">`) {
		t.Error("the pool has not seven places now, or the form of a job does not offer it")
	}
	_, ask := site.get(t, "/pools/delete?name=warehouse")
	contains(t, "the question", ask, "Delete the pool warehouse?", "Nothing uses it.", "confirm-delete")
	for _, gone := range []func() (int, string){
		func() (int, string) { return site.change(t, "/pools/delete", url.Values{"name": {"nothing"}}) },
		func() (int, string) { return site.get(t, "/pools/delete?name=nothing") },
	} {
		if status, text := gone(); status != http.StatusNotFound || !strings.Contains(text, "There is no pool named") {
			t.Errorf("deleting what is not there: got %d %s", status, text)
		}
	}
	site.change(t, "/pools/delete", url.Values{"name": {"warehouse"}})
	if _, list = site.get(t, "/pools"); strings.Contains(list, `data-pool="warehouse"`) {
		t.Error("the pool is still there")
	}
	if len(told.asked) != 3 {
		t.Errorf("the engine was told %v, want three times", told.asked)
	}
}

// TestAPoolWithoutPlacesSaysThatNothingStarts where it is set and as long as it is so.
func TestAPoolWithoutPlacesSaysThatNothingStarts(t *testing.T) {
	t.Parallel()
	const says = "Nothing starts in this pool until it has places."
	site, _ := steered(t, func(*engine.Run) {})
	said := func(form url.Values) (rows, status string) {
		t.Helper()
		_, rows = site.change(t, "/pools", form)
		_, status, _ = strings.Cut(rows, `role="status">`)
		status, _, _ = strings.Cut(status, "<")
		return rows, status
	}

	shut, made := said(url.Values{"new": {"1"}, "name": {"warehouse"}, "places": {"0"}})
	_, page := site.get(t, "/pools")
	open, resized := said(url.Values{"name": {"warehouse"}, "places": {"1"}})

	if made != "warehouse has 0 places now. "+says || strings.Count(shut, says) != 2 || strings.Count(page, says) != 1 {
		t.Errorf("a pool without places was answered with %q, and is told of %d times on its page, want once", made, strings.Count(page, says))
	}
	if resized != "warehouse has 1 place now." || strings.Contains(open, says) {
		t.Errorf("with a place it was answered with %q, and the page says that nothing starts: %t", resized, strings.Contains(open, says))
	}
}

// A name is refused by the rule of all names, and beside what else is wrong.
func TestANameOfAPoolThatIsNoneIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	site, _ := steered(t, func(*engine.Run) {})
	for name, says := range map[string]string{
		"":                        "A pool needs a name.",
		"two\nlines":              "is one line of text",
		"left\u202eright":         "control character U+202E",
		strings.Repeat("é", 256):  "has at most 255 characters; this one has 256",
		"backfills":               "There is a pool of this name already.",
		odd + "\u2028" + "second": "control character U+2028",
	} {
		status, page := site.change(t, "/pools", url.Values{"new": {"1"}, "name": {name}, "places": {"99999999999999999999"}})

		contains(t, "the refusal", page, says, "Write a number of places from 0 to 10000")
		if status != http.StatusUnprocessableEntity || strings.Contains(page, "<script>alert") {
			t.Errorf("%q = %d, want 422", name, status)
		}
	}
	status, page := site.change(t, "/pools", url.Values{"name": {"deleted"}, "places": {"3"}})
	if list, err := site.store.Pools(t.Context()); status != http.StatusUnprocessableEntity || err != nil || len(list) != 1 {
		t.Errorf("the places of a pool that was deleted = %d, %v, %v; want 422 and no pool made", status, list, err)
	}
	contains(t, "the refusal", page, "There is no pool deleted: it was deleted meanwhile, or never made.")
}

func TestAPoolThatIsUsedSaysByWhatBeforeItIsDeleted(t *testing.T) {
	t.Parallel()
	site, _ := steered(t, func(*engine.Run) {})
	site.change(t, "/pools", url.Values{"new": {"1"}, "name": {odd}, "places": {"2"}})
	made, err := site.store.JobDraft(t.Context(), site.job)
	must(t, err)
	made.Body.Pool = odd
	_, err = site.store.SaveJobDraft(t.Context(), site.job, made.Body, made.Seq, "owner", noon)
	must(t, err)
	ask := "/pools/delete?name=" + url.QueryEscape(odd)

	_, drafted := site.get(t, ask)
	_, err = site.store.PublishJob(t.Context(), site.job, "owner", noon)
	must(t, err)
	_, published := site.get(t, ask)
	status, answer := site.change(t, "/pools/delete", url.Values{"name": {odd}})
	_, always := site.get(t, "/pools/delete?name=backfills")

	contains(t, "the question of a draft's pool", drafted, "Jobs whose draft names it", "raw-to-curated", "confirm-delete")
	contains(t, "the question of a job's pool", published, "Jobs that use it", "Choose another pool there and publish")
	contains(t, "the question of backfills", always, "is always there")
	if strings.Contains(published+always, "confirm-delete") || strings.Contains(drafted+published, "<script>alert") {
		t.Error("a pool that is used can be confirmed, or its name is markup")
	}
	if status != http.StatusConflict || !strings.Contains(answer, "is used by job") {
		t.Errorf("POST = %d %s, want 409 that names the job", status, answer)
	}
}

// TestAJobThatNamesAPoolWhichIsNotThereIsRefused where it is saved, in its form
// and in the editor's panel, and where it is published.
func TestAJobThatNamesAPoolWhichIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	s := edit(t)
	s.pipeline(t)
	job, _ := s.cards()
	form := url.Values{
		"name": {"load"}, "pool": {"gone " + odd}, "bookmark": {"enabled"}, "timeout": {"9"}, "source.0.name": {"sales"}, "source.0.path": {"/data/*.csv"},
		"step.0.name": {"out"}, "step.0.sql": {"SELECT * FROM sales"}, "sink.0.from": {"out"}, "sink.0.path": {"/out"}, "sink.0.mode": {"append"},
	}
	_, page := s.get(t, "/jobs/"+string(s.job))
	form.Set("base", value(t, page, "base"))

	alone, refused := s.change(t, "/jobs/"+string(s.job), form)
	inPanel, panel := s.change(t, s.at("/cards/"+job), form)
	kept, err := s.store.JobDraft(t.Context(), s.job)
	must(t, err)
	drafted := kept.Body // as it was saved while the pool was there
	drafted.Pool = "gone"
	_, err = s.store.SaveJobDraft(t.Context(), s.job, drafted, kept.Seq, "owner", noon)
	must(t, err)
	_, dialog := s.get(t, s.at("/publish"))
	published, why := s.change(t, s.at("/publish"), url.Values{"seq": {"5"}, "with": {job}})
	must(t, s.store.PutPool(t.Context(), "gone", 1, "owner", noon))
	again, _ := s.change(t, s.at("/publish"), url.Values{"seq": {"5"}, "with": {job}})

	const says = "There is no pool gone"
	contains(t, "the form", refused, says, `id="pool.error"`, "(does not exist)")
	contains(t, "the panel", panel, says, "make it under Pools first")
	contains(t, "the list of changes", dialog, says, "This cannot be published yet")
	contains(t, "the answer of a publish", why, says)
	if alone != http.StatusUnprocessableEntity || inPanel != http.StatusUnprocessableEntity || kept.Body.Pool != "" {
		t.Errorf("saved = %d and %d, and the draft waits in %q; want 422 twice and none", alone, inPanel, kept.Body.Pool)
	}
	if published != http.StatusUnprocessableEntity || again != http.StatusOK {
		t.Errorf("published = %d, and once the pool is there %d; want 422 and 200", published, again)
	}
}
