package seal

import (
	"os"
	"path/filepath"
)

// Traces reports whether a directory has a file of one of these patterns.
func Traces(dir string, patterns ...string) bool {
	for _, trace := range patterns {
		// Only a bad pattern is an error.
		if found, _ := filepath.Glob(filepath.Join(escaped(dir), filepath.FromSlash(trace))); len(found) > 0 {
			return true
		}
	}
	return false
}

// escaped makes a path one that a pattern takes as it is.
func escaped(path string) string {
	var out []byte
	for i := range len(path) {
		if c := path[i]; !os.IsPathSeparator(c) && (c == '*' || c == '?' || c == '[' || c == '\\') {
			out = append(out, '\\')
		}
		out = append(out, path[i])
	}
	return string(out)
}
