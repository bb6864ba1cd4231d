package dbtest_test

import (
	"strings"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/engine"
	"dogear/engine/draft"
	"dogear/engine/flow"
)

// shop is a store with a workflow that runs a job and a crawler, which read
// through a connection.
type shop struct {
	*db.Store
	workflow, job, crawler, connection engine.ID
	body                               engine.WorkflowBody
}

func openShop(t *testing.T, store *db.Store) shop {
	t.Helper()
	ctx, s, secret := t.Context(), shop{Store: store}, "tell-nobody"
	link, err := store.SaveConnection(ctx, "", "minio", engine.ConnectionBody{Type: engine.ConnectionS3}, &secret, "owner", dbtest.Noon)
	must(t, err)
	s.connection = link.ID
	s.job, err = store.CreateJob(ctx, "load", engine.JobBody{Kind: engine.JobSQL, SQL: &engine.SQLJob{Sinks: []engine.Sink{{Connection: link.ID}}}}, "owner", dbtest.Noon)
	must(t, err)
	_, err = store.PublishJob(ctx, s.job, "owner", dbtest.Noon)
	must(t, err)
	s.crawler, err = store.CreateCrawler(ctx, "look", engine.CrawlerBody{Targets: []engine.CrawlerTarget{{Connection: link.ID}}}, "owner", dbtest.Noon)
	must(t, err)
	s.body = engine.WorkflowBody{Triggers: []engine.Trigger{{
		ID: engine.NewID(dbtest.Noon), Name: "daily", Type: engine.Scheduled, Schedule: "cron(0 2 * * ? *)",
		Actions: []engine.Action{{Ref: engine.Ref{Kind: engine.KindJob, ID: s.job}}, {Ref: engine.Ref{Kind: engine.KindCrawler, ID: s.crawler}}},
	}}}
	s.workflow, err = store.CreateWorkflow(ctx, "sales", s.body, "owner", dbtest.Noon)
	must(t, err)
	s.publish(t)
	return s
}

func (s *shop) publish(t *testing.T) {
	t.Helper()
	d, err := s.Draft(t.Context(), s.workflow)
	must(t, err)
	_, err = s.PublishWorkflow(t.Context(), s.workflow, d.Seq, nil, "owner", dbtest.Noon, func(engine.Trigger) time.Time { return dbtest.Noon.Add(time.Hour) })
	must(t, err)
}

// draw makes body the draft of the workflow.
func (s *shop) draw(t *testing.T, body engine.WorkflowBody) {
	t.Helper()
	id := string(engine.NewID(dbtest.Noon))
	_, err := s.Edit(t.Context(), s.workflow, []string{id}, func(draft.Draft, map[string]bool) (engine.WorkflowBody, []draft.Entry, error) {
		return body, []draft.Entry{{Op: id, Act: id, Kind: draft.SetWorkflow, By: "owner"}}, nil
	})
	must(t, err)
}

// run writes a run of the workflow as its start or its end does.
func (s *shop) run(t *testing.T, run engine.Run) {
	t.Helper()
	for _, w := range s.Commit(t.Context(), []flow.Step{{
		New:    &run,
		Decide: func(run engine.Run, _ flow.State) (flow.Writes, error) { return flow.Writes{Run: run}, nil },
	}}) {
		must(t, w.Err)
	}
}

func TestWhatIsInUseIsNotDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		s := openShop(t, store)
		refused := func(kind engine.Kind, id engine.ID, says ...string) {
			t.Helper()
			err := s.Delete(t.Context(), kind, id, dbtest.Noon)
			if engine.CodeOf(err) != engine.Conflict {
				t.Errorf("deleting the %s = %v, want %s", kind, err, engine.Conflict)
				return
			}
			for _, word := range says {
				if !strings.Contains(engine.MessageOf(err), word) {
					t.Errorf("deleting the %s says %q, want %q in it", kind, engine.MessageOf(err), word)
				}
			}
		}

		refused(engine.KindJob, s.job, "load", "sales")
		refused(engine.KindCrawler, s.crawler, "look", "sales")
		refused(engine.KindConnection, s.connection, "minio", "load", "look")
		run := engine.Run{ID: engine.NewID(dbtest.Noon), Kind: engine.RunWorkflow, Object: s.workflow, Name: "sales", Body: s.body, Started: dbtest.Noon}
		s.run(t, run)
		refused(engine.KindWorkflow, s.workflow, "sales", "Stop")
		s.draw(t, engine.WorkflowBody{})
		s.publish(t)
		refused(engine.KindJob, s.job, "run") // the open run pinned the version that names it
	})
}

func TestADraftIsNoReasonToKeepAJob(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		s := openShop(t, store)
		s.draw(t, engine.WorkflowBody{})
		s.publish(t)
		s.draw(t, s.body)

		used, err := s.Usage(t.Context(), engine.KindJob, s.job)
		must(t, err)
		must(t, s.Delete(t.Context(), engine.KindJob, s.job, dbtest.Noon))

		if len(used.Workflows) != 0 || len(used.Drafts) != 1 || used.Drafts[0].Name != "sales" {
			t.Errorf("usage = %+v, want the draft of sales alone", used)
		}
		if d, err := s.Draft(t.Context(), s.workflow); err != nil || len(d.Body.Triggers) != 1 {
			t.Errorf("the draft = %+v, %v, want it as it was", d.Body, err)
		}
	})
}

func TestHistoryOutlivesWhatWasDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Databases(t, func(t *testing.T, store *db.Store) {
		ctx, s := t.Context(), openShop(t, store)
		run := engine.Run{
			ID: engine.NewID(dbtest.Noon), Kind: engine.RunWorkflow, Object: s.workflow, Name: "sales", Body: s.body,
			Started: dbtest.Noon, Ended: dbtest.Noon.Add(time.Minute), Outcome: engine.RunSucceeded,
		}
		s.run(t, run)

		must(t, s.Delete(ctx, engine.KindWorkflow, s.workflow, dbtest.Noon))
		must(t, s.Delete(ctx, engine.KindJob, s.job, dbtest.Noon))
		must(t, s.Delete(ctx, engine.KindCrawler, s.crawler, dbtest.Noon))
		must(t, s.Delete(ctx, engine.KindConnection, s.connection, dbtest.Noon))

		if kept, err := s.Run(ctx, run.ID); err != nil || kept.Name != "sales" || len(kept.Body.Triggers) != 1 {
			t.Errorf("run = %+v, %v, want it with the version that it pinned", kept, err)
		}
		if name, deleted, err := s.NameOf(ctx, s.job); err != nil || name != "load" || !deleted {
			t.Errorf("NameOf = %q, deleted %t, %v, want load, deleted", name, deleted, err)
		}
		if versions, err := s.Versions(ctx, s.job); err != nil || len(versions) != 1 {
			t.Errorf("versions = %+v, %v, want the one", versions, err)
		}
		if schedules, err := s.Schedules(ctx); err != nil || len(schedules) != 0 {
			t.Errorf("schedules = %+v, %v, want none", schedules, err)
		}
		if secret, err := s.Secret(ctx, s.connection); err != nil || secret != "" {
			t.Errorf("a deleted connection keeps its secret (%v)", err)
		}
		if err := s.Delete(ctx, engine.KindJob, s.job, dbtest.Noon); engine.CodeOf(err) != engine.NotFound {
			t.Errorf("deleting it again = %v, want %s", err, engine.NotFound)
		}
		if _, err := s.CreateJob(ctx, "load", engine.JobBody{}, "owner", dbtest.Noon); err != nil {
			t.Errorf("the name is not free: %v", err)
		}
	})
}
