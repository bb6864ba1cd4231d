package exec

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"dogear/engine"
)

// kept are logs in memory.
type kept struct {
	mu   sync.Mutex
	text []byte
}

func (k *kept) PutLog(_ context.Context, _ engine.NodeKey, _, offset int64, text []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.text = append(k.text[:offset], text...)
	return nil
}

func (k *kept) LogText(context.Context, engine.NodeKey, int64, int64) ([]byte, int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text, int64(len(k.text)), nil
}

// TestTheRestOfALogIsShippedAtItsEnd, be it the whole log, which was closed
// before the first look at it, or lines written during the last look but one.
func TestTheRestOfALogIsShippedAtItsEnd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		early bool   // the log is closed before it is looked at
		late  string // is written and the log closed, when the first ship is over
	}{
		"closed before the first look": {early: true},
		"closed during a ship":         {late: "second\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log")
			write := func(text string) {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			}
			write("first\n")
			synctest.Test(t, func(t *testing.T) {
				logs := &kept{}
				ctx, end := context.WithCancel(t.Context())
				defer end()
				s := &shipped{logs: logs, path: path, dirt: make(chan struct{}, 1)}
				s.touch()
				if tt.early {
					end()
				}
				s.run(ctx, func() {
					if tt.late != "" {
						write("first\n" + tt.late)
						end()
					}
				})

				if got, want := string(logs.text), "first\n"+tt.late; got != want {
					t.Errorf("the database has %q, want %q", got, want)
				}
			})
		})
	}
}
