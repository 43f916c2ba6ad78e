package partial

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Droppable tells whether everything that is denied is new and can be left out, with the
// rest applied.
func (s Set) Droppable(denied map[string]bool) bool {
	for _, c := range s {
		if c.From != "" && (denied[c.Path] || denied[c.From]) {
			return false // both halves of a move stay together
		}
		if denied[c.Path] && (c.Was != Nothing || c.From != "" || c.Moved) {
			return false // what was there before is deleted, or lies in there
		}
	}
	return true
}

// Told says in one sentence what is applied.
func (s Set) Told(taken map[string]bool) string {
	const most = 20
	var paths []string
	count := 0
	for _, c := range s {
		if !taken[c.Path] || c.Unsaid {
			continue
		}
		what := c.Meaning
		if what == "" {
			what = c.Word() + " " + c.Path
		}
		if count++; count <= most {
			paths = append(paths, what)
		}
	}
	if count > most {
		paths = append(paths, fmt.Sprintf("and %d more", count-most))
	}
	said := "1 change is applied: "
	if count != 1 {
		said = fmt.Sprintf("%d changes are applied: ", count)
	}
	return said + strings.Join(paths, ", ")
}

// Left says which paths are not applied, the outermost of each directory; empty: all are.
func (s Set) Left(taken map[string]bool) string {
	const most = 10
	var paths []string
	left := map[string]bool{}
	count := 0
	for _, c := range s {
		if taken[c.Path] {
			continue
		}
		left[c.Path] = true
		if within(left, filepath.Dir(c.Path)) {
			continue
		}
		if count++; count <= most {
			paths = append(paths, c.Path)
		}
	}
	if count > most {
		paths = append(paths, fmt.Sprintf("and %d more", count-most))
	}
	return strings.Join(paths, ", ")
}

// First joins some reasons, and counts the others.
func First(reasons []string, most int) string {
	if more := len(reasons) - most; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(reasons[:most], "; "), more)
	}
	return strings.Join(reasons, "; ")
}

// Named makes paths of what a person typed: absolute ones as they are, others below one
// of the directories, where something was changed.
func (s Set) Named(typed, dirs []string) []string {
	var out []string
	for _, name := range typed {
		if filepath.IsAbs(name) {
			out = append(out, filepath.Clean(name))
			continue
		}
		full := name
		for _, dir := range dirs {
			if at := filepath.Join(dir, name); full == name || !s.has(full) {
				full = at
			}
		}
		out = append(out, full)
	}
	return out
}

// Most is how much of a content is looked at in parts of at most length bytes.
func Most(length int64) int64 { return mostParts * length }

// Part is a part of the content of a file.
type Part struct{ From, Length int64 }

// Content is judged in parts: each is as long as an input may be, and has some of the one
// before in it, so that nothing is found in neither.
const (
	partOverlap = 64 << 10
	mostParts   = 16
)

// Parts cuts a content of a size into parts of at most length bytes. If there are too
// many, it says what is not looked at.
func Parts(size, length int64) (parts []Part, why string) {
	for from := int64(0); ; from += length - min(partOverlap, length/2) {
		if len(parts) == mostParts {
			return parts, fmt.Sprintf("it has %d bytes, of which only the first %d were looked at", size, parts[len(parts)-1].From+length)
		}
		parts = append(parts, Part{from, min(length, size-from)})
		if from+length >= size {
			return parts, ""
		}
	}
}
