package app

import (
	"context"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/reach"
)

// Judge says what would become of a call; see [reach.Judge].
func (a *App) Judge(ctx context.Context, call toolcrib.Call) (toolcrib.Judgement, error) {
	return reach.Judge(ctx, a.Crib, call)
}

// Tokens are who comes in by a token of the settings, by the names of those.
func (a *App) Tokens() map[string]toolcrib.Caller {
	out := map[string]toolcrib.Caller{}
	for _, h := range a.policy.guests.Load().Holders {
		out[h.Caller.Token] = h.Caller
	}
	return out
}
