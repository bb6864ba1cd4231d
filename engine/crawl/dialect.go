package crawl

import "dogear/engine"

// common is the dialect of files that are written in both a and b. A field in
// which they differ is left open, and is then worked out for each file when it
// is read.
func common(a, b engine.Dialect) engine.Dialect {
	same := func(x, y string) string {
		if x == y {
			return x
		}
		return ""
	}
	d := engine.Dialect{
		Delimiter: same(a.Delimiter, b.Delimiter), Quote: same(a.Quote, b.Quote), Escape: same(a.Escape, b.Escape),
		Encoding: same(a.Encoding, b.Encoding), NullText: same(a.NullText, b.NullText), Decimal: same(a.Decimal, b.Decimal),
		DateFormat: same(a.DateFormat, b.DateFormat),
	}
	if a.Header != nil && b.Header != nil && *a.Header == *b.Header {
		d.Header = a.Header
	}
	return d
}
