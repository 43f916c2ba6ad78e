// Package notes is the toolbox of a conversation's own notes: its list of tasks
// (todo_write) and its scratchpad (scratchpad_write, scratchpad_read).
//
// It is for whoever wires up a crib; other toolboxes never import it. Its one
// invariant: whose notes they are is decided by the caller of the call, which
// comes from authentication, and never by the arguments.
//
// The tools declare that they only look. What a tool may do is about the world
// outside of the conversation, and nothing there changes: no file of the person,
// no account, no other session. So a plan can be kept in the mode plan, too.
package notes

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib"
)

// The bounds of the notes of one session. AgenticX has the same.
const (
	MaxTodos = 20
	MaxKeys  = 50
	MaxValue = 10_000 // characters
)

// The states of a task.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
)

// Todo is one task.
type Todo struct {
	Content    string `json:"content" minlen:"1" maxlen:"500" doc:"What is to be done."`
	Status     string `json:"status" enum:"pending,in_progress,completed" doc:"How far it is. At most one task is in_progress."`
	ActiveForm string `json:"active_form,omitempty" maxlen:"500" doc:"What is shown while it is in progress, such as Running the tests."`
}

// Notes are those of one session.
type Notes struct {
	Todos []Todo            `json:"todos,omitempty"`
	Pad   map[string]string `json:"pad,omitempty"`
}

// Keys lists the keys of the scratchpad in order.
func (n Notes) Keys() []string { return slices.Sorted(maps.Keys(n.Pad)) }

// Store keeps notes, by the organisation, the subject and the session of a caller.
type Store interface {
	// Read gives the notes of a session; there may be none.
	Read(ctx context.Context, caller toolcrib.Caller) (Notes, error)
	// Change has edit change them. If edit gives an error nothing is changed, and
	// the error is given back. Two changes never lose each other.
	Change(ctx context.Context, caller toolcrib.Caller, edit func(*Notes) error) error
}

// Config sets up the box.
type Config struct {
	// Screens is the group of the tool that reads notes for screens and not for
	// models. Empty: there is no such tool.
	Screens string
}

// Needs is what the box is handed besides.
type Needs struct{ Store Store }

// Name is the name of the box. An MCP server of the person may well be called
// notes, and keeps its name.
const Name = "session_notes"

// group is what profiles select these tools by.
const group = "notes"

type box struct{ store Store }

// Open makes the box.
func Open(_ context.Context, cfg Config, needs Needs) (toolcrib.Toolbox, error) {
	if needs.Store == nil {
		return nil, errors.New("opening toolbox notes: there is no place to keep notes in")
	}
	b := box{needs.Store}
	tools := []toolcrib.Tool{b.todoWrite(), b.scratchpadWrite(), b.scratchpadRead()}
	if cfg.Screens != "" {
		tools = append(tools, b.readNotes(cfg.Screens))
	}
	return toolcrib.NewBox(Name, tools...), nil
}
