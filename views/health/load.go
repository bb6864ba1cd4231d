package health

import (
	"fmt"

	"dogear/engine"
	"dogear/views/show"
)

func slotWords(b Busy) string {
	switch {
	case b.Working >= b.Slots:
		return "All at work; --slots says how many there are."
	case b.Working == 0:
		return "Nothing works at the moment."
	}
	return fmt.Sprintf("%d free on this server.", b.Slots-b.Working)
}

func waitWords(b Busy) string {
	if b.Waiting == 0 {
		return "Everything that is ready works."
	}
	return "Ready, and waiting for a slot, a pool or a target. Each card says which."
}

func diskHue(b Busy) string {
	if b.Tight() {
		return "warn"
	}
	return "ok"
}

func diskWords(b Busy) string {
	of := engine.Bytes(b.Disk-b.Free) + " of " + engine.Bytes(b.Disk) + " are not free."
	if b.Tight() {
		return of + " Nearly full: free some space, or move the data folder."
	}
	return of
}

func databaseWords(b Busy) string {
	if b.Shared {
		return "PostgreSQL, with all runs and bookmarks."
	}
	return "SQLite, with all runs and bookmarks."
}

func listenWords(b Busy) string {
	if len(b.Listeners) == 0 {
		return "None is published."
	}
	words := "listening"
	if off := len(b.Listeners) - b.listens(); off > 0 {
		words += fmt.Sprintf(", %d off", off)
	}
	if deaf := b.deaf(); deaf > 0 {
		words += fmt.Sprintf("; the last look of %d failed", deaf)
	}
	if n := b.events(); n > 0 {
		words += ", " + show.Many(int64(n), "event") + " waiting for a run"
	}
	return words + "."
}

func brokenWords(h engine.Health) string { return show.Many(broken(h), "rule") + " broken" }
