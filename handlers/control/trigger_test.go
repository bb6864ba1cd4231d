package control

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/auth"
	"dogear/engine/draft"
)

// publisher publishes without a clock to wake.
type publisher struct{ *db.Store }

func (p publisher) Publish(ctx context.Context, id engine.ID, seq int64, with []engine.Ref, by string) (engine.Workflow, error) {
	return p.PublishWorkflow(ctx, id, seq, with, by, dbtest.Noon, func(engine.Trigger) time.Time { return time.Time{} })
}

// TestATriggerIsNotTurnedPastADraft: what somebody is still drawing is not published
// with it, and is told of; a card that only moved is no reason.
func TestATriggerIsNotTurnedPastADraft(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), dbtest.SQLite(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(store.AddUser(ctx, auth.User{ID: engine.NewID(dbtest.Noon), Name: "owner", Role: auth.Owner, At: dbtest.Noon}))
	trigger := engine.Trigger{ID: engine.NewID(dbtest.Noon), Name: "nightly", Type: engine.Scheduled, Schedule: "cron(0 2 * * ? *)"}
	id, err := store.CreateWorkflow(ctx, "w", engine.WorkflowBody{Triggers: []engine.Trigger{trigger}, Layout: map[string]engine.Point{string(trigger.ID): {}}}, "owner", dbtest.Noon)
	must(err)
	_, err = publisher{store}.Publish(ctx, id, 0, nil, "owner")
	must(err)
	drafts := draft.NewService(store, store, func(engine.ID, []draft.Entry) {}, func() time.Time { return dbtest.Noon })
	handler := New(Config{Store: store, Drafts: drafts, Publisher: publisher{store}, Now: func() time.Time { return dbtest.Noon }})
	edit := func(op draft.Op) {
		t.Helper()
		_, err := drafts.Save(ctx, id, "anna", draft.Patch{Client: "tab", Ops: []draft.Op{op}})
		must(err)
	}
	off := func() (int, string) {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/trigger", strings.NewReader(`{"workflow":"w","trigger":"nightly","on":false}`)))
		return recorder.Code, recorder.Body.String()
	}
	day := "1"
	edit(draft.Op{ID: "1", Kind: draft.SetProperties, Patch: &draft.Fields{Properties: map[string]*string{"Day": &day}}})

	refused, why := off()
	drawn, err := store.Workflow(ctx, id)
	must(err)
	edit(draft.Op{ID: "2", Kind: draft.SetProperties, Patch: &draft.Fields{Properties: map[string]*string{"Day": nil}}})
	edit(draft.Op{ID: "3", Kind: draft.Move, Move: map[string]engine.Point{string(trigger.ID): {X: 40, Y: 40}}})
	done, _ := off()
	now, err := store.Workflow(ctx, id)
	must(err)

	if refused != http.StatusConflict || !strings.Contains(why, "The draft of workflow w holds changes that are not published, the first of them of Property Day.") {
		t.Errorf("past a draft = %d %s, want 409 that says what is in it", refused, why)
	}
	if drawn.Version != 1 || drawn.Triggers[0].Disabled {
		t.Errorf("the refused command left v%d, off: %t", drawn.Version, drawn.Triggers[0].Disabled)
	}
	if done != http.StatusOK || now.Version != 2 || !now.Triggers[0].Disabled {
		t.Errorf("past a card that moved = %d, and the workflow is v%d, off: %t", done, now.Version, now.Triggers[0].Disabled)
	}
}
