package sink

import (
	"context"
	"path"
	"regexp"
	"strconv"

	"dogear/engine"
)

// part is the name of a file that a batch wrote: engine.PartName.
var part = regexp.MustCompile(`^part-(\d{6,})-([0-9a-z]{8})-(\d+)-`)

// partOf reads the number and tag of the batch from the name of a file that the
// sink at index wrote; ok is false for any other.
func partOf(key string, index int) (number int64, tag string, ok bool) {
	found := part.FindStringSubmatch(path.Base(key))
	if found == nil || found[3] != strconv.Itoa(index) {
		return 0, "", false
	}
	number, err := strconv.ParseInt(found[1], 10, 64)
	return number, found[2], err == nil
}

// formerly moves to mine those of others that this very sink has written, by
// other partitions or in another format than it has now: what it replaces whole
// would otherwise stand beside the new. Names alone are not believed; the store
// must know the batch as one of the same job.
func (s *Sink) formerly(ctx context.Context, batch engine.ID, index int, mine, others []Existing) (_, left []Existing, err error) {
	if s.Batches == nil {
		return mine, others, nil
	}
	var numbers []int64
	asked := map[int64]bool{}
	for _, e := range others {
		if number, _, ok := partOf(e.Key, index); ok && !asked[number] {
			asked[number] = true
			numbers = append(numbers, number)
		}
	}
	if len(numbers) == 0 {
		return mine, others, nil
	}
	tags, err := s.Batches.Siblings(ctx, batch, numbers)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range others {
		if number, tag, ok := partOf(e.Key, index); ok && tags[number] == tag {
			mine = append(mine, e)
		} else {
			left = append(left, e)
		}
	}
	return mine, left, nil
}
