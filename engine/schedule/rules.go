package schedule

import (
	"strings"
	"time"

	"dogear/engine"
)

// GlueFloor is the shortest time between two starts that AWS Glue accepts
// (D15).
const GlueFloor = 5 * time.Minute

// Rules is what a server asks of the schedules that people write.
type Rules struct {
	// Floor is the shortest time there may be between two starts; 0 is none.
	Floor time.Duration
}

// Check reads an expression and a zone, and refuses a schedule that never
// fires after now (D06) or fires more often than the floor allows (D15).
func (r Rules) Check(text, zone string, now time.Time) error {
	c, err := Parse(text)
	if err != nil {
		return err
	}
	loc, err := Zone(zone)
	if err != nil {
		return err
	}
	if c.Next(now, loc).IsZero() {
		return engine.Errorf(engine.Invalid, "The schedule %s never fires: no such day comes after today.", text)
	}
	if gap := c.gap(now); gap > 0 && gap < r.Floor {
		return engine.Errorf(engine.Invalid, "The schedule %s starts again after %s, and this server asks for at least %s between two starts.",
			text, minutes(gap), minutes(r.Floor))
	}
	return nil
}

func minutes(d time.Duration) string { return strings.TrimSuffix(d.String(), "0s") }

// Warn says what a valid schedule does not do although it seems to: one for
// the 31st leaves out every shorter month, where the last day was meant (D14).
// It is empty where there is nothing to say.
func (r Rules) Warn(text string) string {
	c, err := Parse(text)
	if err != nil {
		return ""
	}
	missed := c.missedMonths()
	if len(missed) == 0 {
		return ""
	}
	names := make([]string, len(missed))
	for i, m := range missed {
		names[i] = m.String()[:3]
	}
	warning := "No run in " + strings.Join(names, ", ") + ": the day does not exist there"
	if c.days.days.has(29) {
		warning += ", but in leap years"
	}
	return warning + ". For the last day of every month write L as the day."
}

// missedMonths lists the months in which a schedule by day of the month never
// fires for want of such a day; 29 in February counts, but for leap years.
func (c Cron) missedMonths() []time.Month {
	if c.days.byWeekday {
		return nil
	}
	const common = 2027
	var missed []time.Month
	for month := time.January; month <= time.December; month++ {
		fires := false
		for day := 1; day <= daysIn(common, month); day++ {
			fires = fires || c.days.matches(common, month, day)
		}
		if c.months.has(int(month)) && !fires {
			missed = append(missed, month)
		}
	}
	return missed
}

// gap is the shortest time between two fires among the next many.
func (c Cron) gap(now time.Time) time.Duration {
	const many = 300
	shortest := time.Duration(0)
	times := c.NextN(now, time.UTC, many)
	for i := 1; i < len(times); i++ {
		if gap := times[i].Sub(times[i-1]); shortest == 0 || gap < shortest {
			shortest = gap
		}
	}
	return shortest
}
