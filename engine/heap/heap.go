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
	room   = 128 << 20 // bytes that may lie about in a busy process before they are collected
	normal = 100       // per cent of what lives, as Go has it
	most   = 1000
	// quick is how soon after another a collection comes in a busy process. An idle
	// one is collected every two minutes, and gives what it has too much of back to
	// the system then.
	quick = time.Second
)

// Tune changes how often garbage is collected from now on, after each collection
// anew. It is for main programs, once in a process.
func Tune() { watch(time.Now()) }

// token dies with the next collection.
type token struct{ _ [2]uintptr }

// watch waits for the next collection.
func watch(last time.Time) {
	runtime.AddCleanup(&token{}, func(last time.Time) {
		now := time.Now()
		debug.SetGCPercent(percent(now.Sub(last), live()))
		watch(now)
	}, last)
}

// percent is how much may be allocated until the next collection, in per cent of
// what lives, after one that came so long after the one before it.
func percent(since time.Duration, live uint64) int {
	if since > quick || live == 0 {
		return normal
	}
	return int(min(max(normal, 100*room/live), most))
}

// live is how many bytes the last collection has found to be in use.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
