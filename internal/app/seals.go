package app

import (
	"os"
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/seal"
)

// OpenSeals opens what seals the files that decide something: which projects are
// trusted, and which definitions of MCP servers were approved. With write it is
// made if it is missing.
func OpenSeals(state string, write bool) (*seal.Box, error) {
	dir := filepath.Join(state, "seal")
	if !write {
		return seal.Look(dir)
	}
	return seal.Open(dir, inUse(state))
}

// inUse reports whether there are traces of earlier use, so that seals that are
// missing were removed, or were never made by an older version: then nothing is
// taken for seen first.
func inUse(state string) bool {
	for _, trace := range []string{"journal-key/public.pem", "trust.json", "hub/pins-*.json", "hub/manifest-*.json"} {
		// Only a bad pattern is an error.
		if found, _ := filepath.Glob(filepath.Join(escaped(state), filepath.FromSlash(trace))); len(found) > 0 {
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
