// Package schedule reads Glue's six-field cron expressions and says when they
// are due, in UTC or in a named time zone, also where clocks change.
package schedule

import (
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a container without zone data must not fall back to UTC (D18)

	"dogear/engine"
)

// Cron is a parsed expression: cron(Minutes Hours Day-of-month Month
// Day-of-week Year). Weekdays count from 1, which is Sunday.
type Cron struct {
	text    string
	minutes set
	hours   set
	months  set
	years   set
	days    dayRule
	// interval is set where the hours follow real time instead of naming fixed
	// times of the day: such a schedule fires in both of two equal hours.
	interval bool
}

// set is a bit for each allowed number of a field; years are bits from 1970.
type set struct {
	lo, hi int
	bits   [4]uint64
}

func (s *set) add(n int) { s.bits[(n-s.lo)/64] |= 1 << ((n - s.lo) % 64) }
func (s *set) has(n int) bool {
	return n >= s.lo && n <= s.hi && s.bits[(n-s.lo)/64]&(1<<((n-s.lo)%64)) != 0
}

// dayRule is the two day fields together: exactly one of them is "?".
type dayRule struct {
	byWeekday bool
	days      set
	last      bool  // L
	lastMinus []int // L-3
	lastWork  bool  // LW
	nearest   []int // 15W
	lastOf    []int // 6L: the last Friday
	nth       []nth // 2#1: the first Monday
}

type nth struct{ weekday, n int }

var (
	monthNames = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	dayNames   = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
)

const (
	firstYear = 1970
	lastYear  = 2199
)

// Parse reads an expression. The words around the fields may be left out.
func Parse(text string) (Cron, error) {
	inner := strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(inner, "cron("); ok {
		inner, ok = strings.CutSuffix(rest, ")")
		if !ok {
			return Cron{}, bad(text, "the closing bracket is missing")
		}
	}
	fields := strings.Fields(inner)
	if len(fields) != 6 {
		return Cron{}, bad(text, "it has "+strconv.Itoa(len(fields))+" fields and needs six: minutes, hours, day of month, month, day of week, year")
	}
	c := Cron{text: "cron(" + strings.Join(fields, " ") + ")"}
	for _, f := range []struct {
		into   *set
		text   string
		name   string
		lo, hi int
		names  []string
	}{
		{&c.minutes, fields[0], "minutes", 0, 59, nil},
		{&c.hours, fields[1], "hours", 0, 23, nil},
		{&c.months, fields[3], "month", 1, 12, monthNames},
		{&c.years, fields[5], "year", firstYear, lastYear, nil},
	} {
		*f.into = set{lo: f.lo, hi: f.hi}
		for part := range strings.SplitSeq(f.text, ",") {
			if err := f.into.parse(part, f.names); err != "" {
				return Cron{}, bad(text, "the field "+f.name+": "+err)
			}
		}
	}
	c.interval = strings.ContainsAny(fields[1], "*/")
	if why := c.days.parse(fields[2], fields[4]); why != "" {
		return Cron{}, bad(text, why)
	}
	return c, nil
}

func bad(text, why string) error {
	return engine.Errorf(engine.Invalid, "The schedule %s is invalid: %s.", text, why)
}

// String is the expression in one form.
func (c Cron) String() string { return c.text }

// parse adds one member of a list: *, a, a-b, */n, a/n or a-b/n.
func (s *set) parse(text string, names []string) string {
	span, step := text, 1
	if before, after, ok := strings.Cut(text, "/"); ok {
		n, err := strconv.Atoi(after)
		if err != nil || n < 1 {
			return strconv.Quote(after) + " is not a step"
		}
		span, step = before, n
	}
	lo, hi, why := s.span(span, step > 1 || strings.Contains(text, "/"), names)
	if why != "" {
		return why
	}
	for n := lo; n <= hi; n += step {
		s.add(n)
	}
	return ""
}

func (s *set) span(text string, stepped bool, names []string) (lo, hi int, why string) {
	if text == "*" {
		return s.lo, s.hi, ""
	}
	from, to, isRange := strings.Cut(text, "-")
	lo, why = s.number(from, names)
	switch {
	case why != "":
		return 0, 0, why
	case isRange:
		if hi, why = s.number(to, names); why == "" && hi < lo {
			why = strconv.Quote(text) + " runs backwards"
		}
	case stepped:
		hi = s.hi
	default:
		hi = lo
	}
	return lo, hi, why
}

