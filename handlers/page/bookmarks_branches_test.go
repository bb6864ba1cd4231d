package page_test

import (
	"net/http"
	"net/url"
	"testing"

	"dogear/engine"
)

// TestABranchOfAChangedSourceCanBeDropped: what the next run reads is asked
// about first, and needs not be decided for that.
func TestABranchOfAChangedSourceCanBeDropped(t *testing.T) {
	t.Parallel()
	m := mark(t)
	_, _ = m.change(t, m.at("/branch"), url.Values{"name": {"try"}})
	branches, err := m.store.Branches(t.Context(), m.job, "sales_csv")
	must(t, err)
	draft, err := m.store.JobDraft(t.Context(), m.job)
	must(t, err)
	draft.Body.SQL.Sources[0].Format = engine.JSON
	_, err = m.store.SaveJobDraft(t.Context(), m.job, draft.Body, draft.Seq, "owner", noon)
	must(t, err)
	_, err = m.store.PublishJob(t.Context(), m.job, "owner", noon)
	must(t, err)

	status, dialog := m.get(t, "/bookmarks/"+string(branches[0].ID)+"/preview/drop")

	contains(t, "the dialog", dialog, "Drop the branch try", "What the next run reads cannot be told now. Source ", "is not the one its bookmark was made for")
	if status != http.StatusOK {
		t.Errorf("the dialog = %d, want 200", status)
	}
}

func TestABranchIsMadeListedPromotedAndDropped(t *testing.T) {
	t.Parallel()
	m := mark(t)

	unnamed, form := m.change(t, m.at("/branch"), url.Values{"name": {" "}})
	_, _ = m.change(t, m.at("/branch"), url.Values{"name": {odd}, "why": {"to try"}})
	branches, err := m.store.Branches(t.Context(), m.job, "sales_csv")
	must(t, err)
	if len(branches) != 1 {
		t.Fatalf("%d branches, want 1", len(branches))
	}
	branch := "/bookmarks/" + string(branches[0].ID)
	_, _ = m.change(t, branch+"/read_again", url.Values{"since": {"2026-11-26"}})
	_, listed := m.get(t, m.at("/branches"))
	_, page := m.get(t, branch)
	stands := m.now(t)
	_, promotes := m.get(t, branch+"/preview/promote")
	_, drops := m.get(t, branch+"/preview/drop")
	looked := m.now(t)
	promoted, _ := m.change(t, branch+"/promote", url.Values{})
	dropped, _ := m.change(t, branch+"/drop", url.Values{})

	if unnamed != http.StatusUnprocessableEntity {
		t.Errorf("a branch without a name = %d, want 422", unnamed)
	}
	contains(t, "the form", form, "A branch needs a name")
	contains(t, "the list", listed, "By it, a run would read 2 files, 2.0 kB.", "&lt;script&gt;")
	contains(t, "the dialog of the promotion", promotes, "Promote this branch", "The next run reads 2 files, 2.0 kB; 2 of them, 2.0 kB, were read before.", "no row stands twice", "The branch stays.")
	contains(t, "the dialog of the drop", drops, "Drop the branch &lt;script&gt;", "its 2 moves are gone then", "which stays at v1", "The next run reads nothing.", "cannot be undone")
	if looked.Version != stands.Version {
		t.Errorf("a preview moved the bookmark to v%d", looked.Version)
	}
	contains(t, "the page of the branch", page, "Promote", "Drop", "&lt;script&gt;")
	if now := m.now(t); stands.Files != 5 || promoted != http.StatusOK || now.Files != 3 {
		t.Errorf("before %d files, promoted %d with %d files, want 5 and then 3", stands.Files, promoted, now.Files)
	}
	if status, _ := m.get(t, m.at("/preview/drop")); status != http.StatusUnprocessableEntity {
		t.Errorf("dropping what runs read by = %d, want it refused", status)
	}
	if left, err := m.store.Branches(t.Context(), m.job, "sales_csv"); dropped != http.StatusOK || len(left) != 0 {
		t.Errorf("dropped %d, %d left, %v", dropped, len(left), err)
	}
}
