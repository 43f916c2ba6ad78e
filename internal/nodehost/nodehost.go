// Package nodehost carries Toolcrib's Node host: one file that serves the functions
// of a JavaScript file as an MCP server.
//
//	node host.mjs serve --file tools.mjs
//
// The file needs Node 18 or later and nothing else. Whoever starts it writes Source
// to a file first; Hash tells whether a written copy is current.
package nodehost

import (
	"crypto/sha256"
	_ "embed" // host.mjs
	"encoding/hex"
)

//go:embed host.mjs
var source string

// Source is the text of host.mjs.
func Source() string { return source }

// Hash is the SHA-256 of Source, in hexadecimal.
func Hash() string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:])
}
