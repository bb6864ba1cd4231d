package duck

import (
	"fmt"
	"testing"
)

func TestBigFilesAreReadAFewAtATime(t *testing.T) {
	t.Parallel()
	many := func(n int, size int64) []facts {
		files := make([]facts, n)
		for i := range files {
			files[i] = facts{path: fmt.Sprintf("%d-%d", size, i), size: size}
		}
		return files
	}
	tests := map[string]struct {
		files []facts
		want  string // files of each scan
	}{
		"few big files":            {many(4, bigFile), "[4]"},
		"more than two a thread":   {many(8, bigFile), "[4 4]"},
		"a rest":                   {many(9, bigFile), "[4 4 1]"},
		"small files":              {many(5000, 100), "[5000]"},
		"big and small files":      {append(many(6, bigFile), many(100, 100)...), "[100 4 2]"},
		"more than can be planned": {many(maxScans*10, bigFile), fmt.Sprint(fill(maxScans, 10))},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := scans(tt.files, 2)

			seen := map[string]bool{}
			sizes := make([]int, len(got))
			for i, scan := range got {
				sizes[i] = len(scan)
				for _, f := range scan {
					seen[f.path] = true
				}
			}
			if fmt.Sprint(sizes) != tt.want || len(seen) != len(tt.files) {
				t.Errorf("got scans of %v with %d files in all, want %s with %d", sizes, len(seen), tt.want, len(tt.files))
			}
		})
	}
}

func fill(n, value int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = value
	}
	return all
}
