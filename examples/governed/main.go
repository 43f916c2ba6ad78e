// Command governed is the recipe for a program of your own that hands tools to
// models under rules: it opens a crib with a policy, a desk, a sandbox and a
// journal, and serves it to the MCP client that starts it.
//
//	{"mcpServers": {"notes": {"command": "governed", "args": ["/var/lib/notes"]}}}
//
// Nothing imports it. Its invariant: what a client does with the tool is judged,
// asked about and recorded.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/governed"
	"github.com/toolcrib/toolcrib/mcpserver"
)

func main() {
	programs := governed.Main()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: governed DIRECTORY")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], programs); err != nil {
		fmt.Fprintln(os.Stderr, "governed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, programs governed.Programs) (err error) {
	crib, err := governed.Open(ctx, governed.Config{
		State:     filepath.Join(dir, "state"),
		Toolboxes: []toolcrib.Toolbox{toolcrib.NewBox("notes", keepNote())},
		BuiltIn:   []string{"math", "shell"},
		Read:      []string{dir},
		Deny:      []string{"keep_note(text:*password*)"},
		Programs:  programs,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, crib.Close()) }()
	s := mcpserver.New(crib.Crib, mcpserver.Config{Name: "notes", Instructions: "Notes are kept until the program ends."})
	defer s.Close()
	return s.ServeStdio(ctx)
}

type note struct {
	Text string `json:"text" doc:"What to keep." minlen:"1"`
}

type kept struct {
	Notes int `json:"notes" doc:"How many there are now."`
}

// keepNote changes something, so a person is asked before it runs.
func keepNote() toolcrib.Tool {
	notes := make(chan []string, 1)
	notes <- nil
	return toolcrib.Define(
		toolcrib.Spec{Name: "keep_note", Description: "Keeps a note.", Group: "notes", Effects: toolcrib.Writes},
		func(_ context.Context, _ *toolcrib.Env, in note) (kept, error) {
			list := append(<-notes, in.Text)
			notes <- list
			return kept{Notes: len(list)}, nil
		})
}
