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
