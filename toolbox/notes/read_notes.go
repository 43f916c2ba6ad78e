package notes

import (
	"context"
	_ "embed" // the description

	"github.com/toolcrib/toolcrib"
)

//go:embed read_notes.md
var readNotesText string

type notesIn struct {
	Part string `json:"part" enum:"todos,scratchpad" doc:"The list of tasks, or a key of the scratchpad."`
	Key  string `json:"key,omitempty" maxlen:"100" doc:"The key."`
}

type notesOut struct {
	Text string `json:"text" doc:"What is there, as Markdown."`
}

// readNotes is how screens read: reading is a call as any other.
func (b box) readNotes(group string) toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "read_notes", Title: "Show the notes", Description: readNotesText,
		Effects: toolcrib.Reads, Group: group, Idempotent: true,
	}, func(ctx context.Context, env *toolcrib.Env, in notesIn) (notesOut, error) {
		n, err := b.store.Read(ctx, env.Call.Caller)
		if err != nil {
			return notesOut{}, err
		}
		if in.Part == "todos" {
			return notesOut{Text: Shown(n.Todos)}, nil // also of a list that is still to come: screens watch it
		}
		value, ok := n.Pad[in.Key]
		if !ok {
			return notesOut{}, noSuchKey(in.Key, n)
		}
		return notesOut{Text: value}, nil
	})
}
