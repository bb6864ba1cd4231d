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

func (p publisher) Switch(ctx context.Context, id engine.ID, turn draft.Turn, by string) (engine.Workflow, error) {
	made, _, err := p.SwitchTrigger(ctx, id, turn, by, dbtest.Noon, func(engine.Trigger) time.Time { return time.Time{} })
	return made, err
}

// TestATriggerIsTurnedWhateverTheDraftHolds: what somebody is still drawing is neither
// published with it nor lost, and the answer says what that is.
func TestATriggerIsTurnedWhateverTheDraftHolds(t *testing.T) {
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
	day := "1"
	_, err = drafts.Save(ctx, id, "anna", draft.Patch{Client: "tab", Ops: []draft.Op{{ID: "1", Kind: draft.SetProperties, Patch: &draft.Fields{Properties: map[string]*string{"Day": &day}}}}})
	must(err)
	off := func() string {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/trigger", strings.NewReader(`{"workflow":"w","trigger":"nightly","on":false}`)))
		return recorder.Body.String()
	}

	turned, again := off(), off()

	runs, err := store.Workflow(ctx, id)
	must(err)
	drawn, err := drafts.Draft(ctx, id)
	must(err)
	if runs.Version != 2 || !runs.Triggers[0].Disabled || len(runs.Properties) > 0 {
		t.Errorf("v%d runs, off: %t, with %v; want v2, off, and nothing of the draft", runs.Version, runs.Triggers[0].Disabled, runs.Properties)
	}
	if !drawn.Open || !drawn.Body.Triggers[0].Disabled || drawn.Body.Properties["Day"] != day {
		t.Errorf("the draft is %+v, want it open, off, and with Day", drawn)
	}
	for said, want := range map[string]string{turned: `"version":2,"made":true,`, again: `"version":2,"made":false,`} {
		if !strings.Contains(said, want) || !strings.Contains(said, `"name":"Property Day"`) {
			t.Errorf("the answer is %s, want %s and what the draft holds", said, want)
		}
	}
}
