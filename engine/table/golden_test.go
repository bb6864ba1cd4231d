package table

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"dogear/engine"
)

var update = flag.Bool("update", false, "write testdata/*.sql again")

// The SQL of each dialect stands in testdata. For SQL Server this is all that
// was checked, because no server was at hand; the others also run.
func TestTheSQLOfEveryDialect(t *testing.T) {
	t.Parallel()
	id := Column{Name: "id", Type: "bigint", class: integerClass}
	tests := map[string]struct {
		d  dialect
		at Column // a moment
		n  Column // a number with digits
	}{
		"postgres":  {postgres{}, Column{Name: `at"`, Type: "timestamp(6) with time zone", Nullable: true, class: timeClass, zoned: true}, Column{Name: "n", Type: "numeric(12,3)", class: decimalClass}},
		"mysql":     {mysqlDialect{}, Column{Name: "at`", Type: "datetime(6)", Nullable: true, class: timeClass}, Column{Name: "n", Type: "decimal(12,3)", class: decimalClass}},
		"sqlite":    {sqlite{}, Column{Name: `at"`, Type: "TIMESTAMP", Nullable: true, class: timeClass}, Column{Name: "n", Type: "DECIMAL(12,3)", class: decimalClass}},
		"sqlserver": {sqlserver{}, Column{Name: "at]", Type: "datetimeoffset(7)", Nullable: true, class: timeClass, zoned: true}, Column{Name: "n", Type: "decimal(12,3)", class: decimalClass}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := statementsOf(tt.d, id, tt.at, tt.n)
			file := "testdata/" + name + ".sql"
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
			}
		})
	}
}

// statementsOf writes every kind of statement that a dialect is asked for.
func statementsOf(d dialect, id, at, n Column) string {
	var out strings.Builder
	say := func(what, sql string, args ...any) {
		fmt.Fprintf(&out, "-- %s\n%s\n", what, sql)
		if len(args) > 0 {
			fmt.Fprintf(&out, "-- with %q\n", args)
		}
	}
	all := []Column{id, at, n}
	name := Name{Schema: "shop", Table: "order's"}
	moment := engine.KeyValue{Text: "2026-03-01 10:00:00.5", Type: at.Type}
	number := engine.KeyValue{Text: "7", Type: "integer"}
	where := func(what string, r engine.KeyRange) {
		w := &conditions{d: d}
		if err := w.within(all, []engine.KeyRange{r}); err != nil {
			panic(err)
		}
		say(what, "SELECT 1 FROM "+name.in(d)+w.text(), w.args...)
	}
	two := []string{at.Name, "id"}
	where("from the first row", engine.KeyRange{Keys: []string{"id"}, High: []engine.KeyValue{number}})
	where("a compound key", engine.KeyRange{Keys: two, Low: []engine.KeyValue{moment, number}, High: []engine.KeyValue{moment, number}})
	where("a compound key that falls", engine.KeyRange{Keys: two, Desc: true, Low: []engine.KeyValue{moment, number}, High: []engine.KeyValue{moment, number}})
	where("an overlap", engine.KeyRange{Keys: two, From: []engine.KeyValue{moment}, Low: []engine.KeyValue{moment, number}, High: []engine.KeyValue{moment, number}})
	where("rows without a key", engine.KeyRange{Keys: []string{at.Name}, Nulls: true})
	compared := func(what string, p Picked) {
		query, args, err := p.query(d, name, all, []string{d.quote("id"), d.quote(n.Name)}, &Stream{})
		if err != nil {
			panic(err)
		}
		say(what, query, args...)
	}
	compared("rows to compare", Picked{Keys: []string{at.Name, "id"}})
	stands := at
	stands.Name = "made"
	all = append(all, stands)
	where("a column that stands in", engine.KeyRange{Keys: []string{at.Name}, Instead: "made", Low: []engine.KeyValue{moment}, High: []engine.KeyValue{moment}})
	compared("rows to compare, where a column stands in", Picked{Keys: []string{at.Name}, Instead: "made"})
	for _, c := range []Column{id, at, n} {
		expr, _ := d.bound(c, number, d.param(1))
		say("printed, and less five: "+c.Type, "SELECT "+d.printed(c)+", "+d.typeOf(c)+", "+d.minus(c, expr, 5))
	}
	say("a moment", d.moment(at, time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)))
	say("one row", d.limit("SELECT id FROM t ORDER BY id", 9))
	say("a sample", d.top("SELECT id FROM t", 9))
	for _, mode := range []engine.WriteMode{engine.Append, engine.OverwritePartitions, engine.Merge, engine.Replace} {
		target := Target{Table: "shop.order's", Batch: "b_0", Mode: mode, PartitionBy: []string{at.Name}, Keys: []string{"id"}, LatestBy: at.Name, Columns: []engine.Column{{Name: "id"}, {Name: at.Name}}}
		for _, s := range target.statements(d, &Written{}) {
			say(string(mode), s.sql)
		}
	}
	stage, batches := Target{Table: "shop.order's", Batch: "b_0"}.stage().in(d), Name{"shop", batchTable}.in(d)
	say("stage", d.makeStage(stage, name.in(d), []string{d.quote("id")}))
	say("batches", d.makeBatches(batches))
	say("drop", d.dropTable(stage))
	in := inserter{d: d, columns: make([]engine.Column, 2), head: "INSERT INTO " + stage + " (a, b) VALUES "}
	say("load", in.statement(2))
	for _, duck := range []string{"BOOLEAN", "UTINYINT", "BIGINT", "UBIGINT", "DOUBLE", "DECIMAL(12,3)", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "VARCHAR", "BLOB", "INTEGER[]"} {
		say("made for "+duck, d.typeFor(duck, false)+" / "+d.typeFor(duck, true)+" of "+d.outgoing(engine.Column{Type: duck}, "c"))
	}
	return out.String()
}

func TestSQLServerTypesAreWrittenAsCASTTakesThem(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name                     string
		length, precision, scale int
		want, landed             string
	}{
		"decimal":  {"decimal", 9, 12, 3, "decimal(12,3)", "DECIMAL(12,3)"},
		"nvarchar": {"nvarchar", 40, 0, 0, "nvarchar(20)", "VARCHAR"},
		"max":      {"varchar", -1, 0, 0, "varchar(max)", "VARCHAR"},
		"moment":   {"datetime2", 8, 27, 7, "datetime2(7)", "TIMESTAMP"},
		"offset":   {"datetimeoffset", 10, 34, 7, "datetimeoffset(7)", "TIMESTAMP WITH TIME ZONE"},
		"int":      {"int", 4, 10, 0, "int", "INTEGER"},
		"money":    {"money", 8, 19, 4, "money", "DECIMAL(19,4)"},
		"bit":      {"bit", 1, 1, 0, "bit", "BOOLEAN"},
		"guid":     {"uniqueidentifier", 16, 0, 0, "uniqueidentifier", "VARCHAR"},
		"bytes":    {"varbinary", 16, 0, 0, "varbinary(16)", "BLOB"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := sqlserverType(tt.name, tt.length, tt.precision, tt.scale)
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if landed := (sqlserver{}).landed(Column{Name: "c", Type: got, class: sqlserverClass(tt.name)}).duck; landed != tt.landed {
				t.Errorf("landed as %s, want %s", landed, tt.landed)
			}
		})
	}
}
