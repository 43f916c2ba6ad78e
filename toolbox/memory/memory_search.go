package memory

import (
	"context"
	_ "embed" // the description

	"github.com/toolcrib/toolcrib"
)

//go:embed memory_search.md
var memorySearchText string

type searchIn struct {
	Query string `json:"query" minlen:"1" maxlen:"1000" doc:"Words that the note may have, in any order."`
	Limit int    `json:"limit,omitempty" default:"5" min:"1" max:"20" doc:"How many notes at most."`
}

func (b box) memorySearch() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "memory_search", Title: "Search what is remembered", Description: memorySearchText,
		Effects: toolcrib.Reads, Group: group, Idempotent: true,
	}, func(ctx context.Context, env *toolcrib.Env, in searchIn) (Found, error) {
		found, err := b.store.Search(ctx, env.Call.Caller, in.Query, in.Limit)
		if found.Notes == nil {
			found.Notes = []Note{}
		}
		return found, err
	})
}
