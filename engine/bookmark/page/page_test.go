package page_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dogear/engine"
	"dogear/engine/bookmark/page"
)

// TestPagesOfEarlierLayoutsAreRead: a page is never written again for a new
// layout, so every one that ever was stays readable.
func TestPagesOfEarlierLayoutsAreRead(t *testing.T) {
	t.Parallel()
	want := []engine.Entry{
		{Object: engine.Object{Key: "in/2026/01/a.csv", Size: 10, ModNS: 1767225600000000000, ETag: "0f3a", Inode: 77}, Run: "01KB0000000000000000000001", State: 1, Hash: "ab12"},
		{Object: engine.Object{Key: "in/2026/01/b.csv", Size: 20, ModNS: 1767225601000000000, ETag: "0f3b-2", VersionID: "v1", Inode: 70}, Run: "01KB0000000000000000000001", State: 3, Hash: "ab12", Note: "cut off"},
	}
	for layout, text := range map[string]string{
		"files":  "ASi1L/0EADUDANQFAgAQaW4vMjAyNi8wMS9hLmNzdgsFYi5jc3aAgNDfvZS5hjGAqNa5BwoUmgENAQMABDBmM2EDA2ItMgAAAAJ2MQAaMDFLQjAxGgAABGFiMTIEAAAAAAdjdXQgb2ZmAVQZAhEHAeherk4=",
		"tables": "Ayi1L/0EABUEAJQHAgAQaW4vMjAyNi8wMS9hLmNzdgsFYi5jc3aAgNDfvZS5hjGAqNa5BwoUmgENAQMABDBmM2EDA2ItMgAAAAJ2MQAaMDFLQjAxGgAABGFiMTIEAAAAAAdjdXQgb2ZmABh7ImtleXMiOlsiaWQiXSwicm93cyI6Mn0AAAFUGQIRBwHGGKGF",
	} {
		body, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if layout == "tables" {
			want[0].Range = `{"keys":["id"],"rows":2}`
		} else {
			want[0].Range = ""
		}

		got, err := page.Decode(body)
		checkPrints(t, body, got)

		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: unpacked %+v (%v), want %+v", layout, got, err, want)
		}
	}
}

// TestOneDecoderReadsManyPages: nothing of a page shows in the next one.
func TestOneDecoderReadsManyPages(t *testing.T) {
	t.Parallel()
	long := []engine.Entry{
		{Object: engine.Object{Key: "a", ETag: "00ff", VersionID: "x", Range: "r"}, Run: "1", State: 1, Hash: "h", Note: "n"},
		{Object: engine.Object{Key: "b", ETag: "11ee", VersionID: "y", Range: "r"}, Run: "2", State: 2, Hash: "h", Note: "m"},
		{Object: engine.Object{Key: "c", ETag: "22dd", VersionID: "z", Range: "r"}, Run: "3", State: 3, Hash: "h", Note: "n"},
	}
	short := []engine.Entry{{Object: engine.Object{Key: "d"}, State: 1}}
	var d page.Decoder
	for _, want := range [][]engine.Entry{long, short, {}, long} {
		got, err := d.Decode(page.Encode(want))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("unpacked %+v (%v), want %+v", got, err, want)
		}
	}
}

// tester is what a test and a rapid check have in common.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
}

// checkPrints compares what Prints yields with the ETags of entries.
func checkPrints(t tester, body []byte, entries []engine.Entry) {
	t.Helper()
	var got []uint64
	err := new(page.Decoder).Prints(body, func(sum uint64) { got = append(got, sum) })
	var want []uint64
	for _, e := range entries {
		want = append(want, page.Print(e.ETag))
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the prints are %v (%v), want %v of %+v", got, err, want, entries)
	}
}

// TestPrintsAreThoseOfTheEntries: however a column of ETags is written.
func TestPrintsAreThoseOfTheEntries(t *testing.T) {
	t.Parallel()
	etags := rapid.SampledFrom([]string{"", "0f", "9e107d9d372bb6826bd81d3542a419d6", "9e107d9d372bb6826bd81d3542a419d7-12", "9E107D9D372BB6826BD81D3542A419D6", "0123456789abcdef", "0123456789abcde", "ü"})
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.SliceOfN(etags, 1, 3).Draw(t, "etags")
		var entries []engine.Entry
		for i := range rapid.IntRange(0, 40).Draw(t, "entries") {
			entries = append(entries, engine.Entry{
				Object: engine.Object{Key: fmt.Sprintf("in/%06d", i), Size: int64(i) << 20, ModNS: int64(-i), ETag: rapid.SampledFrom(alphabet).Draw(t, "etag"), Inode: uint64(i) << 40},
				State:  engine.EntryRead,
			})
		}
		if len(entries) > 0 {
			checkPrints(t, page.Encode(entries), entries)
		}
	})
}

// TestABrokenPageHasNoPrints: it is an error, as for Decode.
func TestABrokenPageHasNoPrints(t *testing.T) {
	t.Parallel()
	body := page.Encode([]engine.Entry{{Object: engine.Object{Key: "a", ETag: "x"}}, {Object: engine.Object{Key: "b", ETag: "y"}}})
	for _, broken := range [][]byte{nil, {}, {4}, body[:len(body)-1], {99, 1, 2}} {
		if err := new(page.Decoder).Prints(broken, func(uint64) {}); err == nil {
			t.Errorf("%v was looked through without an error", broken)
		}
	}
}
