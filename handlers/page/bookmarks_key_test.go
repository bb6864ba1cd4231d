package page_test

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dogear/engine"
	rules "dogear/engine/bookmark"
	"dogear/handlers/page"
)

// counted is a table of rows with the keys 1 to 100.
type counted struct{}

func (counted) Survey(_ context.Context, q engine.TableQuestion) (engine.TableSurvey, error) {
	key := func(text string) []engine.KeyValue { return []engine.KeyValue{{Text: text, Type: "bigint"}} }
	found := engine.TableSurvey{Columns: []engine.Column{{Name: "id", Type: "BIGINT"}}}
	r := engine.KeyRange{Keys: []string{"id"}, High: key("100"), Rows: 100}
	switch {
	case q.UpTo != nil:
		r.High, r.Rows = key(q.UpTo[0]), 40
	case q.Mark != nil && q.Mark.High[0].Text == "100":
		return found, nil
	case q.Mark != nil:
		r.Low, r.Rows = q.Mark.High, 60
	}
	found.New = []engine.KeyRange{r}
	return found, nil
}

func (counted) Rows(context.Context, engine.Source, []engine.Column, []string) iter.Seq2[engine.RowPrint, error] {
	return nil
}

// TestATableIsRewoundToAKeyInTheBrowser: the form names the column, its type and
// where the bookmark stands in it; what is not of that type comes back as it was
// typed, with what is wrong.
func TestATableIsRewoundToAKeyInTheBrowser(t *testing.T) {
	t.Parallel()
	m := &marked{site: serve(t), exec: &starts{}}
	m.rules = &rules.Service{
		Store: m.store, Planner: &rules.Planner{Ledger: m.store, Lister: shelf{}, Tables: m.store, Surveyor: counted{}}, Now: func() time.Time { return noon },
	}
	m.open(t, page.Config{Store: m.store, Exec: m.exec, Bookmarks: m.rules})
	draft, err := m.store.JobDraft(t.Context(), m.job)
	must(t, err)
	src := &draft.Body.SQL.Sources[0]
	src.Table, src.Path, src.Keys = "orders", "", []string{"id"}
	_, err = m.store.SaveJobDraft(t.Context(), m.job, draft.Body, draft.Seq, "owner", noon)
	must(t, err)
	_, err = m.store.PublishJob(t.Context(), m.job, "owner", noon)
	must(t, err)
	opened, err := m.rules.Open(t.Context(), m.job, "sales_csv")
	must(t, err)
	m.mark = opened
	_, unread := m.get(t, m.at("/choose/rewind"))
	m.mark, err = m.rules.Make(t.Context(), opened.ID, rules.Move{Kind: engine.MoveSetNow}, "owner")
	must(t, err)

	_, form := m.get(t, m.at("/choose/rewind"))
	wrong, says := m.fragment(t, m.at("/preview/rewind?asked=form&to=&run=&at=&to_key=forty"))
	both, _ := m.fragment(t, m.at("/preview/rewind?asked=form&to=1&to_key=40"))
	_, dialog := m.get(t, m.at("/preview/rewind?asked=form&to=&run=&at=&to_key=40"))
	stands := m.now(t)
	moved, _ := m.change(t, m.at("/rewind"), url.Values{"to_key": {"40"}, "why": {"wrong prices"}})
	_, history := m.get(t, m.at(""))
	_, undo := m.get(t, m.at("/preview/undo"))

	contains(t, "the form before anything was read", unread, `<span class="mono">id</span>`, `name="to_key"`)
	contains(t, "the form", form, `<span class="mono">id</span>`, "bigint", `placeholder="100"`)
	contains(t, "the form then", says, "&#34;forty&#34; is not a whole number, which the column id of the key (BIGINT) needs. The bookmark stands at 100.", `value="forty"`)
	contains(t, "the dialog", dialog, "Rewind to the key 40", "The next run reads 60 rows; 60 of them were read before.", `name="to_key" value="40"`, "Rows:", `<span class="mono">id: 40 … 100</span> <span class="tiny tabular">60 rows</span>`)
	if strings.Contains(dialog, "count as read now would") {
		t.Errorf("the dialog says that rows are skipped, and they come again: %s", dialog)
	}
	contains(t, "the dialog back", undo, "60 rows that do not count as read now would count as read: runs skip that.", "The next run reads nothing.")
	contains(t, "the history", history, "to the key 40: wrong prices")
	if wrong != http.StatusUnprocessableEntity || both != http.StatusUnprocessableEntity || stands.Version != 1 {
		t.Errorf("a wrong key %d, two ways at once %d, v%d; want both refused at v1", wrong, both, stands.Version)
	}
	if now := m.now(t); moved != http.StatusOK || now.Version != 2 || now.Newest.Range == m.mark.Newest.Range {
		t.Errorf("moved %d, at v%d with %s", moved, now.Version, now.Newest.Range)
	}
}
