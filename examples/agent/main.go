// Command agent is a program that runs an agent over a crib of its own, which has one
// tool:
//
//	MODEL_URL=http://127.0.0.1:11434/v1 MODEL=qwen3 go run ./examples/agent "How many words has: to be or not to be?"
//
// MODEL_URL is any endpoint that speaks the chat completions API of OpenAI, such as
// Ollama. Nothing imports it. Its invariant: the model reaches the tool through
// Crib.Call only.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/openai"
)

type text struct {
	Text string `json:"text" doc:"The text to count."`
}

type count struct {
	Words int `json:"words"`
}

func countWords() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{Name: "count_words", Description: "Counts the words of a text.", Effects: toolcrib.Pure},
		func(_ context.Context, _ *toolcrib.Env, in text) (count, error) {
			return count{len(strings.Fields(in.Text))}, nil
		})
}

func main() {
	where := model.Endpoint{BaseURL: os.Getenv("MODEL_URL"), Model: os.Getenv("MODEL"), Traits: model.Traits{Tools: true}}
	if err := run(context.Background(), where, strings.Join(os.Args[1:], " "), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, where model.Endpoint, task string, out io.Writer) error {
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{},
		Guards:  []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)},
		Journal: toolcrib.NoJournal{},
	}
	if _, faults := crib.Catalog.Load(ctx, toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("text", countWords())}}); len(faults) > 0 {
		return faults[0]
	}
	m, err := openai.New(where)
	if err != nil {
		return err
	}
	a := &agent.Agent{Crib: crib, Model: m, Instructions: "Answer in one sentence."}
	var talk agent.Conversation // keep it to go on with it
	_, err = a.Run(ctx, &talk, model.Text(model.User, task), func(e agent.Event) {
		switch e.Kind {
		case agent.Content:
			fmt.Fprint(out, e.Text)
		case agent.Call:
			fmt.Fprintf(out, "[%s %s]\n", e.Tool, e.Args)
		}
	})
	fmt.Fprintln(out)
	return err
}
