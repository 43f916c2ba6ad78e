// Package settling has what the core tells of changes of a program that were not applied,
// or wait. The core imports it. It knows no rules.
package settling

import (
	"errors"
	"fmt"
)

// NotApplied begins what the caller is told of changes that were not applied.
const NotApplied = "Nothing that the command changed was applied: "

// Waits tells of changes that nobody has answered for, and what they are called.
func Waits(name string, session bool) string {
	told := fmt.Sprintf("The changes wait for an answer as layer %[1]s, for seven days. A person settles them with 'toolcrib layers apply %[1]s' or 'toolcrib layers drop %[1]s', or by an answer when the same command is run again", name)
	if session {
		told += ". The next command of this session sees them"
	}
	return told
}

// StillWaits tells that what earlier programs left is not dropped with what this one did;
// nothing if they left nothing.
func StillWaits(name string) string {
	if name == "" {
		return ""
	}
	return ". Layer " + name + " still waits for an answer"
}

// Dropped tells what a refusal of a person has dropped besides: the layer that waited
// before, unless that is there now.
func Dropped(before, now string) string {
	if before == "" || now != "" {
		return StillWaits(now)
	}
	return ". What earlier commands of this session had left as layer " + before + " was part of it, and is dropped as well"
}

// Open tells whether a question whose asking failed can still be answered.
func Open(err error) bool {
	waits, ok := errors.AsType[interface {
		error
		Waits() bool
	}](err)
	return ok && waits.Waits()
}

// Distinct is a list without those that have the key of one before.
func Distinct[T any, K comparable](all []T, key func(T) K) []T {
	var out []T
	seen := map[K]bool{}
	for _, v := range all {
		if k := key(v); !seen[k] {
			seen[k], out = true, append(out, v)
		}
	}
	return out
}
