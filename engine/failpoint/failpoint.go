// Package failpoint marks the moments between two durable steps. In a server
// that was built with the tag failpoints a test ends the process at one of them
// and sees whether the next server goes on as if nothing had happened; in every
// other build a mark is nothing.
package failpoint
