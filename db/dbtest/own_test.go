package dbtest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

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

// TestTheLogOfAnOwnedDatabaseDoesNotGrow: until the first checkpoint, for a flush of a
// file that grows takes twice as long. What is in it stays, also where its server is
// killed then.
func TestTheLogOfAnOwnedDatabaseDoesNotGrow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "dogear.db")
	store := dbtest.Open(t, path)
	create := func(name string) {
		t.Helper()
		_, err := store.CreateWorkflow(t.Context(), name, engine.WorkflowBody{}, "owner", dbtest.Noon)
		must(t, err)
	}
	length := func() int64 {
		t.Helper()
		about, err := os.Stat(path + "-wal")
		must(t, err)
		return about.Size()
	}
	create("before")
	_, err := store.Own()
	must(t, err)
	before := length()

	create("after")

	if after := length(); after != before || before < 8_000_000 {
		t.Errorf("its length was %d and is %d, want 8 MB and no change", before, after)
	}
	killed := filepath.Join(t.TempDir(), "dogear.db")
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + end)
		must(t, err)
		must(t, os.WriteFile(killed+end, text, 0o600))
	}
	found, err := dbtest.Open(t, killed).Workflows(t.Context())
	must(t, err)
	if len(found) != 2 {
		t.Errorf("after a crash there are %d workflows, want both", len(found))
	}
}

// TestADatabaseIsOwnedOnADiskWithLittleRoom: its log grows as it is needed.
func TestADatabaseIsOwnedOnADiskWithLittleRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("this user may not mount a disk: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	store := dbtest.Open(t, filepath.Join(dir, "dogear.db"))

	release, err := store.Own()
	must(t, err)
	defer release()

	if _, err := store.CreateWorkflow(t.Context(), "w", engine.WorkflowBody{}, "owner", dbtest.Noon); err != nil {
		t.Errorf("nothing can be written: %v", err)
	}
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
