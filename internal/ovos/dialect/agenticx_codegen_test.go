package dialect

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// generator is a box with a codegen that tells what it was given.
type generator struct{}

func (generator) Name() string { return "codegen" }

func (generator) Tools(context.Context) ([]toolcrib.Tool, error) {
	type file struct {
		Path string `json:"path"`
	}
	type out struct {
		Files []file `json:"files"`
		Next  string `json:"next"`
	}
	return []toolcrib.Tool{toolcrib.Define(toolcrib.Spec{Name: "codegen", Description: "x", Effects: toolcrib.Pure}, func(_ context.Context, _ *toolcrib.Env, in codegenArgs) (out, error) {
		if in.Description == "wrong" {
			return out{Files: []file{}}, errors.New("go build failed")
		}
		return out{Files: []file{{"/w/" + in.Target + in.OutputPath}, {"/w/test"}}, Next: "Read it."}, nil
	})}, nil
}

func TestAgenticXCodegen(t *testing.T) {
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Allow()}, Journal: toolcrib.NoJournal{}, Log: slog.New(slog.DiscardHandler)}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{generator{}}, Adapters: Adapters(Options{})}); faults != nil {
		t.Fatal(faults)
	}
	r := &room{Crib: c}
	type args = map[string]any
	for _, tt := range []struct {
		in   args
		want string
	}{
		{args{"description": " x ", "target": " Tool ", "output_path": " a.py"}, "OK: generated /w/toola.py\nand /w/test\nRead it."},
		{args{"description": "x"}, "OK: generated /w/\nand /w/test\nRead it."},
		{args{"description": " "}, "ERROR: description is required"},
		{args{"description": "x", "target": "plugin"}, "ERROR: code generation failed: target must be agent, workflow, tool or skill"},
		{args{"description": "wrong"}, "ERROR: go build failed"},
	} {
		if got := r.say(t, AgenticX, "codegen", tt.in); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.in, got, tt.want)
		}
	}
}
