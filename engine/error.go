package engine

import (
	"errors"
	"fmt"
)

// Code is the kind of a failure. Each way in (pages, wire API, command line)
// maps a code to its own words once; nothing else looks at error text.
type Code string

// The codes.
const (
	Internal  Code = "internal"  // a bug or a broken disk; the cause is logged, never shown
	Invalid   Code = "invalid"   // the caller's input is wrong
	NotFound  Code = "not_found" // no such thing, or not visible to this user
	Conflict  Code = "conflict"  // the thing changed since the caller read it
	Forbidden Code = "forbidden" // known user, missing permission
	LimitHit  Code = "limit"     // a quota or concurrency limit is full
	Away      Code = "away"      // the database does not answer; nothing was changed
)

// Codes lists the codes, for whoever must have a word for each.
func Codes() []Code { return []Code{Internal, Invalid, NotFound, Conflict, Forbidden, LimitHit, Away} }

// Error is a failure that a user may read. Message is a whole sentence.
type Error struct {
	Code    Code
	Message string
	Err     error // the cause, for logs
}

// Errorf makes an Error. A cause is attached with %w as in fmt.Errorf.
func Errorf(code Code, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of err: "" for nil, Internal for an error that is
// not ours.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if ours, ok := errors.AsType[*Error](err); ok {
		return ours.Code
	}
	return Internal
}

// MessageOf returns the sentence of err that a user may read. An error that is
// not ours has none: its text may hold what a user must not see.
func MessageOf(err error) string {
	if ours, ok := errors.AsType[*Error](err); ok && ours.Code != Internal {
		return ours.Message
	}
	return "Something went wrong inside Dogear. The server's log has the details."
}
