// Package backtrack matches patterns with look-around and back references, which
// package regexp does not have. Such an engine can take for ever on a text made for
// it, so every match has its time.
//
// The search in files uses it, and the schema engine for the patterns of other
// people's tools. It imports nothing of ours.
//
// Its one invariant: Match ends, whatever the pattern and the text.
package backtrack

import (
	"errors"
	"fmt"
	"time"

	"github.com/dlclark/regexp2"
)

// ErrSlow tells that a match has used up its time: nobody knows whether it fits.
var ErrSlow = errors.New("the pattern takes too long on this text")

// Pattern is a compiled pattern. It may be used by many at once.
type Pattern struct{ re *regexp2.Regexp }

// longest bounds the text of a pattern: the engine reads it by recursion.
const longest = 16 << 10

// Perl reads a pattern as Python and Perl write them.
func Perl(pattern string, limit time.Duration) (*Pattern, error) {
	// The library's RE2 mode is Python's way of naming groups and such; what it
	// cannot read may still be Perl's.
	return compile(pattern, limit, regexp2.RE2, regexp2.None)
}

// JavaScript reads a pattern as JSON Schema has them.
func JavaScript(pattern string, limit time.Duration) (*Pattern, error) {
	// Property classes such as \p{L} are of its newer form, which is the other mode.
	return compile(pattern, limit, regexp2.ECMAScript, regexp2.ECMAScript|regexp2.Unicode)
}

func compile(pattern string, limit time.Duration, modes ...regexp2.RegexOptions) (_ *Pattern, err error) {
	if len(pattern) > longest {
		return nil, fmt.Errorf("the pattern has more than %d bytes", longest)
	}
	var re *regexp2.Regexp
	for _, mode := range modes {
		if re, err = regexp2.Compile(pattern, mode); err == nil {
			re.MatchTimeout = limit
			return &Pattern{re}, nil
		}
	}
	return nil, err
}

// Match says whether the pattern fits somewhere in a text.
func (p *Pattern) Match(text []byte) (bool, error) {
	ok, err := p.re.MatchString(string(text))
	if err != nil { // the only one there is
		return false, ErrSlow
	}
	return ok, nil
}
