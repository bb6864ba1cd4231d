package page_test

import (
	"encoding/base64"
	"slices"
	"testing"

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
