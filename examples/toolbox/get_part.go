package toolbox

import (
	"context"
	_ "embed" // the description
	"fmt"

	"github.com/toolcrib/toolcrib"
)

//go:embed get_part.md
var getPartDescription string

type getIn struct {
	Code string `json:"code" doc:"The number on the shelf, such as AB-123." pattern:"^[A-Z]{2}-[0-9]{3}$"`
}

func (b *box) getPart() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "get_part", Title: "Get a part", Description: getPartDescription,
		Effects: toolcrib.Reads, Group: "parts",
	}, func(_ context.Context, _ *toolcrib.Env, in getIn) (part, error) {
		parts, err := b.read()
		if err != nil {
			return part{}, err
		}
		for _, p := range parts {
			if p.Code == in.Code {
				return p, nil
			}
		}
		// The tool ran and could not do it: a failed Result that the model reads.
		return part{}, fmt.Errorf("no part has the code %s; find_parts searches by name", in.Code)
	})
}
