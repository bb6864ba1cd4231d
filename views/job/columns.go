package job

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"dogear/engine"
	"dogear/views/show"
)

// types are the examples that are offered; any type of DuckDB is taken.
const types = "VARCHAR, BIGINT, INTEGER, DOUBLE, DECIMAL(18,2), BOOLEAN, DATE, TIMESTAMP"

// known are the words with which types begin: https://duckdb.org/docs/stable/sql/data_types/overview.
var known = strings.Fields(`BIGINT INT8 LONG BIT BITSTRING BLOB BYTEA BINARY VARBINARY BOOLEAN BOOL LOGICAL DATE DECIMAL NUMERIC DEC DOUBLE FLOAT8
	FLOAT FLOAT4 REAL HUGEINT INTEGER INT INT4 SIGNED INTERVAL JSON SMALLINT INT2 SHORT TIME TIMETZ TIMESTAMP DATETIME TIMESTAMPTZ
	TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_US TIMESTAMP_NS TINYINT INT1 UBIGINT UHUGEINT UINTEGER USMALLINT UTINYINT UUID GUID
	VARCHAR CHAR BPCHAR NVARCHAR TEXT STRING STRUCT MAP LIST ENUM UNION`)

// typeAlone is a type with nothing behind it. What stands within its brackets DuckDB reads.
var typeAlone = regexp.MustCompile(`(?i)^\w+( precision| varying)?\s*(\(.*\))?( with(out)? time zone)?( array)?(\s*\[\d*\])*$`)

// base is the word with which a type begins.
func base(kind string) string {
	end := strings.IndexFunc(kind, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end >= 0 {
		kind = kind[:end]
	}
	return strings.ToUpper(kind)
}

// meant asks for the type that is written nearly like word; "" where there is none.
func meant(word string) string {
	if near := engine.Near(word, known); len(near) > 0 {
		return " Did you mean " + near[0] + "?"
	}
	return ""
}

// columnsWord says whether the columns of a source are fixed.
func columnsWord(s engine.Source) string {
	if n := len(s.Schema); n > 0 {
		return show.Many(int64(n), "column") + ", fixed in this version"
	}
	return "Columns and their types, where they are not to be found out from the files"
}

// ColumnsText writes columns one a line, each with its type.
func ColumnsText(columns []engine.Column) string {
	lines := make([]string, len(columns))
	for i, c := range columns {
		name := c.Name
		if name == "" || strings.Contains(name, `"`) || name[0] == '`' || strings.ContainsFunc(name, unicode.IsSpace) {
			name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
		lines[i] = name + " " + c.Type
	}
	return strings.Join(lines, "\n")
}

// ReadColumns reads what ColumnsText writes. Where a line is wrong it says which, what is
// wrong with it and how one looks that is right.
func ReadColumns(text string) ([]engine.Column, error) {
	var columns []engine.Column
	at := map[string]int{} // the line of a name
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line = strings.TrimSuffix(strings.TrimSpace(line), ",")
		if line == "" {
			continue
		}
		wrong := func(format string, args ...any) error {
			return engine.Errorf(engine.Invalid, "The columns at line %d: %s", i+1, fmt.Sprintf(format, args...))
		}
		name, kind, whole := nameAndType(line)
		here, hive := ofHive(kind)
		switch {
		case !whole:
			return nil, wrong(`the quote of the name is not closed. Write it as "unit price" DOUBLE.`)
		case name == "":
			return nil, wrong("a column needs a name. Write the name, then the type, such as amount DECIMAL(18,2).")
		case kind == "":
			return nil, wrong("%s has no type. Write the name, then the type, such as %s VARCHAR.", name, name)
		case hive && strings.Contains(kind, "<"):
			return nil, wrong("the type %s is written %s here.", kind, here)
		case !slices.Contains(known, base(kind)) || strings.Contains(kind, ";"):
			return nil, wrong("there is no type %s.%s Types are such as %s.", kind, meant(base(kind)), types)
		case !typeAlone.MatchString(kind):
			return nil, wrong("%s is more than a type, or not all of one. Write the name and the type, such as amount DECIMAL(18,2), without NOT NULL or a comment.", kind)
		}
		if first, ok := at[strings.ToLower(name)]; ok {
			return nil, wrong("%s is a column of line %d already. Leave one of the two out.", name, first)
		}
		at[strings.ToLower(name)] = i + 1
		columns = append(columns, engine.Column{Name: name, Type: kind})
	}
	return slices.Clip(columns), nil
}

// nameAndType takes a line apart; whole is false where the quote of the name has no end.
// Ticks are the quotes of AWS Glue and Hive.
func nameAndType(line string) (name, kind string, whole bool) {
	if rest, ticked := strings.CutPrefix(line, "`"); ticked {
		name, kind, whole = strings.Cut(rest, "`")
		return name, strings.TrimSpace(kind), whole
	}
	if !strings.HasPrefix(line, `"`) {
		name, kind = line, ""
		if end := strings.IndexAny(line, " \t"); end >= 0 {
			name, kind = line[:end], strings.TrimSpace(line[end:])
		}
		return name, kind, true
	}
	rest := line[1:]
	for i := 0; i < len(rest); i++ {
		if rest[i] != '"' {
			continue
		}
		if i+1 < len(rest) && rest[i+1] == '"' {
			i++ // a quote within the name
			continue
		}
		return strings.ReplaceAll(rest[:i], `""`, `"`), strings.TrimSpace(rest[i+1:]), true
	}
	return "", "", false
}
