package dbtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dogear/db/dbtest"
	"dogear/engine"
)

// TestAFullDiskIsSaidOfWhateverIsMade, nothing of it is there, and it is made once
// there is room.
func TestAFullDiskIsSaidOfWhateverIsMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("this user may not mount a disk: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	store := dbtest.Open(t, filepath.Join(dir, "dogear.db"))
	makes := map[string]func(name string) error{
		"pool": func(name string) error { return store.PutPool(t.Context(), name, 2, "owner", dbtest.Noon) },
		"job": func(name string) error {
			_, err := store.CreateJob(t.Context(), name, engine.JobBody{Kind: engine.JobSQL, Description: strings.Repeat("x", 2000)}, "owner", dbtest.Noon)
			return err
		},
		"workflow": func(name string) error {
			_, err := store.CreateWorkflow(t.Context(), name, engine.WorkflowBody{Description: strings.Repeat("x", 2000)}, "owner", dbtest.Noon)
			return err
		},
	}
	filler, block := filepath.Join(dir, "filler"), make([]byte, 4096)
	file, err := os.Create(filler)
	must(t, err)
	for err == nil {
		_, err = file.Write(block)
	}
	must(t, file.Close())

	for what, make := range makes {
		var err error
		for n := 0; err == nil && n < 5000; n++ { // as long as pages that are there already have room
			err = make(what + strings.Repeat("y", n%200) + string(engine.NewID(dbtest.Noon)))
		}
		if engine.CodeOf(err) != engine.Away || !strings.Contains(engine.MessageOf(err), "The disk of the database is full. Free some space there and try again; nothing was changed.") {
			t.Errorf("a new %s on a full disk: %v, want that the disk is full", what, err)
		}
	}
	must(t, os.Remove(filler))
	for what, make := range makes {
		if err := make("last " + what); err != nil {
			t.Errorf("a new %s once there is room: %v", what, err)
		}
	}
}
