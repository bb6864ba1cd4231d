package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dogear/engine"
)

func TestFlagsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	tests := map[string]struct {
		change func(*Options)
		want   string // "" is right
	}{
		"the defaults":           {func(*Options) {}, ""},
		"no slot":                {func(o *Options) { o.Slots = 0 }, "--slots is 0"},
		"fewer than none":        {func(o *Options) { o.Slots = -1 }, "--slots is -1"},
		"a folder":               {func(o *Options) { o.Root = []string{dir} }, ""},
		"no folder":              {func(o *Options) { o.Root = []string{dir, filepath.Join(dir, "none")} }, "does not exist"},
		"a file":                 {func(o *Options) { o.Root = []string{file} }, "is not a folder"},
		"an origin":              {func(o *Options) { o.Origin = "https://dogear.example:8443" }, ""},
		"an origin of no scheme": {func(o *Options) { o.Origin = "dogear.example" }, "is not an address such as"},
		"another scheme":         {func(o *Options) { o.Origin = "ftp://dogear.example" }, "is not an address such as"},
		"no host":                {func(o *Options) { o.Origin = "https://:8080" }, "is not an address such as"},
		"a path behind it":       {func(o *Options) { o.Origin = "https://dogear.example/pipelines" }, "nothing behind it"},
		"a slash behind it":      {func(o *Options) { o.Origin = "https://dogear.example/" }, "nothing behind it"},
	}
	for name, tt := range tests {
		o := Options{Slots: 4}
		tt.change(&o)

		err := o.Check()

		if tt.want == "" && err != nil || tt.want != "" && (engine.CodeOf(err) != engine.Invalid || !strings.Contains(engine.MessageOf(err), tt.want)) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}
