package dbtest_test

import (
	"context"
	"strings"
	"testing"

	"dogear/db"
	"dogear/db/dbtest"
	"dogear/db/secret"
	"dogear/engine"
)

func TestAFileHasOneServer(t *testing.T) {
	t.Parallel()
	address := t.TempDir() + "/dogear.db"
	first, other := dbtest.Open(t, address), dbtest.Open(t, address)
	release, err := first.Own()
	must(t, err)

	_, err = other.Own()

	if engine.CodeOf(err) != engine.Conflict || !strings.Contains(err.Error(), "Another Dogear server works on") {
		t.Errorf("a second server: %v, want it refused", err)
	}
	release()
	again, err := other.Own()
	must(t, err)
	again()
}

func TestANewerDatabaseIsLeftAlone(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		store := dbtest.Open(t, address)
		must(t, store.Ping(t.Context()))
		dbtest.Exec(t, address, `INSERT INTO bun_migrations (name, group_id, migrated_at) VALUES ('20991231000001', 99, CURRENT_TIMESTAMP)`)
		key, err := secret.New(make([]byte, 32))
		must(t, err)

		opened, err := db.Open(context.Background(), address, key)

		if opened != nil {
			must(t, opened.Close())
		}
		if engine.CodeOf(err) != engine.Invalid || !strings.Contains(err.Error(), "newer Dogear (it knows the step 20991231000001)") {
			t.Errorf("opening it: %v, want it refused and the step named", err)
		}
	})
}
