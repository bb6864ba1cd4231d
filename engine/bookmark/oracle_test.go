package bookmark_test

import (
	"maps"
	"slices"

	"dogear/engine"
)

// version is what an oracle knows at one version of the bookmark.
type version struct {
	read     map[string]string // which content of which key counts as read
	reopened map[string]bool   // to be read again, by a person
	held     map[string]bool   // not to be read, by a person
}

func (v version) clone() version {
	return version{maps.Clone(v.read), maps.Clone(v.reopened), maps.Clone(v.held)}
}

func beginning() version {
	return version{map[string]string{}, map[string]bool{}, map[string]bool{}}
}

// drop forgets what is not in the source any more, and says whether it did.
// Should it come back, it is new.
func (v version) drop(objects map[string]engine.Object) (dropped bool) {
	absent := func(key string) bool {
		_, there := objects[key]
		dropped = dropped || !there
		return !there
	}
	maps.DeleteFunc(v.read, func(key, _ string) bool { return absent(key) })
	maps.DeleteFunc(v.reopened, func(key string, _ bool) bool { return absent(key) })
	maps.DeleteFunc(v.held, func(key string, _ bool) bool { return absent(key) })
	return dropped
}

func (v version) mark(objects map[string]engine.Object, keys []string) {
	for _, key := range keys {
		v.read[key] = objects[key].ETag
		delete(v.reopened, key)
	}
}

// oracle says what must be read by keeping everything in plain maps.
type oracle struct {
	versions []version
	paused   bool
	path     string // of the source
	madeFor  string // the path the bookmark was made for; "" before there is one
	open     *open
	// rows is how often the content of each file must stand in a target that
	// appends.
	rows map[string]int
}

// open is an attempt that has not ended, and whose server may have died.
type open struct {
	seen      map[string]engine.Object // the listing of its plan
	due       []string
	read      []string // of due, what was unchanged when it was read
	moves     bool
	at        int // the version of its plan
	path      string
	committed bool
}

func (o *oracle) now() version { return o.versions[len(o.versions)-1] }

// asks reports a source that is not the one the bookmark was made for.
func (o *oracle) asks() bool { return o.madeFor != "" && o.madeFor != o.path }

// due lists what a run must read: what is there, does not count as read and is
// not held, the oldest first where there is a limit.
func (o *oracle) due(objects map[string]engine.Object, limit int) []string {
	var all []engine.Object
	for key, object := range objects {
		if o.now().read[key] != object.ETag && !o.now().held[key] {
			all = append(all, object)
		}
	}
	slices.SortFunc(all, func(a, b engine.Object) int {
		if a.ModNS != b.ModNS {
			return int(a.ModNS - b.ModNS)
		}
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	var keys []string
	for i, object := range all {
		if limit > 0 && i == limit {
			break
		}
		keys = append(keys, object.Key)
	}
	slices.Sort(keys)
	return keys
}

// advance makes the version after the commit of an attempt, if there is one.
// It returns false where the bookmark has moved since the plan was made.
func (o *oracle) advance(p *open) bool {
	next := o.versions[p.at].clone()
	moved := next.drop(p.seen) || len(p.read) > 0
	if !moved || !p.moves || o.paused {
		return true
	}
	if p.at != len(o.versions)-1 {
		return false
	}
	next.mark(p.seen, p.read)
	o.versions, o.madeFor = append(o.versions, next), p.path
	return true
}

// publish adds the rows of a committed attempt to the target, once.
func (o *oracle) publish(p *open) {
	for _, key := range p.read {
		o.rows[content(p.seen[key])]++
	}
	o.open = nil
}
