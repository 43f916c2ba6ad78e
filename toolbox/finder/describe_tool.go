package finder

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

//go:embed describe_tool.md
var describeToolText string

type describeIn struct {
	Name string `json:"name" minlen:"1" maxlen:"128" doc:"The tool's name."`
}

type describeOut struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input,omitempty" doc:"JSON Schema."`
	Output      json.RawMessage `json:"output,omitempty" doc:"JSON Schema."`
	Box         string          `json:"box"`
	Effects     string          `json:"effects" doc:"What a call may do."`
}

const (
	maxDescription = 10_000 // characters
	nearestNames   = 3
)

func (b box) describeTool() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name:        "describe_tool",
		Title:       "Describe a tool",
		Description: describeToolText,
		Effects:     toolcrib.Pure,
		Idempotent:  true,
		Group:       "search",
	}, func(_ context.Context, env *toolcrib.Env, in describeIn) (describeOut, error) {
		specs := b.visible(env.Call.Caller)
		at := slices.IndexFunc(specs, func(s toolcrib.Entry) bool { return s.Name == in.Name })
		if at < 0 {
			return describeOut{}, b.unknown(specs, in.Name)
		}
		s := specs[at]
		return describeOut{
			Name: s.Name, Title: s.Title, Description: text.ClipSentence(s.Description, maxDescription),
			Input: s.Input, Output: s.Output, Box: s.Box, Effects: s.LeadsText(),
		}, nil
	})
}

// unknown says what a name may have been meant for.
func (b box) unknown(specs []toolcrib.Entry, name string) error {
	near := b.indexes.of(specs).Nearest(name, nearestNames)
	if len(near) == 0 {
		return fmt.Errorf("there is no tool %q, and none that is called alike; use search_tools", name)
	}
	names := make([]string, len(near))
	for i, doc := range near {
		names[i] = specs[doc].Name
	}
	return errors.New("there is no tool " + fmt.Sprintf("%q", name) + "; the nearest are " + strings.Join(names, ", "))
}
