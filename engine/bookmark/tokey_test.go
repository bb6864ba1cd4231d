package bookmark

import "testing"

func TestAKeyIsOfTheTypeOfItsColumn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		of, text, want string
	}{
		{"BIGINT", "42", ""},
		{"BIGINT", "-42", ""},
		{"INTEGER", "abc", "a whole number"},
		{"INTEGER", "1.5", "a whole number"},
		{"INTEGER", "", "a whole number"},
		{"HUGEINT", "99999999999999999999", ""},
		{"UBIGINT", "0x1f", "a whole number"},
		{"DECIMAL(10,2)", "1.50", ""},
		{"DECIMAL(10,2)", "1,50", "a number"},
		{"DOUBLE", "1e9", ""},
		{"DOUBLE", "NaN", "a number"},
		{"DATE", "2026-11-29", ""},
		{"DATE", "29.11.2026", "a day such as 2026-11-29"},
		{"DATE", "7", "a day such as 2026-11-29"},
		{"TIMESTAMP", "2026-11-29 12:00:00.123456", ""},
		{"TIMESTAMP", "2026-11-29T12:00", ""},
		{"TIMESTAMP", "2026-11-29", ""},
		{"TIMESTAMP", "noon", "a time such as 2026-11-29 12:00:00"},
		{"TIMESTAMP WITH TIME ZONE", "2026-11-29 12:00:00+00", ""},
		{"TIMESTAMP WITH TIME ZONE", "2026-11-29T12:00:00+05:30", ""},
		{"VARCHAR", "anything", ""},
		{"VARCHAR", "", ""},
		{"UUID", "anything", ""}, // the database says so itself
	}
	for _, tt := range tests {
		if got := notOf(tt.of, tt.text); got != tt.want {
			t.Errorf("%q for %s is not %q, want %q", tt.text, tt.of, got, tt.want)
		}
	}
}
