package lsp

import (
	"bytes"
	"context"
	_ "embed" // the description
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

//go:embed lsp_hover.md
var hoverText string

// maxHover is how long an answer may be.
const maxHover = 16 << 10

type hoverOut struct {
	Hover string `json:"hover" doc:"What the server says of it, often as Markdown: its type and its documentation. Empty: nothing."`
}

func (b *Box) hover() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "lsp_hover", Title: "Type and documentation", Description: hoverText,
		Effects: toolcrib.Reads, Group: Group, Idempotent: true, Timeout: toolTime,
	}, func(ctx context.Context, env *toolcrib.Env, in placeIn) (out hoverOut, err error) {
		err = b.about(ctx, env, in.File, func(ctx context.Context, q question) error {
			if !has(q.caps.Hover) {
				return q.cannot("say what something is")
			}
			at, err := q.at(in)
			if err != nil {
				return err
			}
			var answer struct {
				Contents json.RawMessage `json:"contents"`
			}
			if err := q.ask(ctx, "textDocument/hover", at, &answer); err != nil {
				return err
			}
			out.Hover = text.Head(strings.TrimSpace(markup(answer.Contents)), maxHover)
			return nil
		})
		return out, err
	})
}

// markup reads what a server shows: a string, a string with its language or kind, or a
// list of these.
func markup(contents json.RawMessage) string {
	contents = bytes.TrimSpace(contents)
	if len(contents) == 0 {
		return ""
	}
	switch contents[0] {
	case '"':
		var plain string
		if json.Unmarshal(contents, &plain) == nil {
			return plain
		}
	case '{':
		var one struct{ Kind, Language, Value string }
		if json.Unmarshal(contents, &one) == nil {
			if one.Language != "" {
				return "```" + one.Language + "\n" + one.Value + "\n```"
			}
			return one.Value
		}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(contents, &list) == nil {
			var parts []string
			for _, part := range list {
				if len(part) > 0 && part[0] != '[' { // a list has no lists in it
					parts = append(parts, markup(part))
				}
			}
			return strings.Join(parts, "\n\n")
		}
	}
	return ""
}
