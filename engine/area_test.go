package engine_test

import (
	"slices"
	"strings"
	"testing"

	"dogear/engine"
)

// TestFaultsOfOwnInput: a target that meets a source of its own job, or another
// target of it, is refused as far as the texts of the paths tell.
func TestFaultsOfOwnInput(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sources, sinks []string
		want           string // what a message must say; "" is no fault
	}{
		"apart":                            {[]string{"raw/*.csv"}, []string{"out"}, ""},
		"the same folder":                  {[]string{"raw/*.csv"}, []string{"raw"}, "raw is the same place as raw/*.csv, which the source s0"},
		"the same, spelled otherwise":      {[]string{"raw"}, []string{"./x/..//raw/"}, "is the same place as raw"},
		"the folder above":                 {[]string{"w/raw/*.csv"}, []string{"w"}, "w holds w/raw/*.csv"},
		"everything":                       {[]string{"raw/*.csv"}, []string{"."}, ". holds raw/*.csv"},
		"a folder below":                   {[]string{"raw/**"}, []string{"raw/out"}, "raw/out lies in raw/**"},
		"a folder below a plain folder":    {[]string{"raw"}, []string{"raw/out"}, "raw/out lies in raw"},
		"below, where the glob ends above": {[]string{"*.csv", "in/*.csv"}, []string{"out", "in/done"}, ""},
		"below, where the glob goes by":    {[]string{"in/day=*/*.csv"}, []string{"in/out"}, ""},
		"below, within the glob":           {[]string{"in/*/*.csv"}, []string{"in/out"}, "in/out lies in in/*/*.csv"},
		"a name that begins alike":         {[]string{"raw/*.csv"}, []string{"raw2"}, ""},
		"the second source":                {[]string{"a", "b"}, []string{"b"}, "the source s1"},
		"the same prefix":                  {[]string{"s3://lake/raw/*"}, []string{"s3://lake/raw/"}, "is the same place"},
		"a prefix above":                   {[]string{"s3://lake/raw/*"}, []string{"s3://lake"}, "s3://lake holds"},
		"another bucket":                   {[]string{"s3://lake/raw"}, []string{"s3://pond/raw"}, ""},
		"a bucket and a folder":            {[]string{"s3://lake/raw"}, []string{"."}, ""},
		"two targets in one folder":        {[]string{"raw"}, []string{"out", "out/"}, "out/ is the same place as out, which another sink"},
		"a target in another":              {[]string{"raw"}, []string{"out", "out/sub"}, "out/sub lies in out"},
		"a target around another":          {[]string{"raw"}, []string{"out/sub", "out"}, "out holds out/sub"},
		"two targets":                      {[]string{"raw"}, []string{"out/a", "out/b"}, ""},
		"two sinks of one table":           {[]string{"raw"}, []string{"table:orders", "table:orders"}, "table orders is the same place as table orders"},
		"two tables":                       {[]string{"raw"}, []string{"table:orders", "table:orders2"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := engine.SQLJob{}
			for i, path := range tt.sources {
				job.Sources = append(job.Sources, engine.Source{Name: "s" + string(rune('0'+i)), Path: path})
			}
			for _, path := range tt.sinks {
				sink := engine.Sink{From: "s0", Path: path, Mode: engine.Replace}
				if table, ok := strings.CutPrefix(path, "table:"); ok {
					sink.Path, sink.Table, sink.Connection = "", table, "c"
				}
				job.Sinks = append(job.Sinks, sink)
			}
			body := engine.JobBody{Kind: engine.JobSQL, Bookmark: engine.BookmarkOn, SQL: &job}

			faults := body.Faults()

			said := slices.ContainsFunc(faults, func(f engine.Fault) bool { return strings.Contains(f.Message, tt.want) })
			if tt.want == "" && len(faults) > 0 || tt.want != "" && !said {
				t.Errorf("got faults %v, want %q", faults, tt.want)
			}
		})
	}
}
