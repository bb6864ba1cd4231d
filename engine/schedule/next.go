package schedule

import (
	"strings"
	"time"

	"dogear/engine"
)

// Zone returns the time zone with an IANA name; "" is UTC. Short names and
// offsets are refused: they do not follow the clocks (D16).
func Zone(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || !strings.Contains(name, "/") || strings.HasPrefix(name, "Etc/GMT") {
		return nil, engine.Errorf(engine.Invalid, "The time zone %q is not known. Use a name such as Europe/Berlin, or UTC.", name)
	}
	return zone, nil
}

// Next is the first instant strictly after a time at which c is due in zone,
// in UTC; zero where none ever comes.
func (c Cron) Next(after time.Time, zone *time.Location) time.Time {
	local := after.In(zone)
	day := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	for ; day.Year() <= lastYear; day = day.AddDate(0, 0, 1) {
		switch {
		case !c.years.has(day.Year()):
			day = time.Date(day.Year(), time.December, 31, 0, 0, 0, 0, time.UTC)
			continue
		case !c.months.has(int(day.Month())):
			day = time.Date(day.Year(), day.Month(), daysIn(day.Year(), day.Month()), 0, 0, 0, 0, time.UTC)
			continue
		case !c.days.matches(day.Year(), day.Month(), day.Day()):
			continue
		}
		if at := c.onDay(day, zone, after); !at.IsZero() {
			return at.UTC()
		}
	}
	return time.Time{}
}

// onDay is the first instant of a day after a time.
func (c Cron) onDay(day time.Time, zone *time.Location, after time.Time) time.Time {
	var first time.Time
	for hour := range 24 {
		if !c.hours.has(hour) {
			continue
		}
		for minute := range 60 {
			if !c.minutes.has(minute) {
				continue
			}
			for _, at := range c.instants(day, hour, minute, zone) {
				if at.After(after) && (first.IsZero() || at.Before(first)) {
					first = at
				}
			}
		}
		// Where clocks go back a later wall time can come first, by at most the
		// hours of the change; a fixed hour is past that.
		if !first.IsZero() && !c.interval {
			return first
		}
		if !first.IsZero() && hour > first.In(zone).Hour()+3 {
			return first
		}
	}
	return first
}

// instants are the real times at which a wall clock shows hour:minute on a
// day: one; two where clocks go back, of which a fixed time takes the first;
// none where they go forward, and a fixed time then fires when they have.
func (c Cron) instants(day time.Time, hour, minute int, zone *time.Location) []time.Time {
	at := time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, zone)
	start, end := at.ZoneBounds()
	if at.Hour() != hour || at.Minute() != minute {
		if c.interval {
			return nil
		}
		return []time.Time{gapEnd(at, start, end)}
	}
	both := []time.Time{at}
	if other, ok := twin(at, start, end); ok {
		both = append(both, other)
		if other.Before(at) {
			both[0], both[1] = other, at
		}
	}
	if !c.interval {
		return both[:1]
	}
	return both
}

// gapEnd is the first valid instant after a wall time that does not exist;
// time.Date has put it on either side of the change.
func gapEnd(at, start, end time.Time) time.Time {
	if !start.IsZero() && at.Sub(start) < 24*time.Hour {
		return start
	}
	return end
}

// twin is the other instant with the same wall time, where clocks go back.
func twin(at, start, end time.Time) (time.Time, bool) {
	for _, change := range []time.Time{start, end} {
		if change.IsZero() {
			continue
		}
		_, before := change.Add(-time.Second).Zone()
		_, after := change.Zone()
		back := time.Duration(before-after) * time.Second
		if back <= 0 {
			continue
		}
		other := at.Add(back)
		if change.Equal(start) {
			other = at.Add(-back)
		}
		if sameWall(at, other) {
			return other, true
		}
	}
	return time.Time{}, false
}

func sameWall(a, b time.Time) bool {
	return a.Year() == b.Year() && a.YearDay() == b.YearDay() && a.Hour() == b.Hour() && a.Minute() == b.Minute()
}

// NextN lists the next n due times after a time.
func (c Cron) NextN(after time.Time, zone *time.Location, n int) []time.Time {
	var times []time.Time
	for range n {
		after = c.Next(after, zone)
		if after.IsZero() {
			break
		}
		times = append(times, after)
	}
	return times
}
