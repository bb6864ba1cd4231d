package schedule_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dogear/engine/schedule"
)

// The zones of the oracle: with changes of an hour, of half an hour and of two,
// by laws of both hemispheres, with odd offsets, and without any change.
var oracleZones = []string{
	"UTC", "Europe/Berlin", "Europe/London", "Europe/Lisbon", "America/New_York", "America/Los_Angeles", "America/St_Johns",
	"America/Sao_Paulo", "America/Santiago", "America/Havana", "Africa/Cairo", "Africa/Casablanca", "Asia/Gaza", "Asia/Kathmandu", "Asia/Tehran",
	"Asia/Beirut", "Australia/Lord_Howe", "Australia/Sydney", "Pacific/Chatham", "Antarctica/Troll",
}

// oracleSpecs are specifications with the day of theirs said in Go, by nobody
// who has read the evaluator.
var oracleSpecs = []struct {
	spec string
	day  func(day time.Time) bool
}{
	{"cron(0 2 * * ? *)", everyDay},
	{"cron(30 2 * * ? *)", everyDay},
	{"cron(15,45 1 * * ? *)", everyDay},
	{"cron(0 0 * * ? *)", everyDay},
	{"cron(0/30 * * * ? *)", everyDay},
	{"cron(10 0/3 * * ? *)", everyDay},
	{"cron(5 23,0,3 * * ? *)", everyDay},
	{"cron(59 23 L * ? *)", func(d time.Time) bool { return d.AddDate(0, 0, 1).Day() == 1 }},
	{"cron(30 1 ? * 1#2 *)", func(d time.Time) bool { return d.Weekday() == time.Sunday && d.Day() > 7 && d.Day() <= 14 }},
	{"cron(30 2 ? * 1L *)", func(d time.Time) bool { return d.Weekday() == time.Sunday && d.AddDate(0, 0, 7).Month() != d.Month() }},
	{"cron(0 3 15W * ? *)", func(d time.Time) bool {
		at := time.Date(d.Year(), d.Month(), 15, 0, 0, 0, 0, time.UTC)
		if at.Weekday() == time.Saturday {
			at = at.AddDate(0, 0, -1)
		}
		if at.Weekday() == time.Sunday {
			at = at.AddDate(0, 0, 1)
		}
		return d.Equal(at)
	}},
	{"cron(0 12 29 2 ? *)", func(d time.Time) bool { return d.Month() == time.February && d.Day() == 29 }},
}

func everyDay(time.Time) bool { return true }

// TestSchedulesAgreeWithAnOracle walks through every minute of the years in
// every zone and asks which specifications are due, and compares that with
// Next. A fixed time that a clock never shows is due when the clock has passed
// it; one that it shows twice, the first time; a time that follows the hours,
// whenever the clock shows it. DOGEAR_YEARS sets how many years; ten in make
// soak.
func TestSchedulesAgreeWithAnOracle(t *testing.T) {
	t.Parallel()
	years := 1
	if n, err := strconv.Atoi(os.Getenv("DOGEAR_YEARS")); err == nil {
		years = n
	}
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(years, 0, 0)
	for _, name := range oracleZones {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone, err := schedule.Zone(name)
			if err != nil {
				t.Fatal(err)
			}
			due := oracle(zone, from, to)
			fires := 0
			for i, s := range oracleSpecs {
				cron, err := schedule.Parse(s.spec)
				if err != nil {
					t.Fatal(err)
				}
				var got []time.Time
				for at := cron.Next(from, zone); !at.IsZero() && at.Before(to); at = cron.Next(at, zone) {
					got = append(got, at)
				}
				compareTimes(t, s.spec, zone, got, due[i])
				fires += len(got)
			}
			if fires < years*20_000 {
				t.Errorf("%d fires were compared, want many more", fires)
			}
		})
	}
}

func compareTimes(t *testing.T, spec string, zone *time.Location, got, want []time.Time) {
	t.Helper()
	if slices.EqualFunc(got, want, time.Time.Equal) {
		return
	}
	for i := range max(len(got), len(want)) {
		var g, w time.Time
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if !g.Equal(w) {
			t.Errorf("%s: fire %d of %d is at %s, the oracle has %d and says %s", spec, i, len(got), g.In(zone), len(want), w.In(zone))
			return
		}
	}
}

// oracle lists when each specification is due after from and before to.
func oracle(zone *time.Location, from, to time.Time) [][]time.Time {
	due := make([][]time.Time, len(oracleSpecs))
	matches := make([]func(wall time.Time) bool, len(oracleSpecs))
	interval := make([]bool, len(oracleSpecs))
	for i, s := range oracleSpecs {
		fields := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(s.spec, "cron("), ")"))
		minutes, hours := numbers(fields[0], 60), numbers(fields[1], 24)
		interval[i] = strings.ContainsAny(fields[1], "*/")
		var lastDay time.Time
		var lastIs bool
		matches[i] = func(wall time.Time) bool {
			if !minutes[wall.Minute()] || !hours[wall.Hour()] {
				return false
			}
			if day := wall.Truncate(24 * time.Hour); !day.Equal(lastDay) {
				lastDay, lastIs = day, s.day(day)
			}
			return lastIs
		}
	}
	wallAt := func(at time.Time) time.Time { // what the clock on the wall shows, written as if it were UTC
		_, offset := at.In(zone).Zone()
		return at.Add(time.Duration(offset) * time.Second)
	}
	furthest := wallAt(from)
	for at := from.Add(time.Minute); at.Before(to); at = at.Add(time.Minute) {
		wall := wallAt(at)
		for i := range oracleSpecs {
			is := false
			if interval[i] {
				is = matches[i](wall)
			} else {
				for w := furthest.Add(time.Minute); !w.After(wall) && !is; w = w.Add(time.Minute) {
					is = matches[i](w)
				}
			}
			if is {
				due[i] = append(due[i], at)
			}
		}
		if wall.After(furthest) {
			furthest = wall
		}
	}
	return due
}

// numbers reads a field of minutes or hours: a list, all, or steps from a start.
func numbers(field string, n int) []bool {
	set := make([]bool, n)
	start, step, stepped := strings.Cut(field, "/")
	for i := range set {
		switch {
		case stepped:
			first, _ := strconv.Atoi(start)
			every, _ := strconv.Atoi(step)
			set[i] = i >= first && (i-first)%every == 0
		case field == "*":
			set[i] = true
		default:
			set[i] = slices.Contains(strings.Split(field, ","), strconv.Itoa(i))
		}
	}
	return set
}
