package dbtest

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// createDatabase makes a database on server and drops it after the test.
func createDatabase(t *testing.T, server, name string) string {
	t.Helper()
	name = strings.ToLower(name)
	do := func(statement string) {
		t.Helper()
		conn, err := pgx.Connect(context.Background(), server)
		must(t, err)
		_, err = conn.Exec(context.Background(), statement)
		must(t, err)
		must(t, conn.Close(context.Background()))
	}
	do("CREATE DATABASE " + name)
	t.Cleanup(func() { do("DROP DATABASE " + name + " WITH (FORCE)") })
	address, err := url.Parse(server)
	must(t, err)
	address.Path = "/" + name
	return address.String()
}
