package sink

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dogear/engine"
	"dogear/engine/bucket"
	"dogear/engine/place"
	"dogear/engine/table"
)

// databases are connections by name; each S3 connection has its own address.
type databases map[engine.ID]table.Config

func (d databases) Database(_ context.Context, id engine.ID) (table.Config, error) { return d[id], nil }

func (d databases) S3(_ context.Context, id engine.ID) (bucket.Config, error) {
	return bucket.Config{Endpoint: "http://" + strings.TrimRight(string(id), "0123456789") + ":9000/"}, nil
}

// TestATargetIsTheSameHoweverItIsWritten compares sinks by what they really
// write.
func TestATargetIsTheSameHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(root, "out"), 0o755))
	must(t, os.Symlink("out", filepath.Join(root, "link")))
	known := databases{
		"pg":  {Kind: engine.ConnectionPostgres, Host: "db", Database: "shop"},
		"pg2": {Kind: engine.ConnectionPostgres, Host: "db", Port: 5432, Database: "shop", User: "other"},
		"pg3": {Kind: engine.ConnectionPostgres, Host: "db", Database: "other"},
		"my":  {Kind: engine.ConnectionMySQL, Host: "db", Database: "shop"},
	}
	roots := place.Roots{Base: root, Allowed: []string{root}}
	s := New(roots, bucket.New(known))
	s.Tables = table.New(roots, known)
	file := func(path string) engine.Sink { return engine.Sink{Path: path} }
	object := func(connection engine.ID, path string) engine.Sink {
		return engine.Sink{Connection: connection, Path: path}
	}
	rows := func(connection engine.ID, name string) engine.Sink {
		return engine.Sink{Connection: connection, Table: name}
	}
	tests := map[string]struct {
		a, b engine.Sink
		same bool
	}{
		"a relative and a whole path": {file("out"), file(root + "/out/"), true},
		"dots and slashes":            {file("out"), file("./x/..//out"), true},
		"a link":                      {file("out/new"), file("link/new"), true},
		"two folders":                 {file("out"), file("out2"), false},
		"two connections, one store":  {object("minio1", "s3://lake/out"), object("minio2", "s3://lake/out/"), true},
		"two stores":                  {object("minio", "s3://lake/out"), object("ceph", "s3://lake/out"), false},
		"two buckets":                 {object("minio", "s3://lake/out"), object("minio", "s3://pond/out"), false},
		"a table with its schema":     {rows("pg", "orders"), rows("pg2", "public.orders"), true},
		"another case in PostgreSQL":  {rows("pg", "orders"), rows("pg", "Orders"), false},
		"another case in MySQL":       {rows("my", "orders"), rows("my", "Shop.Orders"), true},
		"another schema":              {rows("pg", "orders"), rows("pg", "archive.orders"), false},
		"another database":            {rows("pg", "orders"), rows("pg3", "orders"), false},
		"a folder and a table":        {file("orders"), rows("pg", "orders"), false},
	}
	for name, tt := range tests {
		a, b := s.Target(t.Context(), tt.a), s.Target(t.Context(), tt.b)

		if same := (engine.Area{Root: a}).Meets(engine.Area{Root: b}) == "is the same place as"; same != tt.same {
			t.Errorf("%s: got %q and %q, want the same: %v", name, a, b, tt.same)
		}
	}
}
