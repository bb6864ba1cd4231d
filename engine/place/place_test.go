package place

import (
	"os"
	"path/filepath"
	"testing"

	"dogear/engine"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestGlobMatchesWholeKeys(t *testing.T) {
	t.Parallel()
	tests := []struct {
		glob, key string
		want      bool
	}{
		{"", "any/thing", true},
		{"*.csv", "a.csv", true},
		{"*.csv", "d/a.csv", false},
		{"**/*.csv", "a.csv", true},
		{"**/*.csv", "d/e/a.csv", true},
		{"**", "d/e/a.csv", true},
		{"*/[a-c]?.{csv,json}", "x/b1.json", true},
		{"*/[a-c]?.{csv,json}", "x/d1.json", false},
		{"[!x]*", "y", true},
		{"[!x]*", "x", false},
		{"a+b(1).csv", "a+b(1).csv", true},
		{"grün*.csv", "grün-1.csv", true},
		{"[]]x", "]x", true},
	}
	for _, test := range tests {
		g, err := ParseGlob(test.glob)
		must(t, err)

		got := g.Match(test.key)

		if got != test.want {
			t.Errorf("%q matches %q: got %v, want %v", test.glob, test.key, got, test.want)
		}
	}
}

func TestUnclosedGlobsAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a[b", "{a,b", "[z-a]"} {
		_, err := ParseGlob(text)

		if engine.CodeOf(err) != engine.Invalid {
			t.Errorf("%q: got %v, want a refusal", text, err)
		}
	}
}

func TestParseSplitsBeforeTheFirstGlobCharacter(t *testing.T) {
	t.Parallel()
	roots := Roots{Base: "/data"}
	tests := []struct{ path, address, glob string }{
		{"/raw/sales/*.csv", "/raw/sales", "*.csv"},
		{"/raw/sales/", "/raw/sales", ""},
		{"raw/2026-*/x.csv", "/data/raw", "2026-*/x.csv"},
		{"*.csv", "/data", "*.csv"},
		{"/raw/../etc", "/etc", ""},
		{"s3://b/p/q/**/*.json", "s3://b/p/q/", "**/*.json"},
		{"s3://b", "s3://b/", ""},
	}
	for _, test := range tests {
		at, err := roots.Parse(test.path)
		must(t, err)

		if at.Address() != test.address || at.Glob.String() != test.glob {
			t.Errorf("%s: got %s and %q, want %s and %q", test.path, at.Address(), at.Glob, test.address, test.glob)
		}
	}
}

func TestCheckRefusesWhatLeavesTheRoots(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	allowed, secret := filepath.Join(dir, "allowed"), filepath.Join(dir, "secret")
	must(t, os.MkdirAll(allowed, 0o755))
	must(t, os.MkdirAll(secret, 0o755))
	must(t, os.Symlink(secret, filepath.Join(allowed, "way-out")))
	roots := Roots{Allowed: []string{allowed}}
	tests := []struct {
		path string
		want engine.Code
	}{
		{allowed, ""},
		{filepath.Join(allowed, "none"), engine.NotFound},
		{filepath.Join(allowed, "way-out"), engine.Forbidden},
		{secret, engine.Forbidden},
		{allowed + "-beside", engine.Forbidden},
		{filepath.Join(allowed, "..", "secret"), engine.Forbidden},
		{"/no/such/folder", engine.Forbidden},
	}
	for _, test := range tests {
		_, err := roots.Check(test.path)

		if got := engine.CodeOf(err); got != test.want {
			t.Errorf("%s: got %q (%v), want %q", test.path, got, err, test.want)
		}
	}
	if _, err := roots.MayExist(filepath.Join(allowed, "way-out", "new")); engine.CodeOf(err) != engine.Forbidden {
		t.Errorf("a new folder behind a link out: got %v, want a refusal", err)
	}
	if _, err := (Roots{}).Check(allowed); engine.CodeOf(err) != engine.Forbidden {
		t.Errorf("no roots: got %v, want a refusal", err)
	}
}

func TestValuesDecodePartitions(t *testing.T) {
	t.Parallel()

	names, values := Values("year=2026/name=a%2Fb%3Dc/none=__HIVE_DEFAULT_PARTITION__/empty=/x=y.csv")

	if len(names) != 4 || *values[0] != "2026" || *values[1] != "a/b=c" || values[2] != nil || *values[3] != "" {
		t.Errorf("got %v %v, want year=2026, name=a/b=c, none=NULL and an empty text", names, values)
	}
}
