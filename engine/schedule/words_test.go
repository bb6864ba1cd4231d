package schedule_test

import (
	"testing"

	"dogear/engine/schedule"
)

func TestWordsSayASimpleScheduleAndLeaveAnyOther(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cron(0 2 * * ? *)":         "daily 02:00",
		"5 14 ? * * *":              "daily 14:05",
		"cron(30 6 ? * MON-FRI *)":  "MON-FRI 06:30",
		"cron(0 2 L * ? *)":         "day L 02:00",
		"cron(15 * * * ? *)":        "hourly at :15",
		"cron(0/5 * * * ? *)":       "every 5 min",
		"cron(*/15 * ? * * *)":      "every 15 min",
		"cron(* * * * ? *)":         "every minute",
		"cron(0/7 * * * ? *)":       "cron(0/7 * * * ? *)",
		"cron(3/5 * * * ? *)":       "cron(3/5 * * * ? *)",
		"cron(0 8-18 * * ? *)":      "cron(0 8-18 * * ? *)",
		"cron(0/5 * ? * MON-FRI *)": "cron(0/5 * ? * MON-FRI *)",
		"cron(0 2 * 1 ? *)":         "cron(0 2 * 1 ? *)",
		"nonsense":                  "nonsense",
	} {
		if got := schedule.Words(text); got != want {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	}
}
