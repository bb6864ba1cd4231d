// Package table reads and writes tables of databases: PostgreSQL, MySQL and
// MariaDB, SQLite, SQL Server. It compares keys in the database, by the types
// of the database, and never turns a key into a number of ours.
package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"dogear/engine"
	"dogear/engine/place"
)

// Config is what a connection says of a database, its secret included. It goes
// to a worker by pipe and nowhere else.
type Config struct {
	Kind     engine.ConnectionType `json:"kind"`
	Host     string                `json:"host,omitempty"`
	Port     int                   `json:"port,omitempty"`
	Database string                `json:"database,omitempty"` // of SQLite: the path of the file
	User     string                `json:"user,omitempty"`
	Password string                `json:"password,omitempty"`
	TLS      engine.TLSMode        `json:"tls,omitempty"`
	// CA and ServerName say whose certificate is accepted (ConnectionBody).
	CA         string `json:"ca,omitempty"`
	ServerName string `json:"server_name,omitempty"`
}

// String leaves the password out, so that no log shows it by accident.
func (c Config) String() string {
	if c.Kind == engine.ConnectionSQLite {
		return c.Database
	}
	return c.Database + " on " + c.address()
}

// GoString is String.
func (c Config) GoString() string { return c.String() }

// address is the host with its port.
func (c Config) address() string {
	port := c.Port
	if port == 0 {
		port = usualPorts[c.Kind]
	}
	return net.JoinHostPort(c.Host, strconv.Itoa(port))
}

var usualPorts = map[engine.ConnectionType]int{
	engine.ConnectionPostgres: 5432, engine.ConnectionMySQL: 3306, engine.ConnectionSQLServer: 1433,
}

// Connections looks up what a connection says.
type Connections interface {
	Database(ctx context.Context, id engine.ID) (Config, error)
}

// Databases finds the databases of connections.
type Databases struct {
	roots       place.Roots
	connections Connections
}

// New returns Databases over connections. SQLite files must lie below roots.
func New(roots place.Roots, connections Connections) *Databases {
	return &Databases{roots: roots, connections: connections}
}

// Config returns what is needed to open the database of a connection.
func (d *Databases) Config(ctx context.Context, id engine.ID) (Config, error) {
	if id == "" {
		return Config{}, engine.Errorf(engine.Invalid, "A table needs the connection of its database. Choose one.")
	}
	c, err := d.connections.Database(ctx, id)
	if err != nil {
		return Config{}, err
	}
	if !c.Kind.IsDatabase() {
		return Config{}, engine.Errorf(engine.Invalid, "This connection leads to an object store, which has no tables. Choose the connection of a database.")
	}
	if c.Kind == engine.ConnectionSQLite {
		at, err := d.roots.Parse(c.Database)
		if err != nil {
			return Config{}, err
		}
		if c.Database, err = d.roots.Check(at.Root); err != nil {
			return Config{}, err
		}
	}
	return c, nil
}

// Open opens the database of a connection.
func (d *Databases) Open(ctx context.Context, id engine.ID) (*DB, error) {
	c, err := d.Config(ctx, id)
	if err != nil {
		return nil, err
	}
	return Open(ctx, c)
}

// patience is how long a database has to answer a connection.
const patience = 15 * time.Second

// DB is an open database with its dialect. Close it.
type DB struct {
	*sql.DB
	dialect

	config Config
}

// Open connects to a database. What it says no to comes back as an error that
// people may read.
func Open(ctx context.Context, c Config) (*DB, error) {
	d, err := dialectOf(c.Kind)
	if err != nil {
		return nil, err
	}
	opened, err := d.open(c)
	if err != nil {
		return nil, err
	}
	db := &DB{DB: opened, dialect: d, config: c}
	// One connection: a snapshot and a session lock belong to it.
	db.SetMaxOpenConns(1)
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := db.PingContext(limited); err != nil {
		if errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
			err = fmt.Errorf("no answer within %s", patience)
		}
		return nil, errors.Join(c.explain(err, "cannot be reached"), db.Close())
	}
	return db, nil
}

// shut ends a connection whose work is done or has failed: how it ends changes
// neither.
func (db *DB) shut() { _ = db.Close() }

// explain puts an error of a database into words, and keeps the context's own.
func (c Config) explain(err error, what string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ours := errors.AsType[*engine.Error](err); ours {
		return err
	}
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	if c.Password != "" {
		text = strings.ReplaceAll(text, c.Password, "•••")
	}
	if strings.Contains(text, "disk image is malformed") || strings.Contains(text, "file is not a database") {
		text += "; the file is damaged or not whole: restore it from a backup, or copy it while nobody writes it"
	}
	if advice := c.advice(err); advice != "" {
		text = strings.TrimSuffix(text, ".") + "; " + advice
	}
	// The cause is left out on purpose: it may hold the whole configuration.
	return engine.Errorf(engine.Invalid, "%s %s: %s.", c, what, strings.TrimSuffix(text, "."))
}

// Version asks the database what it is, for the test of a connection.
func (db *DB) Version(ctx context.Context) (string, error) {
	var text string
	if err := db.QueryRowContext(ctx, db.versionQuery()).Scan(&text); err != nil {
		return "", db.config.explain(err, "does not answer")
	}
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > 60 {
		text, _, _ = strings.Cut(text, " on ")
	}
	if db.config.Kind == engine.ConnectionSQLite || db.config.Kind == engine.ConnectionMySQL {
		text = db.name() + " " + text
	}
	return text, nil
}

// Name is a table with its schema. An empty schema is the one that the
// connection begins in.
type Name struct{ Schema, Table string }

// ParseName reads "schema.table" or "table".
func ParseName(text string) Name {
	schema, table, ok := strings.Cut(text, ".")
	if !ok {
		return Name{Table: text}
	}
	return Name{schema, table}
}

func (n Name) String() string {
	if n.Schema == "" {
		return n.Table
	}
	return n.Schema + "." + n.Table
}

// beside is another table in the same schema.
func (n Name) beside(table string) Name { return Name{n.Schema, table} }

// in writes n for SQL.
func (n Name) in(d dialect) string {
	if n.Schema == "" {
		return d.quote(n.Table)
	}
	return d.quote(n.Schema) + "." + d.quote(n.Table)
}
