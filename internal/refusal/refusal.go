// Package refusal is how the handles on files and hosts, which lie under the core,
// say no. The core makes an Error with a Code of it.
package refusal

import "errors"

// The codes of the core, which says what each asks of the caller.
const (
	Invalid     = "invalid"
	NotFound    = "not_found"
	Denied      = "denied"
	Timeout     = "timeout"
	Cancelled   = "cancelled"
	Unavailable = "unavailable"
	Conflict    = "conflict"
	Internal    = "internal"
)

// Codes lists every code once, in a fixed order.
func Codes() []string {
	return []string{Invalid, NotFound, Denied, Timeout, Cancelled, Unavailable, Conflict, Internal}
}

// NoDirectory is what who works on files is told where none was granted.
const NoDirectory = "no directory was granted, so there are no files to work on; start in a project directory (your home directory itself counts for none), or name directories in grant.write and grant.read"

// CutOff is what is told of a program on a layer that was ended before it was ready:
// what it had changed by then is half of something.
const CutOff = "the command was cut off before it had ended, so nothing that it changed was applied"

// Error is what a handle refused.
type Error struct {
	Code    string
	Tool    string // for which it was refused; empty: whoever has the handle
	Message string // fit for a model
	Err     error  // the cause, for the log only
}

// New makes an Error for whoever has the handle.
func New(code, message string, cause error) *Error {
	return &Error{Code: code, Message: message, Err: cause}
}

// Error gives the same text as an error of the core.
func (e *Error) Error() string {
	if e.Tool != "" {
		return e.Code + ": " + e.Tool + ": " + e.Message
	}
	return e.Code + ": " + e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is tells whether err is a refusal with this code.
func Is(err error, code string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}
