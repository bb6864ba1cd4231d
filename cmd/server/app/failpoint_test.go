package app

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sources is where the source begins.
const sources = "../../.."

// pointsIn finds every mark of package failpoint in the source, so that a new
// one is tried without anybody listing it.
func pointsIn(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	files := token.NewFileSet()
	must(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && path != root) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		tree, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			what, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || what.Sel.Name != "Hit" || fmt.Sprint(what.X) != "failpoint" {
				return true
			}
			name, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				t.Errorf("%s: a mark has no name that can be read", files.Position(call.Pos()))
				return true
			}
			text, err := strconv.Unquote(name.Value)
			must(t, err)
			names = append(names, text)
			return true
		})
		return nil
	}))
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			t.Errorf("the mark %s stands at two places", names[i])
		}
	}
	return slices.Compact(names)
}

// TestServerKilledAtEveryMark builds the product with the tag failpoints, and
// for every mark in the source lets a server end itself there, starts another,
// and wants each story to end as if nothing had happened: nothing lost, nothing
// doubled, the watchdog quiet. DOGEAR_FAILPOINT_HITS=3 tries the first three
// times that each mark comes in each story, as make soak does.
func TestServerKilledAtEveryMark(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a minute")
	}
	names := pointsIn(t, sources)
	binary := filepath.Join(t.TempDir(), "dogear")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-tags", "failpoints", "-o", binary, "dogear/cmd/server").CombinedOutput(); err != nil {
		t.Fatalf("the server cannot be built: %v\n%s", err, out)
	}
	all := stories()
	came := make([]map[string]int, len(all))
	t.Run("undisturbed", func(t *testing.T) {
		for i, s := range all {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				came[i] = (&trial{t: t, story: s, binary: binary}).undisturbed()
			})
		}
	})
	hits, err := strconv.Atoi(os.Getenv("DOGEAR_FAILPOINT_HITS"))
	long := err == nil
	for _, name := range names {
		tried := false
		for i, s := range all {
			if came[i][name] == 0 || tried && !long {
				continue
			}
			tried = true
			for hit := 1; hit <= min(max(hits, 1), came[i][name]); hit++ {
				t.Run(fmt.Sprintf("%s %d in %s", name, hit, s.name), func(t *testing.T) {
					t.Parallel()
					(&trial{t: t, story: s, binary: binary}).killed(name, hit)
				})
			}
		}
		if !tried && !t.Failed() {
			t.Errorf("%s never comes; no story leads there", name)
		}
	}
}

// trial is a story that is tried once, in a data folder of its own.
type trial struct {
	t      *testing.T
	story  story
	binary string
	data   string
	told   telling
}

func (y *trial) begin() {
	y.data = filepath.Join(y.t.TempDir(), "data")
	must(y.t, os.MkdirAll(filepath.Join(y.data, "files"), 0o700))
	y.told = y.story.begin(y.t, y.data, y.binary)
	if y.story.first != "" {
		if p := y.serve(y.story.first, ""); !p.killed {
			y.t.Fatalf("the first server did not come to %s", y.story.first)
		}
	}
}

// undisturbed tells how often each mark comes where no server is killed.
func (y *trial) undisturbed() map[string]int {
	y.begin()
	seen := filepath.Join(y.t.TempDir(), "seen")
	if p := y.serve("", seen); p.killed {
		y.t.Fatal("the server was killed by somebody else")
	}
	y.told.check(y.t)
	text, err := os.ReadFile(seen)
	must(y.t, err)
	came := map[string]int{}
	for line := range strings.Lines(string(text)) {
		came[strings.TrimSpace(line)]++
	}
	return came
}

// killed tries the story with a server that ends at a mark.
func (y *trial) killed(name string, hit int) {
	y.begin()
	// What comes beside the story itself, such as a second look of something,
	// may come once less often than it did; the first time always comes.
	if p := y.serve(fmt.Sprintf("%s %d", name, hit), ""); !p.killed && hit == 1 {
		y.t.Fatalf("the server did not come to %s", name)
	} else if p.killed {
		if p := y.serve("", ""); p.killed {
			y.t.Fatal("the second server was killed by somebody else")
		}
	}
	y.told.check(y.t)
}

// serve runs a server until its story is over and it was told to stop, or until
// it is killed.
func (y *trial) serve(kill, seen string) *product {
	y.t.Helper()
	p := startProduct(y.t, y.binary, y.data, kill, seen, y.told.args...)
	ctx, cancel := context.WithTimeout(y.t.Context(), patienceForTest)
	defer cancel()
	p.until(ctx, func() bool { return y.told.act(ctx, p) })
	if ctx.Err() != nil {
		p.quit()
		y.t.Fatalf("the story does not end; the server said:\n%s", p.said)
	}
	if !p.dead() {
		y.quiet(ctx, p)
	}
	p.stop()
	if p.err != nil && !p.killed {
		y.t.Fatalf("the server ended badly: %v\n%s", p.err, p.said)
	}
	if complains(p.said.String()) {
		y.t.Errorf("the server complained:\n%s", p.said)
	}
	return p
}

// complains reports whether a server has met something that should not be.
// That it lost its lease is the machine's doing: the leases of stories are short.
func complains(said string) bool {
	for line := range strings.Lines(said) {
		if strings.Contains(line, "level=ERROR") && !strings.Contains(line, "lost its lease") {
			return true
		}
	}
	return false
}

// quiet looks at everything that must hold.
func (y *trial) quiet(ctx context.Context, p *product) {
	y.t.Helper()
	text, err := p.health(ctx)
	if errors.Is(err, errGone) {
		return // it was killed meanwhile
	}
	must(y.t, err)
	if !strings.Contains(text, "All of it does") {
		y.t.Errorf("the watchdog is not quiet:\n%s", text)
	}
}

// TestMarksAreFoundInTheSource: the search can fail.
func TestMarksAreFoundInTheSource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n\nfunc f() {\n\tfailpoint.Hit(\"b.after\")\n\tdefer failpoint.Hit(\"a.before\")\n\tother.Hit(\"no\")\n}\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "a_test.go"), []byte("package a\n\nfunc g() { failpoint.Hit(\"test\") }\n"), 0o600))

	if got := pointsIn(t, dir); !slices.Equal(got, []string{"a.before", "b.after"}) {
		t.Errorf("got %q, want the two of the product", got)
	}
	if all := pointsIn(t, sources); len(all) < 60 || !slices.Contains(all, "shim.release.after") {
		t.Errorf("the source has %d marks: %q", len(all), all)
	}
}
