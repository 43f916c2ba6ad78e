package seal

import "path/filepath"

// OfState opens what seals the files in a directory of state that decide something:
// which projects are trusted, and which definitions of MCP servers were approved.
// With write it is made if it is missing. Where there are traces of earlier use,
// seals that are missing were removed, or were never made by an older version: then
// nothing is taken for seen first.
func OfState(state string, write bool) (*Box, error) {
	dir := filepath.Join(state, "seal")
	if !write {
		return Look(dir)
	}
	return Open(dir, Traces(state, "journal-key/public.pem", "trust.json", "hub/pins-*.json", "hub/manifest-*.json", "openapi/pins-*.json"))
}
