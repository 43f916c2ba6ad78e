// Package pyhost carries Toolcrib's Python host: one file that serves Python
// functions and the tools of Python libraries as an MCP server.
//
// The file needs Python 3.9 or later and nothing else. Whoever starts it
// writes Source to a file first; Hash tells whether a written copy is current.
package pyhost

import (
	"crypto/sha256"
	_ "embed" // host.py
	"encoding/hex"
)

//go:embed host.py
var source string

// Source is the text of host.py.
func Source() string { return source }

// Hash is the SHA-256 of Source, in hexadecimal.
func Hash() string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:])
}
