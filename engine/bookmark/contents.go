package bookmark

import (
	"cmp"
	"iter"
	"slices"

	"dogear/engine/bookmark/page"
)

// freshContents are the ETags of new objects, to be asked for each entry of a
// ledger.
type freshContents struct {
	sums []freshSum // sorted once it is sealed
	bits []uint64   // of which one in 32 is set: nearly every entry ends there
}

// freshSum is the page.Print of the ETag of one new object.
type freshSum struct {
	sum uint64
	at  int // index of the object
}

func (f *freshContents) add(etag string, at int) {
	f.sums = append(f.sums, freshSum{page.Print(etag), at})
}

func (f *freshContents) seal() {
	slices.SortFunc(f.sums, func(a, b freshSum) int { return cmp.Or(cmp.Compare(a.sum, b.sum), cmp.Compare(a.at, b.at)) })
	words := 1
	for words*2 < len(f.sums) {
		words *= 2
	}
	f.bits = make([]uint64, words)
	for _, p := range f.sums {
		f.bits[p.sum>>6&uint64(words-1)] |= 1 << (p.sum & 63)
	}
}

func (f *freshContents) maybe(sum uint64) bool {
	if f.bits[sum>>6&uint64(len(f.bits)-1)]&(1<<(sum&63)) == 0 {
		return false
	}
	_, ok := f.find(sum)
	return ok
}

func (f *freshContents) find(sum uint64) (int, bool) {
	return slices.BinarySearchFunc(f.sums, sum, func(f freshSum, sum uint64) int { return cmp.Compare(f.sum, sum) })
}

// with yields the objects whose ETag may be etag, in their order.
func (f *freshContents) with(etag string) iter.Seq[int] {
	return func(yield func(int) bool) {
		sum := page.Print(etag)
		at, _ := f.find(sum)
		for ; at < len(f.sums) && f.sums[at].sum == sum; at++ {
			if !yield(f.sums[at].at) {
				return
			}
		}
	}
}
