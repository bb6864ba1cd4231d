package source

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/bucket"
	"dogear/engine/place"
)

func TestAnObjectOfANotificationHasTheKeyThatAListingGivesIt(t *testing.T) {
	t.Parallel()
	s := New(place.Roots{}, bucket.New(nil))
	src := engine.Source{Path: "s3://shop/sales/*.csv"}
	tests := map[string]struct {
		bucket, key string
		size        int64
		want        string // "" where it is not of the source
	}{
		"of the source":         {"shop", "sales/a.csv", 1, "a.csv"},
		"of another bucket":     {"store", "sales/a.csv", 1, ""},
		"of another prefix":     {"shop", "sales2/a.csv", 1, ""},
		"that does not match":   {"shop", "sales/a.txt", 1, ""},
		"of a folder below":     {"shop", "sales/2026/a.csv", 1, ""},
		"that is empty":         {"shop", "sales/a.csv", 0, ""},
		"that is being written": {"shop", "sales/.dogear/a.csv", 1, ""},
		"that marks the folder": {"shop", "sales/", 1, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			key, ok, err := s.Key(src, tt.bucket, engine.Object{Key: tt.key, Size: tt.size})
			must(t, err)

			if ok != (tt.want != "") || ok && key != tt.want {
				t.Errorf("Key = %q, %t, want %q", key, ok, tt.want)
			}
		})
	}
	if _, ok, err := s.Key(engine.Source{Path: "/data/*.csv"}, "shop", engine.Object{Key: "a.csv", Size: 1}); ok || err != nil {
		t.Errorf("a folder takes an object of a bucket: %t, %v", ok, err)
	}
}

func TestAFolderHintsAtWhatChangesInItAndBelow(t *testing.T) {
	t.Parallel()
	dir, s := folder(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hints, err := s.Hints(ctx, engine.Source{Path: dir + "/**/*.csv"})
	must(t, err)
	hinted := func(what string) {
		t.Helper()
		select {
		case <-hints:
		case <-time.After(10 * time.Second):
			t.Errorf("no hint came after %s", what)
		}
	}

	write(t, filepath.Join(dir, "a.csv"), "x")
	hinted("a file")
	must(t, os.Mkdir(filepath.Join(dir, "2026"), 0o755))
	hinted("a folder")
	// The new folder is watched a moment after it is made; until then, writing
	// goes on.
	deadline := time.Now().Add(10 * time.Second)
	for n := 0; ; n++ {
		write(t, filepath.Join(dir, "2026", "b.csv"), "x")
		select {
		case <-hints:
			return
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("no hint came after a file in a new folder")
		}
	}
}

func TestABucketHintsAtNothingAndAFolderOutsideIsRefused(t *testing.T) {
	t.Parallel()
	_, s := folder(t)

	bucketHints, err := s.Hints(t.Context(), engine.Source{Path: "s3://shop/"})
	_, outside := s.Hints(t.Context(), engine.Source{Path: t.TempDir()})

	if bucketHints != nil || err != nil {
		t.Errorf("hints of a bucket = %v, %v, want none", bucketHints, err)
	}
	if engine.CodeOf(outside) != engine.Forbidden {
		t.Errorf("hints of a folder that is not allowed = %v, want %s", outside, engine.Forbidden)
	}
}
