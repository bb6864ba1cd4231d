package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"strconv"
	"time"

	"dogear/engine"
	"dogear/engine/bookmark"
)

// bucketOf is a listing of n objects as a bucket shows them: a day holds a
// thousand, each with an ETag that cannot be packed. Of those that a ledger of
// the same n knows, one in a thousand has changed and one in a thousand is
// gone; one in a hundred is new.
type bucketOf struct {
	n     int
	later bool // the listing a day later: with what is changed, gone and new
}

// etag is 16 bytes without a pattern that follow from a number (SplitMix64).
func etag(i, content int) string {
	var raw [16]byte
	x := uint64(i)<<8 | uint64(content)
	for half := range 2 {
		x += 0x9e3779b97f4a7c15
		z := x
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		binary.LittleEndian.PutUint64(raw[half*8:], z^z>>31)
	}
	return hex.EncodeToString(raw[:])
}

var firstDay = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

const perDay = 1000

func object(i, content int, key []byte) (engine.Object, []byte) {
	day := firstDay.AddDate(0, 0, i/perDay)
	if i%perDay == 0 || len(key) == 0 {
		key = day.AppendFormat(key[:0], "sales/2006/01/02/part-")
	}
	const dayLength = len("sales/2006/01/02/part-")
	key = append(key[:dayLength], "00000000"...)
	digits := strconv.AppendInt(nil, int64(i%perDay), 10)
	copy(key[len(key)-len(digits):], digits)
	key = append(key, ".csv.gz"...)
	return engine.Object{
		Key: string(key), Size: int64(20_000 + i%977 + content), ModNS: day.UnixNano() + int64(i%perDay)*1e6, ETag: etag(i, content),
	}, key
}

func (b bucketOf) List(context.Context, engine.Source) iter.Seq2[bookmark.Listed, error] {
	return func(yield func(bookmark.Listed, error) bool) {
		var key []byte
		var o engine.Object
		n := b.n
		if b.later {
			n += b.n / 100
		}
		for i := range n {
			content := 0
			if b.later && i < b.n {
				if i%1000 == 1 {
					continue
				}
				if i%1000 == 2 {
					content = 1
				}
			}
			o, key = object(i, content, key)
			if !yield(bookmark.Listed{Object: o}, nil) {
				return
			}
		}
	}
}

func (bucketOf) Root(engine.Source) string { return "s3://lake" }

// ledgerOf writes the ledger that knows all of b, as runs of a day's files
// would leave it.
func ledgerOf(ctx context.Context, store bookmark.Pages, b bucketOf) (string, error) {
	const chunk = 64 * 4096
	root, run := bookmark.Empty, engine.NewID(time.Now())
	changes := make([]engine.Entry, 0, chunk)
	flush := func() error {
		written, err := bookmark.Write(ctx, store, root, changes)
		root, changes = written.Root, changes[:0]
		return err
	}
	for o, err := range b.List(ctx, engine.Source{}) {
		if err != nil {
			return root, err
		}
		changes = append(changes, engine.Entry{Object: o.Object, Run: run, State: engine.EntryRead})
		if len(changes) == chunk {
			if err := flush(); err != nil {
				return root, err
			}
		}
	}
	return root, flush()
}