func (s *set) number(text string, names []string) (int, string) {
	for i, name := range names {
		if strings.EqualFold(text, name) {
			return s.lo + i, ""
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, strconv.Quote(text) + " is not a value"
	}
	if n < s.lo || n > s.hi {
		return 0, text + " is outside " + strconv.Itoa(s.lo) + " to " + strconv.Itoa(s.hi)
	}
	return n, ""
}

func (d *dayRule) parse(month, week string) string {
	switch {
	case month == "?" && week == "?":
		return "one of day of month and day of week must be given"
	case month != "?" && week != "?":
		return "one of day of month and day of week must be ?"
	}
	if month == "?" {
		d.byWeekday = true
		d.days = set{lo: 1, hi: 7}
		return d.parts(week, "day of week", d.weekday)
	}
	d.days = set{lo: 1, hi: 31}
	return d.parts(month, "day of month", d.monthday)
}

func (d *dayRule) parts(field, name string, parse func(string) string) string {
	for part := range strings.SplitSeq(field, ",") {
		if why := parse(strings.ToUpper(part)); why != "" {
			return "the field " + name + ": " + why
		}
	}
	return ""
}

func (d *dayRule) monthday(part string) string {
	switch {
	case part == "L":
		d.last = true
		return ""
	case part == "LW" || part == "WL":
		d.lastWork = true
		return ""
	case strings.HasPrefix(part, "L-"):
		n, err := strconv.Atoi(part[2:])
		if err != nil || n < 1 || n > 30 {
			return strconv.Quote(part) + " is not a number of days before the last"
		}
		d.lastMinus = append(d.lastMinus, n)
		return ""
	case strings.HasSuffix(part, "W"):
		n, why := d.days.number(strings.TrimSuffix(part, "W"), nil)
		d.nearest = append(d.nearest, n)
		return why
	}
	return d.days.parse(part, nil)
}

func (d *dayRule) weekday(part string) string {
	if day, which, ok := strings.Cut(part, "#"); ok {
		weekday, why := d.days.number(day, dayNames)
		n, err := strconv.Atoi(which)
		if why == "" && (err != nil || n < 1 || n > 5) {
			why = strconv.Quote(part) + " is not one of the five weeks"
		}
		d.nth = append(d.nth, nth{weekday, n})
		return why
	}
	if part == "L" {
		d.days.add(7)
		return ""
	}
	if day, ok := strings.CutSuffix(part, "L"); ok {
		weekday, why := d.days.number(day, dayNames)
		d.lastOf = append(d.lastOf, weekday)
		return why
	}
	return d.days.parse(part, dayNames)
}

// matches reports whether the rule holds for a day.
func (d *dayRule) matches(year int, month time.Month, day int) bool {
	last := daysIn(year, month)
	weekday := weekdayOf(year, month, day)
	if d.byWeekday {
		return d.days.has(weekday) || d.matchesNth(weekday, day, last)
	}
	if d.days.has(day) || d.last && day == last || d.lastWork && day == lastWorkday(year, month) {
		return true
	}
	for _, n := range d.lastMinus {
		if day == last-n {
			return true
		}
	}
	for _, n := range d.nearest {
		if n <= last && day == nearestWorkday(year, month, n) {
			return true
		}
	}
	return false
}

func (d *dayRule) matchesNth(weekday, day, last int) bool {
	for _, w := range d.lastOf {
		if weekday == w && day+7 > last {
			return true
		}
	}
	for _, n := range d.nth {
		if weekday == n.weekday && (day-1)/7+1 == n.n {
			return true
		}
	}
	return false
}

func daysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func weekdayOf(year int, month time.Month, day int) int {
	return int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday()) + 1
}

func lastWorkday(year int, month time.Month) int {
	day := daysIn(year, month)
	switch weekdayOf(year, month, day) {
	case 7:
		return day - 1
	case 1:
		return day - 2
	}
	return day
}

// nearestWorkday is the weekday nearest to a day within its month.
func nearestWorkday(year int, month time.Month, day int) int {
	switch weekdayOf(year, month, day) {
	case 7: // Saturday: the Friday before, unless that is in the month before
		if day == 1 {
			return 3
		}
		return day - 1
	case 1: // Sunday: the Monday after, unless that is in the next month
		if day == daysIn(year, month) {
			return day - 2
		}
		return day + 1
	}
	return day
}
