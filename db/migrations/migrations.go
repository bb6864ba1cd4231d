// Package migrations holds the schema of the store, step by step, for both
// databases side by side. A step is never changed once it has been released.
package migrations

import (
	"embed"
	"fmt"

	"github.com/uptrace/bun/migrate"
)

//go:embed sqlite/*.sql
var sqlite embed.FS

//go:embed postgres/*.sql
var postgres embed.FS

// SQLite returns the steps for SQLite.
func SQLite() (*migrate.Migrations, error) { return discover(sqlite) }

// Postgres returns the steps for PostgreSQL.
func Postgres() (*migrate.Migrations, error) { return discover(postgres) }

func discover(files embed.FS) (*migrate.Migrations, error) {
	steps := migrate.NewMigrations()
	if err := steps.Discover(files); err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	return steps, nil
}
