// Package nodehost carries Toolcrib's Node host: one file that serves the functions
// of a JavaScript file as an MCP server.
//
//	node host.mjs serve --file tools.mjs
//
// The file needs Node 18 or later and nothing else. Whoever starts it writes Source
// to a file first.
package nodehost

import _ "embed" // host.mjs

//go:embed host.mjs
var source string

// Source is the text of host.mjs.
func Source() string { return source }
