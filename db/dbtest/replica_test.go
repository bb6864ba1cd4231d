package dbtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/db/secret"
	"dogear/engine"
)

// TestSecretsHaveOneKey: a server with another key is refused, also where it is
// alone, unless its owner says that the key is lost; then the secrets go, but
// not from under servers that work with them.
func TestSecretsHaveOneKey(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		first := dbtest.Open(t, address)
		_, err := first.CheckKey(t.Context(), false)
		must(t, err)
		plain := "hunter2"
		made, err := first.SaveConnection(t.Context(), "", "lake", engine.ConnectionBody{Type: engine.ConnectionS3}, &plain, "owner", dbtest.Noon)
		must(t, err)
		calls := engine.Trigger{ID: engine.NewID(dbtest.Noon), Name: "by others", Type: engine.OnEvent, Event: engine.EventRule{}}
		workflow, err := first.CreateWorkflow(t.Context(), "called", engine.WorkflowBody{Triggers: []engine.Trigger{calls}}, "owner", dbtest.Noon)
		must(t, err)
		_, err = first.PublishWorkflow(t.Context(), workflow, 0, nil, "owner", dbtest.Noon, func(engine.Trigger) time.Time { return time.Time{} })
		must(t, err)
		must(t, first.NewTriggerSecret(t.Context(), calls.ID, plain, dbtest.Noon))
		_, err = first.CheckKey(t.Context(), false)
		must(t, err)
		key, err := secret.New(bytes.Repeat([]byte{7}, 32))
		must(t, err)
		other, err := db.Open(context.Background(), address, key)
		must(t, err)
		t.Cleanup(func() { must(t, other.Close()) })

		if _, err := other.CheckKey(t.Context(), false); engine.CodeOf(err) != engine.Invalid {
			t.Errorf("a server with another key: %v, want it refused", err)
		}
		if first.Shared() {
			self := engine.Replica{ID: engine.NewID(dbtest.Noon)}
			must(t, first.Join(t.Context(), self, time.Minute))
			if _, err := other.CheckKey(t.Context(), true); engine.CodeOf(err) != engine.Conflict {
				t.Errorf("forgetting the secrets of others: %v, want it refused", err)
			}
			must(t, first.Leave(t.Context(), self.ID))
		}
		if got, err := first.Secret(t.Context(), made.ID); err != nil || got != plain {
			t.Errorf("the secret is %q (%v), want it untouched", got, err)
		}
		gone, err := other.CheckKey(t.Context(), true)
		must(t, err)
		if want := []db.Forgotten{{Kind: engine.KindConnection, Name: "lake"}, {Kind: engine.KindWorkflow, Name: "called", Trigger: "by others"}}; !slices.Equal(gone, want) {
			t.Errorf("it says that it forgot %+v, want %+v", gone, want)
		}
		if got, err := other.Secret(t.Context(), made.ID); err != nil || got != "" {
			t.Errorf("after forgetting the secret is %q (%v), want none", got, err)
		}
		if kept, err := other.Connection(t.Context(), made.ID); err != nil || kept.HasSecret {
			t.Errorf("after forgetting the connection has a secret: %t (%v), want it to say that it has none", kept.HasSecret, err)
		}
		if list, err := other.Connections(t.Context()); err != nil || len(list) != 1 || list[0].HasSecret {
			t.Errorf("after forgetting the list is %+v (%v), want a connection without a secret", list, err)
		}
		if _, err := first.CheckKey(t.Context(), false); engine.CodeOf(err) != engine.Invalid {
			t.Errorf("the old key after that: %v, want it refused", err)
		}
	})
}

func TestALeaseThatHasRunOutIsNotRenewed(t *testing.T) {
	t.Parallel()
	store := dbtest.Postgres(t)
	self := engine.Replica{ID: engine.NewID(dbtest.Noon), Host: "here", Started: time.Now()}
	must(t, store.Join(t.Context(), self, time.Minute))
	must(t, store.Renew(t.Context(), self.ID, time.Hour))
	all, err := store.Replicas(t.Context())
	must(t, err)
	if len(all) != 1 || all[0].Host != "here" || all[0].Left < 59*time.Minute || all[0].Left > time.Hour {
		t.Errorf("the servers are %+v, want one with a lease of an hour", all)
	}
	must(t, store.Leave(t.Context(), self.ID))

	err = store.Renew(t.Context(), self.ID, time.Hour)

	if engine.CodeOf(err) != engine.Conflict {
		t.Errorf("renewing a lease that has ended: %v, want a conflict", err)
	}
}

