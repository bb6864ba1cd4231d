package schedule_test

import (
	"testing"

	"dogear/engine/schedule"
)

func TestWordsSayASimpleScheduleAndLeaveAnyOther(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cron(0 2 * * ? *)":         "every day at 02:00",
		"5 14 ? * * *":              "every day at 14:05",
		"cron(30 6 ? * MON-FRI *)":  "MON-FRI at 06:30",
		"cron(0 2 L * ? *)":         "day L at 02:00",
		"cron(15 * * * ? *)":        "every hour at :15",
		"cron(0/5 * * * ? *)":       "every 5 minutes",
		"cron(*/15 * ? * * *)":      "every 15 minutes",
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
