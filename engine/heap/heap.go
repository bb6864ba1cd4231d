// Package heap lets the garbage collector come less often while a process has much
// to do. The heap of a server is small, so the collector of Go, which comes when it
// has doubled, came every few milliseconds and took a third of all its time.
package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	most   = 128 << 20 // bytes that may lie about in a busy process before they are collected
	normal = 100       // per cent of what lives, as Go has it
	limit  = 1000
	// rest is how long garbage is let be in a busy process, so long as it is less than
	// most. A process that used new memory all the time would wait for the system to
	// give it, page by page.
	rest = 250 * time.Millisecond
	// quick is how soon after another a collection comes in a busy process. An idle
	// one is collected every two minutes, and gives what it has too much of back to
	// the system then.
	quick = time.Second
)

// Tune changes how often garbage is collected from now on, after each collection
// anew. It is for main programs, once in a process.
func Tune() { watch(time.Now(), use{}) }

// use is how much memory a process has allocated in all, and how much of that lives,
// in bytes.
type use struct{ all, live uint64 }

// token dies with the next collection.
type token struct{ _ [2]uintptr }

// seen is what there was at a collection.
type seen struct {
	at time.Time
	use
}

// watch waits for the next collection.
func watch(at time.Time, is use) {
	runtime.AddCleanup(&token{}, func(last seen) {
		now, is := time.Now(), used()
		debug.SetGCPercent(percent(now.Sub(last.at), is.all-last.all, is.live))
		watch(now, is)
	}, seen{at, is})
}

// percent is how much may be allocated until the next collection, in per cent of
// what lives, after one that came so long after the one before it and found so many
// bytes allocated meanwhile.
func percent(since time.Duration, allocated, live uint64) int {
	if since <= 0 || since > quick || live == 0 {
		return normal
	}
	room := min(float64(allocated)*float64(rest)/float64(since), most)
	return int(min(max(normal, 100*room/float64(live)), limit))
}

// used asks the runtime; what lives is what the last collection has found.
func used() use {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	return use{all: samples[0].Value.Uint64(), live: samples[1].Value.Uint64()}
}
