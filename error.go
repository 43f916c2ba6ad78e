package toolcrib

import (
	"context"
	"errors"
	"strings"

	"github.com/toolcrib/toolcrib/internal/refusal"
)

// Code says why a call was refused. The set is closed: every frontend has one
// table from Code to its own wire form, and a test checks that it is complete.
type Code string

// The codes, with what each asks of the caller.
const (
	CodeInvalid     Code = refusal.Invalid     // the input does not fit the contract: mend it
	CodeNotFound    Code = refusal.NotFound    // no such tool for this caller: list the tools
	CodeDenied      Code = refusal.Denied      // a guard or a person said no: do not repeat it
	CodeTimeout     Code = refusal.Timeout     // time ran out
	CodeCancelled   Code = refusal.Cancelled   // the caller gave up or went away
	CodeUnavailable Code = refusal.Unavailable // something needed is missing now: try later
	CodeConflict    Code = refusal.Conflict    // this call ID stands for another call, or one without a result
	CodeInternal    Code = refusal.Internal    // our fault or the tool's: a panic, a broken output
)

// Error is a refused call. A tool that ran and failed is not an Error but a
// [Result] with Failed set.
type Error struct {
	Code    Code
	Tool    string
	Message string       // fit for a model: what is wrong and what to do
	Fields  []FieldError // for Invalid: every bad field
	Err     error        // the cause, for the log only
}

// FieldError is one field that breaks one rule of a schema.
type FieldError struct {
	Path    string `json:"path"` // such as items[2].name; empty for the whole input
	Rule    string `json:"rule"` // the schema keyword
	Message string `json:"message"`
}

// Error gives the code, the tool and the message, never the cause: what ends
// up in front of a model must not carry paths and addresses of this machine.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	if e.Tool != "" {
		b.WriteString(": ")
		b.WriteString(e.Tool)
	}
	if e.Message != "" {
		b.WriteString(": ")
		b.WriteString(e.Message)
	}
	return b.String()
}

// Unwrap gives the cause, so that errors.Is(err, context.Canceled) works.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf gives the code of err: empty for nil, and Internal for an error that
// is not ours, so that a foreign text never decides how a caller is answered.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := AsError(err); ok {
		return e.Code
	}
	return CodeInternal
}

// AsError finds the refusal in err: an *Error, or what a handle on files or hosts
// has refused. It is not to be changed.
func AsError(err error) (*Error, bool) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e, true
	}
	if e, ok := errors.AsType[*refusal.Error](err); ok {
		return &Error{Code: Code(e.Code), Tool: e.Tool, Message: e.Message, Err: e.Err}, true
	}
	return nil, false
}

// refuse makes the Error of one step.
func refuse(code Code, tool, message string, cause error) *Error {
	return &Error{Code: code, Tool: tool, Message: message, Err: cause}
}

// overdue turns the end of a context into a refusal; the two ways a context
// ends have codes of their own because only one of them is the tool's fault.
func overdue(tool, doing string, cause error) *Error {
	if errors.Is(cause, context.Canceled) {
		return refuse(CodeCancelled, tool, "cancelled by the caller while "+doing, cause)
	}
	return refuse(CodeTimeout, tool, "time ran out while "+doing, cause)
}
