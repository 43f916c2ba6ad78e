package main

import (
	"context"
	_ "embed" // the description
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib"
)

//go:embed count_text.md
var countTextDescription string

type countIn struct {
	Text string `json:"text" doc:"The text to count in." maxlen:"100000"`
	Unit string `json:"unit" doc:"What to count." enum:"words,lines,letters" default:"words"`
}

type countOut struct {
	Count int    `json:"count" doc:"How many there are."`
	Unit  string `json:"unit" doc:"What was counted."`
}

func countText() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name:        "count_text",
		Title:       "Count words, lines or letters",
		Description: countTextDescription,
		Effects:     toolcrib.Pure,
		Idempotent:  true,
		Group:       "text",
	}, func(_ context.Context, _ *toolcrib.Env, in countIn) (countOut, error) {
		return countOut{Count: count(in.Text, in.Unit), Unit: in.Unit}, nil
	})
}

// count trusts its unit: the schema admits no other.
func count(text, unit string) int {
	switch unit {
	case "lines":
		return len(strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
	case "letters":
		n := 0
		for _, r := range text {
			if unicode.IsLetter(r) {
				n++
			}
		}
		return n
	}
	return len(strings.Fields(text))
}
