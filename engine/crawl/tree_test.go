package crawl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dogear/engine"
)

func listing(keys ...string) *folder {
	f := newFolder("")
	for _, key := range keys {
		f.add(engine.Object{Key: key, Size: 10}, true)
	}
	return f
}

// picture writes what was found as root[keys] values…, a line a table.
func picture(all []found) string {
	var lines []string
	for _, t := range all {
		var partitions []string
		for _, p := range t.partitions {
			partitions = append(partitions, strings.Join(p.values, "/"))
		}
		lines = append(lines, fmt.Sprintf("%s%v %s", t.root.path, t.keys, strings.Join(partitions, " ")))
	}
	return strings.Join(lines, "\n")
}

func TestTablesAreFoundByTheirFolders(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		keys []string
		want string
	}{
		"files alone":              {[]string{"a.csv", "b.csv"}, "[] "},
		"folders of tables":        {[]string{"orders/a.csv", "items/a.csv"}, "items[] \norders[] "},
		"named partitions":         {[]string{"year=2026/month=1/a.csv", "year=2026/month=2/a.csv"}, "[year month] 2026/1 2026/2"},
		"C14 padding is kept":      {[]string{"month=6/a.csv", "month=06/a.csv", "month=006/a.csv"}, "[month] 006 06 6"},
		"C15 dates":                {[]string{"2026/03/01/a.csv", "2026/03/02/a.csv", "2026/12/31/a.csv"}, "[year month day] 2026/03/01 2026/03/02 2026/12/31"},
		"numbers that are no date": {[]string{"17/a.csv", "18/a.csv"}, "[partition_0] 17 18"},
		"tables with partitions":   {[]string{"s/day=1/a.csv", "s/day=2/a.csv", "r/a.csv"}, "r[] \ns[day] 1 2"},
		"files beside folders":     {[]string{"a.csv", "old/a.csv"}, "[] "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := picture(tables(listing(tt.keys...)))

			if got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

func TestC12ThirtyDaysAreOneTable(t *testing.T) {
	t.Parallel()
	var keys []string
	for day := 1; day <= 30; day++ {
		keys = append(keys, fmt.Sprintf("sales/day=%02d/part-0.csv", day))
	}

	all := tables(listing(keys...))

	if len(all) != 1 || len(all[0].partitions) != 30 {
		t.Fatalf("found %s, want one table of 30 partitions", picture(all))
	}
	beside := tables(listing(append(keys, "sales/run.txt")...))
	if len(beside) != 1 || len(beside[0].notices) == 0 {
		t.Errorf("with a file beside the partitions: %s and notices %v, want one table and a notice", picture(beside), beside[0].notices)
	}
}

func TestC14MixedPaddingIsNoticed(t *testing.T) {
	t.Parallel()

	all := tables(listing("month=6/a.csv", "month=06/a.csv"))

	if !slices.ContainsFunc(all[0].notices, func(n string) bool { return strings.Contains(n, "month is written both as") }) {
		t.Errorf("notices = %v, want one on month", all[0].notices)
	}
}

func TestC24NamesDependOnTheFolderAlone(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 150)
	folders := []string{"lake/Sales-EU", "lake/sales_eu", "lake/2026 report (final)", "lake/" + long, "lake/" + long + "y"}
	names := map[string]string{}
	for _, folder := range folders {
		name := TableName("", folder)
		if other, ok := names[name]; ok {
			t.Errorf("%s and %s are both the table %s", other, folder, name)
		}
		names[name] = folder
		if len(name) > maxTableName {
			t.Errorf("the name of %s has %d characters, want at most %d", folder, len(name), maxTableName)
		}
		if again := TableName("", folder+"/"); again != name {
			t.Errorf("%s is %s and then %s", folder, name, again)
		}
	}
	if got := TableName("raw_", "/data/orders"); got != "raw_orders" {
		t.Errorf("a plain folder with a prefix = %s, want raw_orders", got)
	}
}
