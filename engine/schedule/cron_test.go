package schedule_test

import (
	"slices"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/schedule"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func dates(times []time.Time) []string {
	var days []string
	for _, at := range times {
		days = append(days, at.Format(time.DateOnly))
	}
	return days
}

func on(day string) time.Time {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return at.Add(-time.Second)
}

func TestD05LastNearestAndNth(t *testing.T) {
	t.Parallel()
	tests := []struct {
		expr, from string
		next       []string
	}{
		{"cron(0 0 L * ? *)", "2026-01-01", []string{"2026-01-31", "2026-02-28", "2026-03-31"}},
		{"cron(0 0 LW * ? *)", "2026-01-01", []string{"2026-01-30", "2026-02-27", "2026-03-31"}},
		{"cron(0 0 15W * ? *)", "2026-02-01", []string{"2026-02-16", "2026-03-16", "2026-04-15"}},
		{"cron(0 0 1W * ? *)", "2026-08-01", []string{"2026-08-03", "2026-09-01"}},
		{"cron(0 0 ? * 2#1 *)", "2026-03-01", []string{"2026-03-02", "2026-04-06"}},
		{"cron(0 0 ? * 2#5 *)", "2026-03-01", []string{"2026-03-30", "2026-06-29"}},
		{"cron(0 0 31W * ? *)", "2026-04-01", []string{"2026-05-29", "2026-07-31"}},
		{"cron(0 0 L-3 * ? *)", "2026-02-01", []string{"2026-02-25", "2026-03-28"}},
		{"cron(0 0 ? * FRIL *)", "2026-02-01", []string{"2026-02-27", "2026-03-27"}},
		{"cron(0 0 ? * L *)", "2026-02-01", []string{"2026-02-07", "2026-02-14"}},
		{"cron(0 0 ? * MON-FRI/2 *)", "2026-03-02", []string{"2026-03-02", "2026-03-04", "2026-03-06", "2026-03-09"}},
	}
	for _, tt := range tests {
		t.Run(tt.expr, func(t *testing.T) {
			t.Parallel()
			c, err := schedule.Parse(tt.expr)
			must(t, err)

			got := dates(c.NextN(on(tt.from), time.UTC, len(tt.next)))

			if !slices.Equal(got, tt.next) {
				t.Errorf("next = %v, want %v", got, tt.next)
			}
		})
	}
}

func TestD06DatesThatNeverCome(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]engine.Code{
		"cron(0 0 31 2 ? *)":        engine.Invalid,
		"cron(0 0 30 FEB ? *)":      engine.Invalid,
		"cron(0 0 29 2 ? *)":        "",
		"cron(0 0 1 1 ? 2020)":      engine.Invalid,
		"cron(0 0 31 4,6,9,11 ? *)": engine.Invalid,
		"cron(0 0 29 2 ? 2027)":     engine.Invalid,
		"cron(0 0 ? 2 1#5 *)":       "", // a February that begins on a Sunday, in a leap year
		"cron(0 0 1 1 ? 2199)":      "",
	}
	for expr, want := range tests {
		t.Run(expr, func(t *testing.T) {
			t.Parallel()

			err := schedule.Rules{}.Check(expr, "", now)

			if got := engine.CodeOf(err); got != want {
				t.Errorf("Check = %v, want code %q", err, want)
			}
		})
	}
	c, err := schedule.Parse("cron(0 0 29 2 ? *)")
	must(t, err)
	if got := c.Next(now, time.UTC).Format(time.DateOnly); got != "2028-02-29" {
		t.Errorf("next 29 February = %s, want 2028-02-29", got)
	}
}

func TestD02TimesThatHappenTwice(t *testing.T) {
	t.Parallel()
	zone, err := schedule.Zone("America/New_York")
	must(t, err)
	fires := func(expr string, from, to time.Time) (all []time.Time) {
		c, err := schedule.Parse(expr)
		must(t, err)
		for at := c.Next(from.Add(-time.Second), zone); at.Before(to); at = c.Next(at, zone) {
			all = append(all, at)
		}
		return all
	}
	from := time.Date(2026, 10, 31, 0, 0, 0, 0, zone)

	fixed := fires("cron(30 1 * * ? *)", from, time.Date(2026, 11, 3, 0, 0, 0, 0, zone))
	quarters := fires("cron(0/15 * * * ? *)", time.Date(2026, 11, 1, 0, 0, 0, 0, zone), time.Date(2026, 11, 2, 0, 0, 0, 0, zone))
	spring := fires("cron(30 2 * * ? *)", time.Date(2026, 3, 8, 0, 0, 0, 0, zone), time.Date(2026, 3, 9, 0, 0, 0, 0, zone))
	springHours := fires("cron(0 * * * ? *)", time.Date(2026, 3, 8, 0, 0, 0, 0, zone), time.Date(2026, 3, 9, 0, 0, 0, 0, zone))

	want := []string{"2026-10-31T05:30:00Z", "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"}
	var got []string
	for _, at := range fixed {
		got = append(got, at.Format(time.RFC3339))
	}
	if !slices.Equal(got, want) {
		t.Errorf("daily 01:30 = %v, want %v", got, want)
	}
	if len(quarters) != 100 {
		t.Errorf("quarters of the long day = %d, want 100", len(quarters))
	}
	if len(spring) != 1 || spring[0].Format(time.RFC3339) != "2026-03-08T07:00:00Z" {
		t.Errorf("02:30 on the day without it = %v, want 07:00 UTC, when clocks have gone forward", spring)
	}
	if len(springHours) != 23 {
		t.Errorf("hours of the short day = %d, want 23", len(springHours))
	}
}

func TestD16ZonesFollowTheClock(t *testing.T) {
	t.Parallel()
	c, err := schedule.Parse("cron(0 2 * * ? *)")
	must(t, err)
	berlin, err := schedule.Zone("Europe/Berlin")
	must(t, err)
	for day, want := range map[string]string{"2026-03-28": "03:00", "2026-03-30": "04:00"} {
		if got := c.Next(on(day), time.UTC).In(berlin).Format("15:04"); got != want {
			t.Errorf("02:00 UTC on %s is %s in Berlin, want %s", day, got, want)
		}
	}
	for _, zone := range []string{"EST", "UTC+7", "CET+1", "../etc/passwd", "Mars/Olympus"} {
		if _, err := schedule.Zone(zone); engine.CodeOf(err) != engine.Invalid {
			t.Errorf("Zone(%q) = %v, want it refused", zone, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{
		"", "cron()", "cron(0 12 * * *)", "cron(0 12 * * ? * *)", "cron(0 12 * * * *)", "cron(0 12 ? * ? *)",
		"cron(60 12 * * ? *)", "cron(0 24 * * ? *)", "cron(0 12 32 * ? *)", "cron(0 12 * 13 ? *)", "cron(0 12 ? * 8 *)",
		"cron(0 12 ? * MON#6 *)", "cron(5-1 12 * * ? *)", "cron(0/0 12 * * ? *)", "cron(a 12 * * ? *)", "cron(0 12 * * ? 1969)",
		"rate(5 minutes)", "cron(0 12 * * ? *",
	} {
		if _, err := schedule.Parse(expr); engine.CodeOf(err) != engine.Invalid {
			t.Errorf("Parse(%q) = %v, want it refused", expr, err)
		}
	}
}
