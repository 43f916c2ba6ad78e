package sandbox

import (
	"context"

	"github.com/toolcrib/toolcrib"
)

// Choose lets tests ask for the sandbox of a risk.
func (c *Chooser) Choose(ctx context.Context, tool string, risk Risk) (toolcrib.Sandbox, error) {
	return c.choose(ctx, tool, risk, 0)
}

// IsAt tells whether what lies at a path is this one.
func IsAt(path string, id FileID) bool {
	facts, err := factsOf(path)
	return err == nil && facts.id == id
}

// MaxAside is how many directories are looked into only for rules.
const MaxAside = maxAside

// SetMost says how many entries of a granted directory are looked at.
func (s *Shield) SetMost(entries int) { s.most = entries }
