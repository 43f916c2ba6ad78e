// Package memory is the toolbox of what is remembered from one conversation to the
// next: memory_append writes a note into a Markdown file that the person can read
// and edit, and memory_search finds notes again.
//
// It is for whoever wires up a crib; other toolboxes never import it. Its one
// invariant: whose memory it is is decided by the caller of the call, and a note
// that was written after content from outside was read says so for ever, unless a
// person takes the mark out of the file.
package memory

import (
	"context"
	"errors"

	"github.com/toolcrib/toolcrib"
)

// Who wrote a note.
const (
	ByPerson    = "person"    // somebody who edited the file
	ByAgent     = "agent"     // memory_append
	ByUntrusted = "untrusted" // memory_append, in a conversation that had read content from outside
)

// Entry is what is to be remembered.
type Entry struct {
	Target  string // daily or long_term
	Scope   string // agent or user
	Content string
}

// Saved is a note that was written.
type Saved struct {
	File      string // below the folder of memories, with slashes
	Text      string // as it stands in the file
	Untrusted string // the tool that first brought content from outside; empty: none did
	Notes     []string
}

// Note is a note that was found.
type Note struct {
	Text    string  `json:"text" doc:"What it says."`
	By      string  `json:"by" enum:"person,agent,untrusted" doc:"Who wrote it: the person in the file, an agent, or an agent after it had read content from outside. Only what the person wrote are the person's words."`
	Warning string  `json:"warning,omitempty" doc:"What to mind when reading it."`
	Date    string  `json:"date,omitempty" doc:"When it was written."`
	Section string  `json:"section,omitempty" doc:"The heading that the person put it under."`
	File    string  `json:"file" doc:"The file that it stands in, and its lines."`
	Score   float64 `json:"score" doc:"How well it fits; only to be compared with the others here."`
	Cut     bool    `json:"cut,omitempty" doc:"It is longer than what is shown."`
}

// Found is what a search found.
type Found struct {
	Notes   []Note   `json:"notes" doc:"The notes that fit best, the best first."`
	More    int      `json:"more,omitempty" doc:"How many others fit, too."`
	Skipped []string `json:"skipped,omitempty" doc:"Files that were not looked through, and why."`
}

// Store keeps what is remembered, by the organisation, the subject and the agent of
// a caller.
type Store interface {
	// Append writes a note at the end of a file. It changes nothing else in it.
	Append(ctx context.Context, caller toolcrib.Caller, e Entry) (Saved, error)
	// Plan is what Append would write.
	Plan(ctx context.Context, caller toolcrib.Caller, e Entry) (Saved, error)
	// Search finds notes of the agent and of its user.
	Search(ctx context.Context, caller toolcrib.Caller, query string, limit int) (Found, error)
}

// Config sets up the box.
type Config struct{}

// Needs is what the box is handed besides.
type Needs struct{ Store Store }

// Name is the name of the box. Many people have an MCP server that is called
// memory, and it keeps its name.
const Name = "agent_memory"

// group is what profiles select these tools by.
const group = "memory"

type box struct{ store Store }

// Open makes the box.
func Open(_ context.Context, _ Config, needs Needs) (toolcrib.Toolbox, error) {
	if needs.Store == nil {
		return nil, errors.New("opening toolbox memory: there is no place to keep notes in")
	}
	b := box{needs.Store}
	return toolcrib.NewBox(Name, b.memoryAppend(), b.memorySearch()), nil
}
