package clientfiles

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The transports of a Server.
const (
	Stdio = "stdio"
	HTTP  = "http" // streamable HTTP
	SSE   = "sse"  // HTTP with server-sent events, as before 2025-03-26
)

// Server is one MCP server, as every client's file is read to be.
type Server struct {
	Name    string
	Command string // empty: a remote one
	Args    []string
	Env     map[string]string
	Cwd     string
	URL     string
	// Transport is Stdio, HTTP or SSE. Empty, with a URL, means that the file
	// does not say: streamable HTTP is tried first and SSE after it.
	Transport     string
	Headers       map[string]string
	OAuth         Login
	Timeout       time.Duration // of one call; 0: the file does not say
	EnabledTools  []string      // empty: all
	DisabledTools []string
	Agents        []string // the agents that get it (AgenticX); empty: all
	Disabled      bool
	Source        string   // the client's name
	Project       string   // the directory a client keeps it for (Claude Code's local scope); empty: not said in the file
	Notes         []string // what was changed on the way
	Dropped       []string // keys of the file that are not taken over, and why
}

// Problem is a server, or a whole file, that was not read.
type Problem struct {
	Server string // empty: the file
	Line   int    // 0: not known
	Text   string
	// Skipped says that nothing is wrong: the entry is not a server that could
	// be taken over, such as an extension built into the client.
	Skipped bool
}

// String gives the problem in one line.
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", p.Line)
	}
	if p.Server != "" {
		fmt.Fprintf(&b, "server %s: ", p.Server)
	}
	return b.String() + p.Text
}

// YAML decodes a text into what the pointer points to. The library that does
// so has one home, which is not here.
type YAML func(text []byte, into any) error

// Codec reads and edits files. The zero value works for every client but
// Goose and Continue, whose settings are YAML.
type Codec struct {
	YAML YAML
	// Home and Project stand in for ${userHome} and ${workspaceFolder}. Empty:
	// these become ${HOME} and ${PWD}, with a note.
	Home, Project string
	// Exists reports whether a path is a file. It is asked only whether a
	// command with spaces in it, or its first word, is a file. Nil, or where
	// neither is one: judged by its look, and refused if that does not tell.
	Exists func(path string) bool
}

const (
	maxText    = 16 << 20 // Claude Code keeps its history in the same file
	maxServers = 2000
	maxNames   = 2000 // in one list of tools or agents
	maxName    = 128
	maxShown   = 60
)

// checkName refuses names that could not be shown or kept as a key.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the server has no name")
	case len(name) > maxName:
		return fmt.Errorf("its name has %d bytes; at most %d are taken", len(name), maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("its name is not UTF-8")
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("its name has characters that cannot be shown")
		}
	}
	return nil
}

// show gives a key or name from a file for a message: quoted if it is not
// plain, and cut if it is long.
func show(name string) string {
	if len(name) > maxShown {
		name = strings.ToValidUTF8(name[:maxShown], "") + "…"
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:@…", r) {
			return fmt.Sprintf("%q", name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}
