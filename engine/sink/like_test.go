package sink

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dogear/engine"
)

// TestTheEndOfTheNewestFileOfABucketIsEnough: whatever the length of its footer, a
// reader finds that where it stands in the whole file.
func TestTheEndOfTheNewestFileOfABucketIsEnough(t *testing.T) {
	t.Parallel()
	for name, footer := range map[string]int{"short": 100, "as long as is asked for": footerGuess - footerTail, "long": 3 * footerGuess} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := bucketTarget(t)
			b.Sink.Mode = engine.Append
			whole := "PAR1" + strings.Repeat("rows", 50_000) + strings.Repeat("f", footer)
			whole = string(binary.LittleEndian.AppendUint32([]byte(whole), uint32(footer))) + "PAR1"
			b.put("part-000001-a-0-0.parquet", "older")
			b.put("part-000002-a-0-0.parquet", whole)
			b.put("note.txt", "no data")
			s := b.open()

			like, err := s.Like(t.Context(), b.Sink, filepath.Join(b.scratch, "like"))

			must(t, err)
			got, err := os.ReadFile(like.Path)
			must(t, err)
			if end := []byte(whole[len(whole)-footer-footerTail:]); like.Key != "part-000002-a-0-0.parquet" || len(got) != len(whole) || !bytes.HasSuffix(got, end) || !bytes.HasPrefix(got, []byte("PAR1")) {
				t.Errorf("got %s of %d bytes, want part-000002 with %d and its footer", like.Key, len(got), len(whole))
			}
		})
	}
}

func TestAnEmptyFileInABucketTellsNothing(t *testing.T) {
	t.Parallel()
	b := bucketTarget(t)
	b.put("a.parquet", "")
	s := b.open()

	like, err := s.Like(t.Context(), b.Sink, filepath.Join(b.scratch, "like"))

	if err != nil || like.Key != "a.parquet" {
		t.Errorf("got %+v, %v, want a.parquet", like, err)
	}
}

func TestATargetWithoutTypesIsNotLookedAt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		out  engine.Sink
		key  string // that lies there
		want string
	}{
		"appended to":    {key: "a.parquet", want: "a.parquet"},
		"merged":         {out: engine.Sink{Mode: engine.Merge}, key: "a.parquet", want: "a.parquet"},
		"replaced whole": {out: engine.Sink{Mode: engine.Replace}, key: "a.parquet"},
		"CSV":            {out: engine.Sink{Format: engine.CSV}, key: "a.csv"},
		"another's":      {key: "notes/a.parquet"},
		"not there":      {},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := folderTarget(t)
			tt.out.Path = f.Sink.Path
			f.Sink = tt.out
			if tt.key != "" {
				f.put(tt.key, "PAR1")
			}
			s := f.open()

			like, err := s.Like(t.Context(), f.Sink, f.scratch)

			if err != nil || like.Key != tt.want {
				t.Errorf("got %q, %v, want %q", like.Key, err, tt.want)
			}
		})
	}
}
