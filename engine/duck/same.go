package duck

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// DuckDB converts 1.5 to the BIGINT 2, a point in time to its DATE and 1.999 to a
// DECIMAL(9,2) without a word. What this file says is when a value is still the same
// in another type (docs/adr/0053). Types are named as DuckDB names them.

var (
	wholeType   = regexp.MustCompile(`^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$`)
	decimalType = regexp.MustCompile(`^DECIMAL\((\d+),(\d+)\)$`)
	// partType finds within a nested type what a value can lose something in.
	partType = regexp.MustCompile(`\bU?(TINYINT|SMALLINT|INTEGER|BIGINT)\b|\bDECIMAL\((\d+),(\d+)\)|\bDATE\b`)
)

// isWhole reports whether the numbers of a type have no fraction.
func isWhole(kind string) bool {
	m := decimalType.FindStringSubmatch(kind)
	return wholeType.MatchString(kind) || m != nil && m[2] == "0"
}

func isNested(kind string) bool {
	return strings.HasSuffix(kind, "]") || strings.HasPrefix(kind, "STRUCT(") || strings.HasPrefix(kind, "MAP(")
}

// readAs is the type as which a column of text is read that is to have type kind, so
// that nothing is lost before it is looked at.
func readAs(kind string) string {
	switch kind {
	case "DOUBLE", "FLOAT", "BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS":
		return "VARCHAR"
	}
	if wholeType.MatchString(kind) || decimalType.MatchString(kind) {
		return "VARCHAR"
	}
	return wide(kind)
}

// wide is a nested type with room for the parts of a value that kind has none for;
// any other type is its own.
func wide(kind string) string {
	if !isNested(kind) {
		return kind
	}
	return partType.ReplaceAllStringFunc(kind, func(part string) string {
		if part == "DATE" {
			return "TIMESTAMP"
		}
		before := 20 // digits of the largest whole number
		if m := decimalType.FindStringSubmatch(part); m != nil {
			precision, _ := strconv.Atoi(m[1])
			scale, _ := strconv.Atoi(m[2])
			before = precision - scale
		}
		return fmt.Sprintf("DECIMAL(38,%d)", 38-before)
	})
}

// sameIn is the condition under which v, which is SQL of type own and not NULL, is the
// same in type kind, as which it is as, or NULL; "" where every value is. What nearly
// every value passes comes first: of a CASE, DuckDB asks the rest only for the others.
func sameIn(v, own, kind, as string) string {
	switch {
	case own == kind || kind == "VARCHAR":
		return ""
	case isNested(kind):
		return fmt.Sprintf("(%s IS NOT NULL AND TRY_CAST(%s AS %s) IS NOT DISTINCT FROM TRY_CAST(%s AS %s))", as, as, wide(kind), v, wide(kind))
	case own == "VARCHAR":
		return sameAsText(v, as, kind)
	case (kind == "DOUBLE" || kind == "FLOAT") && !isWhole(own):
		return fmt.Sprintf("(isinf(%s) = isinf(CAST(%s AS DOUBLE)))", as, v) // a fraction is rounded to the nearest, as these types do
	}
	return fmt.Sprintf("(TRY_CAST(%s AS %s) IS NOT DISTINCT FROM %s)", as, own, v)
}

// sameAsText is sameIn for a text v.
func sameAsText(v, as, kind string) string {
	switch {
	case kind == "DOUBLE":
		return sameAsFloat(v, as, 1<<53)
	case kind == "FLOAT":
		return sameAsFloat(v, as, 1<<24)
	case wholeType.MatchString(kind):
		return sameAsNumber(v, as, 0)
	case decimalType.MatchString(kind):
		scale, _ := strconv.Atoi(decimalType.FindStringSubmatch(kind)[2])
		return sameAsNumber(v, as, scale)
	case kind == "DATE":
		// DuckDB drops whatever follows a day, as of 2026-1-2 3:04. Only a time at midnight is nothing.
		return fmt.Sprintf("CASE WHEN CAST(%[2]s AS VARCHAR) = %[1]s THEN true WHEN %[2]s IS NULL THEN false WHEN regexp_full_match(%[1]s, %[3]s) THEN true ELSE TRY_CAST(%[1]s AS TIMESTAMP) = %[2]s AND NOT regexp_matches(%[1]s, %[4]s) END",
			v, as, literal(dayAlone), literal(tooFine+"|"+otherZone))
	case kind == "TIME":
		return fmt.Sprintf("(%s IS NOT NULL AND regexp_full_match(%s, %s))", as, v, literal(`\s*\d\d?:\d\d?(:\d\d?(\.\d+)?)?\s*`))
	case kind == "TIMESTAMP":
		// 2026-11-30 20:15:00 has no place for a zone.
		return fmt.Sprintf("CASE WHEN %[2]s IS NULL THEN false WHEN strlen(%[1]s) = 19 AND substr(%[1]s, 14, 1) = ':' AND substr(%[1]s, 17, 1) = ':' THEN true ELSE NOT regexp_matches(%[1]s, %[3]s) END", v, as, literal(otherZone))
	case kind == "TIMESTAMP_S" || kind == "TIMESTAMP_MS":
		return fmt.Sprintf("(TRY_CAST(%s AS TIMESTAMP) = CAST(%s AS TIMESTAMP) AND NOT regexp_matches(%s, %s))", v, as, v, literal(tooFine+"|"+otherZone))
	case kind == "TIMESTAMP_NS":
		return fmt.Sprintf("(%s IS NOT NULL AND NOT regexp_matches(%s, %s))", as, v, literal(`\.\d{9}\d*[1-9]|`+otherZone))
	}
	return fmt.Sprintf("(%s IS NOT NULL)", as)
}

const (
	dayAlone  = `\s*\d+[-/\\ ]\d\d?[-/\\ ]\d\d?( \(BC\))?\s*|\s*-?[a-z]+\s*` // or a word, as infinity
	tooFine   = `\.\d{6}\d*[1-9]`                                            // parts of a microsecond
	otherZone = `:\d.*[+-][0:]*[1-9]`                                        // an offset that is not UTC's
)

// sameAsNumber is sameAsText for a type with scale digits after the point. Up to 15
// digits, before an exponent or without one, two numbers that differ do so as DOUBLE.
func sameAsNumber(v, as string, scale int) string {
	return fmt.Sprintf("CASE WHEN %[2]s::VARCHAR = %[1]s THEN true WHEN length(%[1]s) <= 15 OR strpos(lower(%[1]s), 'e') BETWEEN 1 AND 16 THEN TRY_CAST(%[1]s AS DOUBLE) = CAST(%[2]s AS DOUBLE)"+
		" ELSE %[2]s IS NOT NULL AND NOT contains(lower(%[1]s), 'e') AND (NOT contains(%[1]s, '.') OR length(rtrim(%[1]s, '0 ')) - strpos(%[1]s, '.') <= %[3]d) END", v, as, scale)
}

// sameAsFloat is sameAsText for numbers that are rounded to the nearest, as their
// fractions always are. Not so whole numbers: from most on, which are counted with or
// name things, they have to be met; and no number is infinite.
func sameAsFloat(v, as string, most int) string {
	return fmt.Sprintf("CASE WHEN abs(%[2]s) < %[3]d THEN true WHEN %[2]s IS NULL THEN false WHEN isfinite(%[2]s) THEN contains(%[1]s, '.') OR contains(lower(%[1]s), 'e') OR TRY_CAST(%[2]s AS HUGEINT) = TRY_CAST(%[1]s AS HUGEINT)"+
		" ELSE contains(lower(%[1]s), 'n') END", v, as, most)
}
