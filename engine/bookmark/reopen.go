package bookmark

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"dogear/engine"
)

// Mapping says from the key of an object which partition of the target its
// rows go to. It is written as a path pattern whose {names} are the target's
// partition columns: "{year}/{month}/*.csv", "sales_{day}.csv".
type Mapping struct {
	names   []string
	pattern *regexp.Regexp
}

var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}|\*\*/|\*\*|\*|\?`)

// ParseMapping reads a pattern.
func ParseMapping(text string) (Mapping, error) {
	m, err := parsePattern(text)
	if err == nil && len(m.names) == 0 {
		err = engine.Errorf(engine.Invalid, "The partition pattern %q names no partition column; write one as {year}.", text)
	}
	return m, err
}

// parsePattern reads a path pattern with or without names. It fits the end of
// a key from the beginning of a folder or file name on.
func parsePattern(text string) (Mapping, error) {
	var m Mapping
	var re strings.Builder
	re.WriteString(`(?:^|/)`)
	at := 0
	for _, found := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		re.WriteString(regexp.QuoteMeta(text[at:found[0]]))
		at = found[1]
		switch token := text[found[0]:found[1]]; {
		case token == "**/": // no folder too
			re.WriteString(`(?:.*/)?`)
		case token == "**":
			re.WriteString(`.*`)
		case token == "*":
			re.WriteString(`[^/]*`)
		case token == "?":
			re.WriteString(`[^/]`)
		default:
			name := text[found[2]:found[3]]
			if slices.Contains(m.names, name) {
				return m, engine.Errorf(engine.Invalid, "The partition pattern %q names %s twice.", text, name)
			}
			m.names = append(m.names, name)
			re.WriteString(`([^/]+?)`)
		}
	}
	re.WriteString(regexp.QuoteMeta(text[at:]) + `$`)
	pattern, err := regexp.Compile(re.String())
	if err != nil {
		return m, engine.Errorf(engine.Invalid, "The pattern %q cannot be read: %w.", text, err)
	}
	m.pattern = pattern
	return m, nil
}

// Names are the partition columns that m gives, in the order of the pattern.
func (m Mapping) Names() []string { return m.names }

// Values returns the partition values of a key, or ok false where the key does
// not fit the pattern.
func (m Mapping) Values(key string) (values map[string]string, ok bool) {
	found := m.pattern.FindStringSubmatch(key)
	if found == nil {
		return nil, false
	}
	values = map[string]string{}
	for i, name := range m.names {
		values[name] = found[i+1]
	}
	return values, true
}

// partition is a comparable form of Values.
func (m Mapping) partition(key string) (string, bool) {
	values, ok := m.Values(key)
	if !ok {
		return "", false
	}
	parts := make([]string, len(m.names))
	for i, name := range m.names {
		parts[i] = name + "=" + values[name]
	}
	return path.Join(parts...), true
}

// reopen takes every known object of each partition that the plan touches, so
// that an overwritten partition is rebuilt whole (Safe writes; late files).
func (m *merge) reopen(ctx context.Context) error {
	mapping, err := ParseMapping(m.src.Options.Partition)
	if err != nil {
		return err
	}
	touched := map[string]bool{}
	taken := map[string]bool{}
	for _, o := range m.part.Taken {
		partition, ok := mapping.partition(o.Key)
		if !ok {
			return engine.Errorf(engine.Invalid,
				"%s does not fit the partition pattern %q of source %s, so it is not known which partition it belongs to.",
				o.Key, m.src.Options.Partition, m.src.Name)
		}
		touched[partition] = true
		taken[o.Key] = true
	}
	if len(touched) == 0 {
		return nil
	}
	in := func(key string) bool {
		partition, ok := mapping.partition(key)
		return ok && touched[partition]
	}
	var lost losses
	ledger := newCursor(ctx, m.planner.Ledger, m.part.LedgerRoot).ahead()
	known := ledger.next()
	for o, err := range m.planner.Lister.List(ctx, m.src) {
		if err != nil {
			return fmt.Errorf("list source %s again: %w", m.src.Name, err)
		}
		for ; known != nil && known.Key < o.Key; known = ledger.next() {
			lost.add(known, in)
		}
		if known == nil || known.Key != o.Key {
			continue // not read before
		}
		// What is known and was not read waits, held or too young, and is not
		// part of the partition yet.
		if o.Filtered == "" && known.State == engine.EntryRead && !taken[o.Key] && in(o.Key) {
			discount(m.part, engine.ReasonAlreadyRead, o.Object)
			m.take(o.Object, engine.ReasonReopened, keep(known))
		}
		known = ledger.next()
	}
	for ; known != nil; known = ledger.next() {
		lost.add(known, in)
	}
	if ledger.err != nil {
		return ledger.err
	}
	slices.SortFunc(m.part.Taken, func(a, b engine.Planned) int { return strings.Compare(a.Key, b.Key) })
	return m.lose(lost, mapping)
}

// losses are objects of the partitions that a plan touches which were read
// before and are no longer in the source: their rows are nowhere but in the
// target.
type losses struct {
	first string
	n     int
}

// add counts e, which no listing shows, if its rows lie in what is rebuilt.
// What was held before its first reading has none.
func (l *losses) add(e *engine.Entry, in func(key string) bool) {
	if e.Hash == HeldUnread || e.Hash == heldByPerson || !in(e.Key) {
		return
	}
	if l.n == 0 {
		l.first = strings.Clone(e.Key)
	}
	l.n++
}

// lose refuses to rebuild a partition without the rows of files that are gone,
// unless the source says that they go with their files.
func (m *merge) lose(lost losses, mapping Mapping) error {
	if lost.n == 0 {
		return nil
	}
	partition, _ := mapping.partition(lost.first)
	what := lost.first + " was read before and is"
	if lost.n > 1 {
		what = fmt.Sprintf("%s and %d more that were read before are", lost.first, lost.n-1)
	}
	if m.src.Policy.Gone == "drop" {
		m.notice("%s no longer in source %s, which drops the rows of files that are gone: they leave the target, where partition %s is written anew.", what, m.src.Name, partition)
		return nil
	}
	if m.looks {
		return nil
	}
	return engine.Errorf(engine.Conflict,
		"Partition %s would lose rows: %s no longer in source %s, and the partition is written anew whole. Put back what is gone, hold the new files of the partition, or let the source drop the rows of files that are gone (policy gone: drop).",
		partition, what, m.src.Name)
}
