// Command frontend is the recipe for a way in: one JSON object per line on
// standard input is a call, one per line on standard output its answer.
//
//	echo '{"tool":"greet","input":{"name":"Ada"}}' | go run ./examples/frontend
//
// Nothing imports it. A real one would be internal/serve/<name>, started by
// internal/app. Its invariant is that of every frontend: it decides nothing;
// who calls comes from how it was reached, never from what was sent.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/user"

	"github.com/toolcrib/toolcrib"
)

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "frontend:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	// Whoever may start a program as this user is this user: that is all the
	// authentication there is to standard input.
	who, err := user.Current()
	if err != nil {
		return fmt.Errorf("finding out who calls: %w", err)
	}
	s := &Server{Crib: crib(ctx), Caller: toolcrib.Caller{Subject: who.Username, Frontend: "lines"}}
	return s.Serve(ctx, in, out)
}

type greetIn struct {
	Name string `json:"name" doc:"Whom to greet." minlen:"1"`
}

type greetOut struct {
	Text string `json:"text" doc:"The greeting."`
}

// crib has something to serve; in the real program internal/app makes it.
func crib(ctx context.Context) *toolcrib.Crib {
	greet := toolcrib.Define(
		toolcrib.Spec{Name: "greet", Description: "Greets a person.", Effects: toolcrib.Pure, Group: "demo"},
		func(_ context.Context, _ *toolcrib.Env, in greetIn) (greetOut, error) {
			return greetOut{Text: "Good day, " + in.Name + "."}, nil
		})
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{},
		Guards:  []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)},
		Journal: toolcrib.NoJournal{},
	}
	c.Catalog.Load(ctx, toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("demo", greet)}})
	return c
}
