package cli

import (
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib"
)

// The exit statuses that are not a code's.
const (
	exitDone   = 0
	exitFailed = 1 // the tool ran and failed, or a check found something
	exitUsage  = 2
)

// exitOf is this frontend's table from Code to wire.
func exitOf(code toolcrib.Code) (status int, ok bool) {
	switch code {
	case toolcrib.CodeInvalid:
		return 3, true
	case toolcrib.CodeNotFound:
		return 4, true
	case toolcrib.CodeDenied:
		return 5, true
	case toolcrib.CodeTimeout:
		return 6, true
	case toolcrib.CodeUnavailable:
		return 7, true
	case toolcrib.CodeConflict:
		return 8, true
	case toolcrib.CodeInternal:
		return 9, true
	case toolcrib.CodeCancelled:
		return 130, true // as shells have it after ctrl-C
	}
	return 9, false
}

func exitStatus(err error) int {
	if isUsage(err) {
		return exitUsage
	}
	if _, ok := errors.AsType[failed](err); ok {
		return exitFailed
	}
	if _, ok := errors.AsType[badConfig](err); ok {
		return exitUsage
	}
	if s, ok := errors.AsType[silent](err); ok {
		return s.status
	}
	if s, ok := errors.AsType[silentWith](err); ok {
		return s.status
	}
	status, _ := exitOf(toolcrib.CodeOf(err))
	return status
}

// usageError is a command line that makes no sense.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usage(err error) error                   { return usageError{err} }
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func isUsage(err error) bool {
	_, ok := errors.AsType[usageError](err)
	return ok
}

// badConfig is a configuration that cannot be used: as a wrong flag would be.
type badConfig struct{ error }

func (b badConfig) Error() string { return "config: " + b.error.Error() }
func (b badConfig) Unwrap() error { return b.error }

// failed is a tool that ran and failed, or a check that found something.
type failed struct{ error }

func (f failed) Error() string { return "failed: " + f.error.Error() }
func (f failed) Unwrap() error { return f.error }

// silent ends the program with a status after everything was said.
type silent struct {
	error
	status int
}

func (s silent) Error() string { return fmt.Sprintf("exit status %d", s.status) }
