package app

import (
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/seal"
)

// OpenSeals opens what seals the files that decide something: which projects are
// trusted, and which definitions of MCP servers were approved. With write it is
// made if it is missing. Where there are traces of earlier use, seals that are missing
// were removed, or were never made by an older version: then nothing is taken for
// seen first.
func OpenSeals(state string, write bool) (*seal.Box, error) {
	dir := filepath.Join(state, "seal")
	if !write {
		return seal.Look(dir)
	}
	return seal.Open(dir, seal.Traces(state, "journal-key/public.pem", "trust.json", "hub/pins-*.json", "hub/manifest-*.json"))
}
