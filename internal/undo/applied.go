package undo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

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
	// Reverse opens what taking it back would do: all of it, or nothing if a path is no
	// longer as it was applied. A person who is asked reads head above it.
	Reverse(head string) (toolcrib.Changes, error)
}

// ChangesTool is the name of the tool that takes back what a command changed.
const ChangesTool = "restore_changes"

// Command has one tool, which takes back what one command changed. Only a person's own
// command opens one: no agent has this tool.
type Command struct {
	Call    string // that ran the command
	Applied Applied
	Head    string // what the person who is asked reads above what would be done
	First   string // of the paths that are put back, when the tool has run
}

// Name is the name of the box.
func (*Command) Name() string { return BoxName }

type changesIn struct {
	Of string `json:"of" minlen:"1" doc:"The call whose changes are taken back."`
}

type changesOut struct {
	Paths int `json:"paths" doc:"How many paths are put back if nothing stands against it."`
}

// Tools lists the tool of the box. What it would put back is judged, and asked about, when
// it has ended, as what a command changed.
func (b *Command) Tools(context.Context) ([]toolcrib.Tool, error) {
	t := toolcrib.Define(toolcrib.Spec{
		Name: ChangesTool, Title: "Take back what a command changed", Group: "fs", Effects: toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys,
		Description: "Takes back what a command changed, if nobody has changed it since. Only a person's own command has this tool.",
	}, func(_ context.Context, env *toolcrib.Env, in changesIn) (changesOut, error) {
		if in.Of != b.Call {
			return changesOut{}, &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: "this is not the call that was to be taken back"}
		}
		if env.Files == nil {
			return changesOut{}, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: refusal.NoDirectory}
		}
		changes, err := b.Applied.Reverse(b.Head)
		if err != nil {
			return changesOut{}, err
		}
		var out changesOut
		for _, c := range changes.List() {
			if c.Carried == nil {
				out.Paths, b.First = out.Paths+1, cmp.Or(b.First, c.Path)
			}
		}
		if out.Paths == 0 {
			nothing := &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "there is nothing to take back: the command only made git objects, which stay"}
			return changesOut{}, errors.Join(nothing, changes.Drop())
		}
		if !env.Settle(changes) {
			return changesOut{}, errors.Join(errors.New("the call is over"), changes.Drop())
		}
		return out, nil
	})
	t.Preview = func(context.Context, *toolcrib.Env, json.RawMessage) (string, error) { return b.Show() }
	return []toolcrib.Tool{t}, nil
}

// Show tells a person what would be taken back.
func (b *Command) Show() (string, error) {
	changes, err := b.Applied.Reverse(b.Head)
	if err != nil {
		return "", err
	}
	return changes.Show(func(string) bool { return true }), changes.Drop()
}

// Input is the input of the call.
func (b *Command) Input() map[string]string { return map[string]string{"of": b.Call} }