// TestAServerThatIsGoneIsListedForTenMinutes, behind those that work.
func TestAServerThatIsGoneIsListedForTenMinutes(t *testing.T) {
	t.Parallel()
	store := dbtest.Postgres(t)
	for i, r := range []struct {
		host string
		left time.Duration
	}{{"long gone", -11 * time.Minute}, {"just gone", -9 * time.Minute}, {"works", time.Minute}, {"works too", time.Hour}} {
		id := engine.NewID(dbtest.Noon.Add(time.Duration(i) * time.Second))
		must(t, store.Join(t.Context(), engine.Replica{ID: id, Host: r.host, Started: time.Now()}, r.left))
	}

	all, err := store.Replicas(t.Context())

	must(t, err)
	var got []string
	for i := range all {
		got = append(got, fmt.Sprintf("%s: %t", all[i].Host, all[i].Alive()))
	}
	if want := []string{"works: true", "works too: true", "just gone: false"}; !slices.Equal(got, want) {
		t.Errorf("the servers, and whether they work: %v, want %v", got, want)
	}
}

// TestServersHearEachOther: of many words of one topic the newest arrives, what
// a server says itself it does not hear, and long ones go in several pieces.
func TestServersHearEachOther(t *testing.T) {
	t.Parallel()
	address := dbtest.PostgresAddress(t)
	first, second := dbtest.Open(t, address), dbtest.Open(t, address)
	ctx, cancel := context.WithCancel(t.Context())
	heard, own := make(chan db.Word, 2000), make(chan db.Word, 2000)
	ready := make(chan struct{}, 2)
	done := make(chan error, 2)
	listen := func(s *db.Store, to chan db.Word) {
		done <- s.Listen(ctx, func(words []db.Word) {
			for _, w := range words {
				to <- w
			}
		}, func() { ready <- struct{}{} })
	}
	go listen(first, own)
	go listen(second, heard)
	<-ready
	<-ready

	for i := range 1000 {
		first.Tell("run:1", db.Word{Topic: "run:1", Seq: int64(i + 1)})
	}
	body := json.RawMessage(`"` + string(bytes.Repeat([]byte("x"), 1500)) + `"`)
	var topics []string
	for i := range 20 {
		topics = append(topics, "changed:"+string(rune('a'+i)))
		first.Tell(topics[i], db.Word{Topic: topics[i], Body: body})
	}
	first.Tell("last", db.Word{Topic: "last"})

	var got []string
	runs := []int64{}
	for w := range heard {
		if w.Topic == "last" {
			break
		}
		if w.Topic == "run:1" {
			runs = append(runs, w.Seq)
			continue
		}
		if string(w.Body) != string(body) {
			t.Errorf("the body of %s arrived as %d bytes", w.Topic, len(w.Body))
		}
		got = append(got, w.Topic)
	}
	if !slices.Equal(got, topics) {
		t.Errorf("heard %v, want %v", got, topics)
	}
	if len(runs) == 0 || len(runs) > 500 || runs[len(runs)-1] != 1000 || !slices.IsSorted(runs) {
		t.Errorf("heard %d words of one topic, want few and the newest last", len(runs))
	}
	cancel()
	must(t, <-done)
	must(t, <-done)
	if len(own) > 0 {
		t.Error("a server heard what it said itself")
	}
}

// TestAServerIsHeardOfWhenItRenewsItsLease, which is not when the lease ends.
func TestAServerIsHeardOfWhenItRenewsItsLease(t *testing.T) {
	t.Parallel()
	address := dbtest.PostgresAddress(t)
	store, id := dbtest.Open(t, address), engine.NewID(dbtest.Noon)
	must(t, store.Join(t.Context(), engine.Replica{ID: id, Host: "one", Started: time.Now()}, time.Hour))
	silent := func() time.Duration {
		all, err := store.Replicas(t.Context())
		must(t, err)
		return all[0].Silent
	}

	joined := silent()
	dbtest.Exec(t, address, `UPDATE replica SET seen = seen - 100000000`)
	later := silent()
	must(t, store.Renew(t.Context(), id, time.Hour))
	renewed := silent()
	dbtest.Exec(t, address, `UPDATE replica SET seen = 0`)
	older := silent()

	if joined < 0 || joined > 50*time.Second || later < 100*time.Second || renewed < 0 || renewed > 50*time.Second || older >= 0 {
		t.Errorf("silent for %v after it joined, %v 100 s later, %v after it renewed its lease, %v where an earlier version wrote it; want 0, 100 s, 0, and less than 0", joined, later, renewed, older)
	}
}
