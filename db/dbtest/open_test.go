package dbtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dogear/db"
	"dogear/db/secret"
	"dogear/engine"
)

func TestADatabaseThatCannotBeOneIsRefused(t *testing.T) {
	t.Parallel()
	key, err := secret.New(make([]byte, 32))
	must(t, err)
	file := filepath.Join(t.TempDir(), "dogear.db")
	must(t, os.WriteFile(file, []byte(strings.Repeat("not a database ", 1000)), 0o600))
	for address, want := range map[string]string{
		"mysql://me@here/x": "There is no database mysql://",
		file:                "Restore it from a backup",
	} {
		_, err := db.Open(t.Context(), address, key)

		if engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), want) {
			t.Errorf("%s: got %v, want a refusal that says %q", address, err, want)
		}
	}
}
