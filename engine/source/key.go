package source

import (
	"strings"

	"dogear/engine"
)

// Key is the key under which List names the object o of a bucket, which is
// relative to the root of src; not ok where src does not reach it or leaves it
// out.
func (s *Source) Key(src engine.Source, bucket string, o engine.Object) (key string, ok bool, err error) {
	at, err := s.place(src)
	if err != nil {
		return "", false, err
	}
	key, below := strings.CutPrefix(o.Key, at.Root)
	if !at.S3() || at.Bucket != bucket || !below || key == "" || strings.HasPrefix(key, engine.OwnFolder+"/") {
		return "", false, nil
	}
	sieve, err := newSieve(at.Glob, src.Options.Exclude)
	if err != nil {
		return "", false, err
	}
	o.Key = key
	return key, sieve.why(o) == "", nil
}
