package undo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/refusal"
)

// Applied is what a command changed on its layer, with what was there before.
type Applied interface {
	// List gives the beginning of what was changed, with the differences, and the file
	// that has all of it.
	List(most int) (text []byte, file string, err error)
	// NotKept says why it cannot be taken back; empty: it can.
	NotKept() string
	// Unchanged tells whether everything is as it was applied; an error names what is not.
	Unchanged() error
	// Changes is what taking it back would do, and Show says so to a person.
	Changes() ([]toolcrib.Change, error)
	Show() (string, error)
	// Undo takes it back: all of it, or nothing if a path is no longer as it was applied.
	Undo(ctx context.Context) error
}

// ChangesTool is the name of the tool that takes back what a command changed.
const ChangesTool = "restore_changes"

// Command has one tool, which takes back what one command changed. Only a person's own
// command opens one: no agent has this tool.
type Command struct {
	Call    string // that ran the command
	Applied Applied
	Head    string // what the person who is asked reads above what would be done
}

// Name is the name of the box.
func (*Command) Name() string { return BoxName }

type changesIn struct {
	Of string `json:"of" minlen:"1" doc:"The call whose changes are taken back."`
}

type changesOut struct {
	Paths   int    `json:"paths" doc:"How many paths were put back."`
	Message string `json:"message" doc:"What was done."`
}

// Tools lists the tool of the box.
func (b *Command) Tools(context.Context) ([]toolcrib.Tool, error) {
	t := toolcrib.Define(toolcrib.Spec{
		Name: ChangesTool, Title: "Take back what a command changed", Group: "fs", Effects: toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys,
		Description: "Takes back what a command changed, if nobody has changed it since. Only a person's own command has this tool.",
	}, func(ctx context.Context, env *toolcrib.Env, in changesIn) (changesOut, error) {
		if in.Of != b.Call {
			return changesOut{}, &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: "this is not the call that was to be taken back"}
		}
		if env.Files == nil {
			return changesOut{}, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: refusal.NoDirectory}
		}
		changes, err := b.Applied.Changes()
		if err != nil {
			return changesOut{}, err
		}
		paths := 0
		for i := range changes {
			c := &changes[i]
			path := c.Path
			switch {
			case c.Carried == nil:
				paths++
			case c.Git.Decision == toolcrib.Deny:
				return changesOut{}, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: c.Git.Reason}
			}
			if c.Git != nil && c.Carried == nil { // judged by what it means, and its repository lies in a work tree
				path, _, _ = strings.Cut(path, "/.git/")
			}
			if err := env.Files.Check(path, true, true); err != nil {
				return changesOut{}, err
			}
		}
		switch err := b.Applied.Undo(ctx); {
		case errors.Is(err, fs.ErrNotExist):
			return changesOut{}, errors.New("it was taken back already")
		case err != nil:
			return changesOut{}, err
		}
		return changesOut{Paths: paths, Message: fmt.Sprintf("What the command changed was taken back: %d paths.", paths)}, nil
	})
	t.Preview = func(context.Context, *toolcrib.Env, json.RawMessage) (string, error) {
		shown, err := b.Applied.Show()
		return b.Head + shown, err
	}
	return []toolcrib.Tool{t}, nil
}

// Input is the input of the call.
func (b *Command) Input() map[string]string { return map[string]string{"of": b.Call} }
