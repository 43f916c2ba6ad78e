package toolbox

import (
	"context"
	_ "embed" // the description
	"strings"

	"github.com/toolcrib/toolcrib"
)

//go:embed find_parts.md
var findPartsDescription string

type findIn struct {
	Words   string `json:"words" doc:"Part of the name, in upper or lower case." minlen:"1" maxlen:"200"`
	InStock bool   `json:"in_stock,omitempty" doc:"Only parts of which there is at least one."`
}

type findOut struct {
	Parts []part `json:"parts" doc:"The parts found, in the order of the list."`
	More  bool   `json:"more" doc:"Whether there are further ones: search for more of the name."`
}

func (b *box) findParts() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "find_parts", Title: "Find parts", Description: findPartsDescription,
		Effects: toolcrib.Reads, Group: "parts",
	}, func(_ context.Context, env *toolcrib.Env, in findIn) (findOut, error) {
		parts, err := b.read()
		if err != nil {
			return findOut{}, err
		}
		env.Emit(toolcrib.Event{Kind: "log", Text: "searching for " + in.Words})
		var out findOut
		for _, p := range parts {
			switch {
			case !strings.Contains(strings.ToLower(p.Name), strings.ToLower(in.Words)), in.InStock && p.Stock == 0:
			case len(out.Parts) == b.cfg.Most:
				out.More = true
			default:
				out.Parts = append(out.Parts, p)
			}
		}
		return out, nil
	})
}
