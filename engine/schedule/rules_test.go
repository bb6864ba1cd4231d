package schedule_test

import (
	"strings"
	"testing"
	"time"

	"dogear/engine"
	"dogear/engine/schedule"
)

func TestD14AScheduleForTheLastDaysWarns(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"cron(0 3 31 * ? *)": "No run in Feb, Apr, Jun, Sep, Nov: the day does not exist there. For the last day of every month write L as the day.",
		"cron(0 3 30 * ? *)": "No run in Feb: the day does not exist there. For the last day of every month write L as the day.",
		"cron(0 3 29 * ? *)": "No run in Feb: the day does not exist there, but in leap years. For the last day of every month write L as the day.",
		"cron(0 3 L * ? *)":  "",
		"cron(0 3 ? * 2 *)":  "",
		"cron(0 3 28 * ? *)": "",
		"not a schedule":     "",
	}
	for expr, want := range tests {
		if got := (schedule.Rules{}).Warn(expr); got != want {
			t.Errorf("Warn(%s) = %q, want %q", expr, got, want)
		}
	}
}

func TestD15AFloorOnHowOften(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	native, glue := schedule.Rules{Floor: time.Minute}, schedule.Rules{Floor: schedule.GlueFloor}
	for expr, refusedAsGlue := range map[string]bool{
		"cron(0/1 * * * ? *)":  true,
		"cron(0/4 * * * ? *)":  true,
		"cron(0/5 * * * ? *)":  false,
		"cron(0 12 * * ? *)":   false,
		"cron(0,3 12 * * ? *)": true,
	} {
		if err := native.Check(expr, "", now); err != nil {
			t.Errorf("%s with a floor of a minute: %v, want it allowed", expr, err)
		}
		err := glue.Check(expr, "", now)
		if refused := engine.CodeOf(err) == engine.Invalid; refused != refusedAsGlue {
			t.Errorf("%s with Glue's floor: %v, want refused %t", expr, err, refusedAsGlue)
		}
		if err != nil && !strings.Contains(err.Error(), "at least 5m between two starts") {
			t.Errorf("%s: %q does not name the floor", expr, err)
		}
	}
}
