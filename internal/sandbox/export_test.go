package sandbox

import (
	"context"

	"github.com/toolcrib/toolcrib"
)

// Choose lets tests ask for the sandbox of a risk.
func (c *Chooser) Choose(ctx context.Context, tool string, risk Risk) (toolcrib.Sandbox, error) {
	return c.choose(ctx, tool, risk, 0)
}
