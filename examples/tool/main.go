// Command tool is the recipe for one tool: count_text.go declares it,
// count_text.md is what the model reads, and this file hangs it into a box and
// calls it.
//
//	go run ./examples/tool "to be or not to be"
//
// Nothing imports it. Its invariant: the tool is reached through Crib.Call
// only, like every other.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/toolcrib/toolcrib"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tool:", err)
		os.Exit(1)
	}
}

// box is the list of tools: a new one is one word here.
func box() toolcrib.Toolbox {
	return toolcrib.NewBox("text", countText())
}

func run(ctx context.Context, args []string, out io.Writer) error {
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{},
		Guards:  []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)},
		Journal: toolcrib.NoJournal{},
	}
	_, faults := crib.Catalog.Load(ctx, toolcrib.Contents{Boxes: []toolcrib.Toolbox{box()}})
	if len(faults) > 0 {
		return faults[0] // a program with many tools would warn and go on
	}
	in := map[string]any{"text": strings.Join(args, " ")}
	counted, err := toolcrib.Invoke[countOut](ctx, crib, "count_text", in)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, counted.Count, counted.Unit)
	return err
}
