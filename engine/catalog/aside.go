package catalog

import "strconv"

// Aside is the name under which a table has a column of its files that is
// called like one of its partition keys: the key keeps the name, and the column
// is the first free one of name_1, name_2 and so on (case C13). taken says
// which names the files have already.
func Aside(name string, taken func(name string) bool) string {
	for n := 1; ; n++ {
		if aside := name + "_" + strconv.Itoa(n); !taken(aside) {
			return aside
		}
	}
}
