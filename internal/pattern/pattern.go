// Package pattern holds regular expressions that are compiled when they are first
// used. A program that is started for one call, as a hook of a client is, needs few of
// them, and would compile them all before its first line runs. Ground floor: anybody may
// import it. A pattern never changes; TestPatterns in the root package compiles every
// one that is written down.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression. Of makes one.
type Pattern struct{ compiled func() *regexp.Regexp }

// Of is a pattern by its text. One that cannot be read panics at its first use.
func Of(text string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// Regexp is the compiled expression.
func (p *Pattern) Regexp() *regexp.Regexp { return p.compiled() }

// MatchString reports whether the text has a match.
func (p *Pattern) MatchString(text string) bool { return p.compiled().MatchString(text) }
