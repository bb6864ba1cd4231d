// Package bookmark holds the rules of what a job has read: the ledger, the
// plan made from it, and the moves a person can make.
package bookmark

import (
	"context"
	"iter"

	"dogear/engine"
)

// Lister shows what exists in a source right now.
type Lister interface {
	// List yields every object below the source's root in bytewise order of
	// key, those that the source's own glob leaves out too (with Filtered
	// saying why). An error ends the sequence and makes the listing partial.
	List(ctx context.Context, src engine.Source) iter.Seq2[Listed, error]
	// Root is the address that the keys of src are relative to.
	Root(src engine.Source) string
}

// Listed is one object of a listing.
type Listed struct {
	engine.Object
	Filtered string // why the source leaves it out, "" where it does not
	// Whole says that the object got its name when it was complete, so that it
	// need not settle.
	Whole bool
}

// Pages reads and keeps the content-addressed pages of ledgers.
type Pages interface {
	// Page returns the body of a page, or NotFound.
	Page(ctx context.Context, id string) ([]byte, error)
	// PutPages keeps bodies under their ids; one that is there already is left.
	PutPages(ctx context.Context, pages map[string][]byte) error
}
