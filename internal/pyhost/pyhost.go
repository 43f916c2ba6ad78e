// Package pyhost carries Toolcrib's Python host: one file that serves Python
// functions and the tools of Python libraries as an MCP server.
//
// The file needs Python 3.9 or later and nothing else. Whoever starts it writes Source
// to a file first.
package pyhost

import _ "embed" // host.py

//go:embed host.py
var source string

// Source is the text of host.py.
func Source() string { return source }
