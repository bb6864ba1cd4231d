// Package dogear holds the rules of the house as a test: who may import whom
// (ARCHITECTURE.md), and what every package must have.
package dogear

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pkg is what `go list` says of a package.
type pkg struct {
	ImportPath string
	Doc        string
	Imports    []string
	Dir        string
	GoFiles    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Doc,Imports,Dir,GoFiles", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// The rooms. A package belongs to the room with the longest matching path.
var rooms = map[string]string{
	"dogear":                        "hall",
	"dogear/cmd":                    "hall",
	"dogear/e2e":                    "hall",
	"dogear/engine":                 "words",
	"dogear/engine/failpoint":       "words", // any room may mark a moment
	"dogear/engine/heap":            "words", // for main programs
	"dogear/engine/graph":           "pure",
	"dogear/engine/flow":            "pure",
	"dogear/engine/draft":           "pure",
	"dogear/engine/bookmark":        "pure",
	"dogear/engine/portable":        "pure",
	"dogear/engine/schedule":        "pure",
	"dogear/engine/catalog":         "pure",
	"dogear/engine/auth":            "pure",
	"dogear/engine/arrival":         "pure",
	"dogear/engine/schedule/alarm":  "service",
	"dogear/engine/arrival/gate":    "service",
	"dogear/engine/arrival/lookout": "service",
	"dogear/engine/exec":            "service",
	"dogear/engine/crawl":           "service",
	"dogear/engine/event":           "service",
	"dogear/engine/runner":          "port",
	"dogear/engine/place":           "edge base",
	"dogear/engine/bucket":          "edge base",
	"dogear/engine/table":           "edge base",
	"dogear/engine/queue":           "edge",
	"dogear/engine/source":          "edge",
	"dogear/engine/sink":            "edge",
	"dogear/engine/duck":            "edge",
	"dogear/engine/runner/python":   "on top",
	"dogear/engine/runner/sql":      "on top",
	"dogear/engine/query":           "on top",
	"dogear/engine/runner/shim":     "on top",
	"dogear/engine/syntax":          "on top",
	"dogear/db":                     "db",
	"dogear/views":                  "views",
	"dogear/static":                 "static",
	"dogear/handlers":               "handlers",
	"dogear/cmd/server/app":         "hall",
}

// arrows says which rooms a room may import. There are no others.
var arrows = map[string][]string{
	"words":     {},
	"pure":      {"words", "pure"},
	"port":      {"words"},
	"service":   {"words", "pure", "port", "service"},
	"edge base": {"words", "edge base"},
	"edge":      {"words", "pure", "edge base"},
	"on top":    {"words", "pure", "port", "edge", "edge base", "on top"},
	"db":        {"words", "pure", "db"},
	"static":    {},
	"views":     {"words", "pure", "views"},
	"handlers":  {"words", "pure", "service", "port", "views", "static", "handlers"},
	"hall":      {"words", "pure", "port", "service", "edge", "edge base", "on top", "db", "static", "views", "handlers", "hall"},
}

func room(path string) string {
	for at := path; at != "." && at != "/"; at = filepath.Dir(at) {
		if r, ok := rooms[at]; ok {
			return r
		}
	}
	return ""
}

func TestImportsFollowTheHouse(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		from := room(p.ImportPath)
		if from == "" {
			t.Errorf("%s is in no room; give it one", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			if !strings.HasPrefix(imported, "dogear") {
				continue
			}
			if to := room(imported); !slices.Contains(arrows[from], to) {
				t.Errorf("%s (%s) imports %s (%s)", p.ImportPath, from, imported, to)
			}
		}
	}
}

// outside says which rooms may import a package of the world.
var outside = []struct {
	prefix string
	rooms  []string
	only   []string // of these packages, where the room alone is not enough
}{
	{"github.com/labstack/echo", nil, []string{"dogear/handlers/web"}},
	{"github.com/duckdb/", []string{"edge"}, []string{"dogear/engine/duck", "dogear/e2e/bench"}},
	{"github.com/uptrace/bun", []string{"db"}, nil},
	{"database/sql", []string{"db", "edge", "edge base", "hall"}, nil},
	{"github.com/mattn/go-sqlite3", nil, []string{"dogear/db", "dogear/db/dbtest", "dogear/engine/table", "dogear/e2e/bench"}},
	{"github.com/jackc/pgx", nil, []string{"dogear/db", "dogear/db/dbtest", "dogear/engine/table", "dogear/e2e/bench"}},
	{"github.com/go-sql-driver/mysql", nil, []string{"dogear/engine/table"}},
	{"github.com/microsoft/go-mssqldb", nil, []string{"dogear/engine/table"}},
	{"github.com/aws/", []string{"edge", "edge base", "hall"}, nil},
	{"github.com/a-h/templ", []string{"views", "handlers"}, nil},
	{"github.com/gorilla/websocket", nil, []string{"dogear/handlers/live", "dogear/e2e/bench"}},
	{"github.com/go-co-op/gocron", nil, []string{"dogear/cmd/server/app"}},
	{"github.com/fsnotify/fsnotify", nil, []string{"dogear/engine/source"}},
	{"net/http", []string{"handlers", "edge", "edge base", "hall", "static"}, nil},
	{"os/exec", []string{"edge", "on top", "hall"}, nil},
}

func TestOutsideStaysAtTheEdges(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			for _, rule := range outside {
				if imported != rule.prefix && !strings.HasPrefix(imported, strings.TrimSuffix(rule.prefix, "/")+"/") {
					continue
				}
				inRoom := slices.Contains(rule.rooms, room(p.ImportPath))
				named := slices.Contains(rule.only, p.ImportPath)
				if len(rule.only) > 0 && !named || len(rule.only) == 0 && !inRoom {
					t.Errorf("%s (%s) imports %s", p.ImportPath, room(p.ImportPath), imported)
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if len(p.GoFiles) > 0 && !strings.HasPrefix(p.Doc, "Package ") && !strings.HasPrefix(p.Doc, "Command ") {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// TestG6NoSQLRunsOverArrow: a view of DuckDB over an Arrow stream answers wrong
// where a query projects or filters it, and can crash on nested columns
// (duckdb-go#24, #28). Rows of tables are landed as Parquet files instead, so
// no view of that kind may ever be registered.
func TestG6NoSQLRunsOverArrow(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			looked++
			if bytes.Contains(text, []byte("NewArrowFromConn")) || bytes.Contains(text, []byte("RegisterView")) || bytes.Contains(text, []byte("//go:build duckdb_arrow")) {
				t.Errorf("%s/%s hands Arrow to DuckDB", p.ImportPath, name)
			}
		}
	}
	if looked < 300 {
		t.Errorf("only %d files were looked at", looked)
	}
}
