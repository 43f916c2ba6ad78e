// Package toolname says what a tool is called. One tool has many names: the
// one of its box, the one that lists show, the ones of dialects, and the ways
// to write its box before it. Whoever reads a name that a person typed asks
// here, so that every name that is shown anywhere works everywhere. It stands
// below the core and imports nothing of ours. Its one invariant: what takes
// away goes by every name, what gives goes only by names that no supplier of
// tools can choose.
package toolname

import (
	"path"
	"slices"
	"strings"
)

// Tool is one tool and its names.
type Tool struct {
	Box, Native string
	// Shown are further names that it is shown by: after a rename, an alias or a
	// collision, and in dialects.
	Shown []string
	// Boxes are further names of its box, those of dialects. They mean what the box
	// means.
	Boxes []string
	// Exact are names that it would have if others collided. No pattern means
	// them.
	Exact []string
}

// separator stands between box and tool in the names that lists show.
const separator = "__"

// mcpPrefix begins the names that other programs give to tools of MCP servers.
const mcpPrefix = "mcp__"

// Names lists what the tool answers to, the native name first.
func (t *Tool) Names() []string {
	names := []string{t.Native}
	for _, n := range slices.Concat(t.Shown, t.Exact) {
		names = appendNew(names, n)
	}
	if t.Box == "" {
		return names
	}
	for _, box := range append([]string{t.Box}, t.Boxes...) {
		for _, n := range append([]string{t.Native}, t.Shown...) {
			names = appendNew(names, box+separator+n)
		}
		names = appendNew(names, box+"/"+t.Native)
	}
	return appendNew(names, mcpPrefix+strings.TrimPrefix(t.Box, mcpPrefix)+separator+t.Native)
}

func appendNew(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// Typed is the name by which people are shown a tool that is called shown: one that
// works wherever it is typed, in a rule that allows too. That is the called name, or
// box/tool where an allow by the called name would mean something else or nothing: a
// tool of another host on the bus is called parrot__echo, which in an allow is the tool
// echo of a box parrot. Bare says that an allow by a bare name means tools of this box.
func Typed(shown, box, native string, bare bool) string {
	switch {
	case box == "" || native == "": // it was refused before anybody knew whose it is
		return shown
	case strings.HasPrefix(shown, mcpPrefix) && (shown == native || strings.HasPrefix(shown, box+separator)):
		return box + "/" + native // of a server called mcp: in an allow it would be all tools of another server
	case shown == native && bare && !strings.Contains(native, separator), shown == box+separator+native && !Ambiguous(shown):
		return shown
	case shown == native, strings.HasPrefix(shown, box+separator):
		return box + "/" + native
	}
	return shown // settings or a dialect gave it
}

// Shapes are the forms of one name: those by which a tool that is typed so may have
// been called in its box. Box is empty where the word says none.
func Shapes(word string) (called []string, box string) {
	if rest, ok := FromClient(word); ok && rest != "*" {
		return Shapes(rest)
	}
	rest, mcp := strings.CutPrefix(word, mcpPrefix)
	box, native, ok := strings.Cut(word, "/")
	if !ok {
		box, native, ok = Split(rest)
	}
	if !ok || box == "" || native == "" {
		return []string{word}, ""
	}
	called = []string{native, box + separator + native}
	if mcp {
		called = appendNew(called, word)
	}
	return called, box
}

// OwnServer is the name that clients give to Toolcrib as a server. No other
// server has it.
const OwnServer = "toolcrib"

// FromClient takes off what clients put before the names of all our tools:
// mcp__toolcrib__read_file, toolcrib/read_file. False: the word is not written so.
func FromClient(word string) (string, bool) {
	if word == mcpPrefix+OwnServer {
		return "*", true
	}
	for _, before := range []string{mcpPrefix + OwnServer + separator, OwnServer + separator, OwnServer + "/"} {
		if rest, ok := strings.CutPrefix(word, before); ok && rest != "" {
			return rest, true
		}
	}
	return word, false
}

// Called reports whether a name or pattern may mean the tool: the reading for
// what takes away. A pattern means a name with the box before it only where its
// fixed beginning has the box too, so that f* is not every tool of files.
func (t *Tool) Called(pattern string) bool {
	if pattern == t.Native || slices.Contains(t.Shown, pattern) || slices.Contains(t.Exact, pattern) {
		return true
	}
	if t.named(pattern) {
		return true
	}
	if rest, ok := FromClient(pattern); ok && t.Called(rest) {
		return true
	}
	if box, name, ok := strings.Cut(pattern, "/"); ok {
		return t.in(box) && t.named(name)
	}
	fixed := pattern
	if at := strings.IndexAny(pattern, wild); at >= 0 {
		fixed = pattern[:at]
	}
	if !strings.Contains(fixed, separator) || t.Box == "" {
		return false
	}
	if rest, ok := strings.CutPrefix(pattern, mcpPrefix); ok {
		if !strings.Contains(rest, separator) && t.in(rest) { // every tool of the server
			return true
		}
		if t.joined(rest) {
			return true
		}
		if bare, has := strings.CutPrefix(t.Box, mcpPrefix); has {
			server := Tool{Box: bare, Native: t.Native, Shown: t.Shown}
			if server.joined(rest) || !strings.Contains(rest, separator) && server.in(rest) {
				return true
			}
		}
	}
	return t.joined(pattern)
}

func (t *Tool) in(box string) bool {
	return Match(box, t.Box) || slices.ContainsFunc(t.Boxes, func(b string) bool { return Match(box, b) })
}

func (t *Tool) named(pattern string) bool {
	return Match(pattern, t.Native) || slices.ContainsFunc(t.Shown, func(n string) bool { return Match(pattern, n) })
}

func (t *Tool) joined(pattern string) bool {
	if t.joinedTo(t.Box, pattern) {
		return true
	}
	return slices.ContainsFunc(t.Boxes, func(box string) bool { return t.joinedTo(box, pattern) })
}

func (t *Tool) joinedTo(box, pattern string) bool {
	if Match(pattern, box+separator+t.Native) {
		return true
	}
	return slices.ContainsFunc(t.Shown, func(n string) bool { return Match(pattern, box+separator+n) })
}

// Split cuts box__tool where that can be read in one way only: for what gives,
// a__b__c is nothing, since a server a could offer a tool b__c to be taken for
// the tool c of a__b. The box has no pattern in it.
func Split(word string) (box, name string, ok bool) {
	at := strings.Index(word, separator)
	if at <= 0 || at+len(separator) == len(word) || strings.Contains(word[at+1:], separator) || strings.ContainsAny(word[:at], wild) {
		return "", "", false
	}
	return word[:at], word[at+len(separator):], true
}

// Ambiguous reports whether a word is written as box__tool in more than one way.
func Ambiguous(word string) bool {
	at := strings.Index(word, separator)
	return at > 0 && strings.Contains(word[at+1:], separator)
}

// wild are the signs that make a pattern of a name.
const wild = "*?["

// IsPattern reports whether a name is a pattern.
func IsPattern(name string) bool { return strings.ContainsAny(name, wild) }

// Match compares a name with a pattern: * is any text, ? any one byte, and
// [a-z] one of these.
func Match(pattern, name string) bool {
	if pattern == name || pattern == "*" {
		return true
	}
	if strings.Contains(pattern, "[") {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	}
	if !strings.ContainsAny(pattern, wild) {
		return false
	}
	return Wild(pattern, name)
}

// Wild matches * (any text) and ? (any byte) in one pass: of several stars only
// the last one seen can still take more.
func Wild(pattern, text string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
