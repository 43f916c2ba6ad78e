package pathglob

import (
	"path/filepath"
	"slices"
	"strings"
)

// Elements takes a path apart at its separators.
func Elements(path string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(e string) bool { return e == "" || e == "." })
}

// Within reports whether a path is one of the directories or below one, as this
// system compares names.
func Within(p string, dirs []string) bool {
	for _, d := range dirs {
		if p == d || d == "/" || Inside(p, d) {
			return true
		}
	}
	return false
}
