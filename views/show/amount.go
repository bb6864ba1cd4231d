package show

import "dogear/engine"

// Amount is how much an object is: the rows of a range of a table, or the size
// of a file.
func Amount(o engine.Object) string {
	if r, ok := o.KeyRange(); ok {
		return Many(r.Rows, "row")
	}
	return Size(o.Size)
}

// Tallied is how much the objects of one reason are together.
func Tallied(t engine.Tally) string {
	if t.Rows > 0 {
		return Many(t.Rows, "row")
	}
	return Size(t.Bytes)
}

// Objects counts what a bookmark is made of: files, or ranges of a table.
func Objects(n int64, newest engine.Object) string {
	if newest.Range != "" {
		return Many(n, "range")
	}
	return Many(n, "file")
}
