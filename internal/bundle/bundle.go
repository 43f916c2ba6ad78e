// Package bundle reads packages of skills, MCP servers, agents and memory templates,
// whatever program they were made for, into one form. It runs nothing and writes
// nothing: what a package wants is said here, and whether it gets that is for a person
// to say. Who installs packages, and who shows what they add, imports it.
//
// The invariant: nothing outside of the package is read, and no name or path that it
// gives leads out of a folder.
package bundle

import "io/fs"

// Package is a package in our form.
type Package struct {
	Format      string   `json:"format"` // which files it was known by, one of Formats
	Name        string   `json:"name"`
	Version     string   `json:"version,omitempty"` // empty: it has none of its own
	Description string   `json:"description,omitempty"`
	Author      string   `json:"author,omitempty"`
	License     string   `json:"license,omitempty"`
	Homepage    string   `json:"homepage,omitempty"`
	Skills      []Skill  `json:"skills,omitempty"`
	Servers     []Server `json:"servers,omitempty"`
	Agents      []Agent  `json:"agents,omitempty"`
	Memory      []Memory `json:"memory,omitempty"`
	// Asks is what a person has to give before it works: keys, directories, choices.
	Asks []Ask `json:"asks,omitempty"`
	// Inert is what it has besides and what is not run here, such as hooks.
	Inert []Inert `json:"inert,omitempty"`
	// Notes is what was odd or left out, and why.
	Notes []Note `json:"notes,omitempty"`
}

// Skill is a folder with a SKILL.md.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Dir is its folder in the package, with slashes; "." is the package itself.
	Dir string `json:"dir"`
	// AllowedTools is what its author expects to be allowed. It allows nothing.
	AllowedTools []string `json:"allowed_tools,omitempty"`
}

// Server is an MCP server: a command that is started, or an address.
type Server struct {
	Name    string            `json:"name"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Dir     string            `json:"dir,omitempty"`
	URL     string            `json:"url,omitempty"`
	SSE     bool              `json:"sse,omitempty"` // the address speaks the older transport
	Headers map[string]string `json:"headers,omitempty"`
	// Launcher is what fetches the program when it is started (npx, uvx, docker, …), Fetches
	// what, and Floating that this may be another thing tomorrow.
	Launcher string `json:"launcher,omitempty"`
	Fetches  string `json:"fetches,omitempty"`
	Floating bool   `json:"floating,omitempty"`
}

// What stands in texts of servers for places that are known only where the package is
// installed.
const (
	Root = "${PACKAGE_ROOT}" // the folder of the package, as installed
	Data = "${PACKAGE_DATA}" // a folder of its own, kept over updates
)

// Agent is a preset that it brings, in a file.
type Agent struct {
	Name         string   `json:"name"`
	File         string   `json:"file"`
	Instructions string   `json:"instructions,omitempty"`
	Model        string   `json:"model,omitempty"`
	Tools        []string `json:"tools,omitempty"` // what its author expects; it allows nothing
}

// Memory is a template for memory, a Markdown file.
type Memory struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// Ask is something that a person has to give. Servers refer to it as ${ask:NAME}.
type Ask struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Secret      bool   `json:"secret,omitempty"`
	Required    bool   `json:"required,omitempty"`
	Default     string `json:"default,omitempty"`
	Many        bool   `json:"many,omitempty"` // several may be given, with commas between
}

// Inert is a part that is recorded and shown, and never run.
type Inert struct {
	Kind string `json:"kind"` // hooks, commands, lsp, …
	Path string `json:"path"`
}

// Note is something about a part.
type Note struct {
	Path string `json:"path,omitempty"`
	Text string `json:"text"`
}

// Needs is what reading takes besides the files.
type Needs struct {
	// Name is what a package without a name of its own is called, such as the folder that
	// it came from.
	Name string
	// YAML decodes it; nil: formats in YAML cannot be read.
	YAML func(text []byte, into any) error
	// Skill says what a SKILL.md in a folder of a name says of itself.
	Skill func(folder string, text []byte) (Skill, []Note, error)
}

// Files is a package as it lies somewhere: only regular files and folders count, and
// links are not followed.
type Files = fs.FS
