package job

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"dogear/engine"
	"dogear/views/form"
)

var (
	keyOrders = []form.Choice{{"", "Rises: new rows have larger keys"}, {"falls", "Falls: new rows have smaller keys"}}
	closed    = []form.Choice{{"", "No"}, {"hour", "Only closed hours"}, {"day", "Only closed days"}}
	nullKeys  = []form.Choice{{"", "Count and report them"}, {"read", "Read them each time"}, {"fail", "Fail the run"}, {"coalesce", "Let another column stand in"}}
)

func keyOrder(s engine.Source) string {
	if s.Options.Table.Descending {
		return "falls"
	}
	return ""
}

// readTable reads the fields of a source that is a table. A form that does not
// show them leaves them as they are.
func readTable(values url.Values, at string, s *engine.Source) {
	if !values.Has(at + "table") {
		return
	}
	table := strings.TrimSpace(values.Get(at + "table"))
	if table != s.Table {
		s.Schema = nil // of the other table
	}
	s.Table, s.Keys = table, words(values.Get(at+"keys"))
	o := &s.Options.Table
	o.Descending = values.Get(at+"order") == "falls"
	o.Lag, o.Overlap, o.MaxRows = amount(values, at+"lag"), amount(values, at+"overlap"), amount(values, at+"max_rows")
	o.Closed, o.NullKeys = values.Get(at+"closed"), values.Get(at+"null_keys")
	o.Instead, o.Compare = strings.TrimSpace(values.Get(at+"instead")), values.Get(at+"compare") != ""
}

// amount reads a number; what is none is -1, which Faults names.
func amount(values url.Values, field string) int64 {
	text := strings.TrimSpace(values.Get(field))
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// asking is what a request about the table of a field needs beside the form.
func asking(field string) string {
	text, err := json.Marshal(map[string]string{"for": field})
	if err != nil {
		return "{}" // a text can be written
	}
	return string(text)
}

// about are the fields that such a request takes along.
func about(kind string, i int) string { return besides(field(kind, i, "table")) }

// besides are the field of a table and that of its connection.
func besides(table string) string {
	return "[name='" + strings.TrimSuffix(table, "table") + "connection'],[name='" + table + "']"
}

// keyWord says what the primary key of a table is.
func keyWord(columns []engine.TableColumn) string {
	var names []string
	for at := 1; ; at++ {
		was := len(names)
		for _, c := range columns {
			if c.Key == at {
				names = append(names, c.Name)
			}
		}
		if len(names) == was {
			break
		}
	}
	if len(names) == 0 {
		return "It has no primary key: name the columns of a key."
	}
	return "Primary key: " + join(names) + "."
}
