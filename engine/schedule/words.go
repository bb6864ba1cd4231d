package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// Words says when a schedule fires in few words: "daily 02:00". One
// that is not so simple is its own best name and comes back as it is written.
func Words(text string) string {
	cron, err := Parse(text)
	if err != nil {
		return text
	}
	field := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(cron.text, "cron("), ")"))
	minute, hour, day, month, week, year := field[0], field[1], field[2], field[3], field[4], field[5]
	daily := day == "*" || week == "*"
	clock := clockTime(hour, minute)
	switch {
	case month != "*" || year != "*":
		return text
	case clock != "" && daily:
		return "daily " + clock
	case clock != "" && day == "?":
		return week + " " + clock
	case clock != "":
		return "day " + day + " " + clock
	case hour == "*" && daily:
		return within(minute, text)
	}
	return text
}

// clockTime is the one time of a day that two fields name, or "".
func clockTime(hour, minute string) string {
	h, noHour := strconv.Atoi(hour)
	m, noMinute := strconv.Atoi(minute)
	if noHour != nil || noMinute != nil {
		return ""
	}
	return fmt.Sprintf("%02d:%02d", h, m)
}

// within says which minutes of every hour a field names, or otherwise. A step
// that does not divide the hour is no even beat.
func within(minute, otherwise string) string {
	if minute == "*" {
		return "every minute"
	}
	if m, err := strconv.Atoi(minute); err == nil {
		return fmt.Sprintf("hourly at :%02d", m)
	}
	start, step, _ := strings.Cut(minute, "/")
	if n, err := strconv.Atoi(step); err == nil && (start == "0" || start == "*") && 60%n == 0 {
		return fmt.Sprintf("every %d min", n)
	}
	return otherwise
}
