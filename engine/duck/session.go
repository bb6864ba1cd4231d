package duck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"dogear/engine"
)

// openPartitions is how many partitions one write keeps open (guard G5).
// Beyond it a result is sorted by partition before it is written.
const openPartitions = 512

// session is one DuckDB in memory with one connection, sandboxed.
type session struct {
	db     *sql.DB
	c      *sql.Conn
	limits Limits
	events *speaker
	inputs []Input
	reads  []reading
	held   []Held
	views  []view // in the order they were made
	// maxRejects is how many rows may be refused before the work fails.
	maxRejects int64
	refusing   bool     // rows that checks do not pass are left out, and are in misfits
	misfits    []reject // by file and line
}

// grant is the memory of a worker in MB.
func grant(l Limits) int {
	if l.MemoryMB == 0 {
		return engine.DefaultMemoryMB
	}
	return max(l.MemoryMB, engine.MinMemoryMB)
}

// threads is how many threads DuckDB computes with.
func threads(l Limits) int {
	if l.Threads <= 0 {
		return runtime.NumCPU()
	}
	return l.Threads
}

// memoryShare is the part of the grant that DuckDB may plan with: it takes
// more than it says, and this process needs some too (data-path.md 1.4).
const memoryShare = 0.6

// open starts DuckDB with everything set that later may not be set.
func open(ctx context.Context, limits Limits, ordered bool, events *speaker) (*session, error) {
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return nil, fmt.Errorf("open DuckDB: %w", err)
	}
	db := sql.OpenDB(connector)
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open DuckDB: %w", err), db.Close())
	}
	s := &session{db: db, c: c, limits: limits, events: events}
	settings := []string{
		"SET autoinstall_known_extensions = false",
		"SET autoload_known_extensions = false",
		"SET allow_community_extensions = false",
		"SET temp_directory = " + literal(filepath.Join(limits.Scratch, "spill")),
		fmt.Sprintf("SET max_temp_directory_size = '%dMiB'", spill(limits)),
		fmt.Sprintf("SET memory_limit = '%dMB'", int(float64(grant(limits))*memoryShare)),
		fmt.Sprintf("SET threads = %d", threads(limits)),
		fmt.Sprintf("SET preserve_insertion_order = %t", ordered),
		fmt.Sprintf("SET partitioned_write_max_open_files = %d", openPartitions),
		"SET TimeZone = 'UTC'",
		"SET enable_progress_bar = true",
		"SET enable_progress_bar_print = false",
		"SET progress_bar_time = 0",
		"PRAGMA enable_profiling = 'no_output'",
		`SET custom_profiling_settings = '{"OPERATOR_CARDINALITY": "true", "OPERATOR_NAME": "true", "EXTRA_INFO": "true"}'`,
		"SET errors_as_json = true",
	}
	for _, statement := range settings {
		if err := s.exec(ctx, statement); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", statement, err), s.close())
		}
	}
	return s, nil
}

func (s *session) close() error { return errors.Join(s.c.Close(), s.db.Close()) }

// seal takes away everything but reading paths and using dirs, for good.
func (s *session) seal(ctx context.Context, paths, dirs []string) error {
	// DuckDB asks twice: for the path as SQL has it and for the file that it found.
	paths, dirs = withExact(paths), withExact(dirs)
	statements := []string{
		"SET allowed_directories = " + list(dirs),
		// A write of partitions looks at the folder itself as well.
		"SET allowed_paths = " + list(append(paths, dirs...)),
		"SET enable_external_access = false",
		"SET lock_configuration = true",
	}
	for _, statement := range statements {
		if err := s.exec(ctx, statement); err != nil {
			return fmt.Errorf("seal DuckDB: %w", err)
		}
	}
	return nil
}

func (s *session) exec(ctx context.Context, statement string, args ...any) error {
	_, err := s.c.ExecContext(ctx, statement, args...)
	return err
}

// count runs a query with one number as its result.
func (s *session) count(ctx context.Context, query string) (int64, error) {
	var n int64
	err := s.c.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

// describe returns the columns of a query or view.
func (s *session) describe(ctx context.Context, query string) ([]engine.Column, error) {
	rows, err := s.c.QueryContext(ctx, "SELECT column_name, column_type FROM (DESCRIBE "+query+")")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []engine.Column
	for rows.Next() {
		var c engine.Column
		if err := rows.Scan(&c.Name, &c.Type); err != nil {
			return nil, fmt.Errorf("read a column: %w", err)
		}
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

// setVariable binds a value that SQL reads with getvariable.
func (s *session) setVariable(ctx context.Context, name string, value any) error {
	if err := s.exec(ctx, "SET VARIABLE "+quote(name)+" = ?", value); err != nil {
		return fmt.Errorf("set the variable %s: %w", name, err)
	}
	return nil
}

// watch reports the progress of what is run while the returned function has
// not been called.
func (s *session) watch(ctx context.Context, note string) (stop func()) {
	// The driver gives its connection out only while it runs nothing.
	h, err := handle(s.c)
	if err != nil {
		return func() {} // without a handle there is no progress, and the work goes on
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		follow(ctx, h, func(percent float64) {
			_ = s.events.say(Event{Progress: &Progress{Percent: percent, Note: note}}) // a lost percentage does no harm
		})
	}()
	return func() {
		cancel()
		<-done
	}
}

// quote writes a name for SQL.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// literal writes a text for SQL.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// list writes texts as a list for SQL.
func list(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = literal(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// exactly writes paths as functions of DuckDB want them. They take a path with
// *, ? or [ for a pattern, so that a file named so would stand for others, and
// their rows would come twice. Each such character stands for itself in
// brackets. A path that holds a backslash as well is then found by nothing and
// fails, because DuckDB takes that for a slash.
func exactly(paths ...string) []string {
	exact := make([]string, len(paths))
	for i, path := range paths {
		exact[i] = itself.Replace(path)
	}
	return exact
}

var itself = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

// withExact adds to paths what exactly writes otherwise.
func withExact(paths []string) []string {
	all := slices.Clone(paths)
	for i, exact := range exactly(paths...) {
		if exact != paths[i] {
			all = append(all, exact)
		}
	}
	return all
}

// names writes names for SQL, with commas between them.
func names(columns []string) string {
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = quote(c)
	}
	return strings.Join(quoted, ", ")
}

// find returns the column of that name, without regard to case.
func find(columns []engine.Column, name string) (engine.Column, bool) {
	for _, c := range columns {
		if strings.EqualFold(c.Name, name) {
			return c, true
		}
	}
	return engine.Column{}, false
}

// plural writes a count with its word.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + many
}

// drain reads r to its end, so that damage anywhere in it is found.
func drain(ctx context.Context, r io.Reader) (int64, error) {
	buffer := make([]byte, 256<<10)
	var total int64
	for {
		n, err := r.Read(buffer)
		total += int64(n)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		if ctx.Err() != nil {
			return total, ctx.Err()
		}
	}
}
