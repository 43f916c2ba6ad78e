package sandbox

import (
	"context"
	"os"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Choose lets tests ask for the sandbox of a risk.
func (c *Chooser) Choose(ctx context.Context, tool string, risk Risk) (toolcrib.Sandbox, error) {
	return c.choose(ctx, tool, risk, 0)
}

// OpenStraight is openStraight.
func OpenStraight(dir string) (*os.Root, error) { return openStraight(dir) }

// MaxAside is how many directories are looked into only for rules.
const MaxAside = maxAside

// SetMost says how many entries of a granted directory are looked at.
func (s *Shield) SetMost(entries int) { s.most = entries }

// BeganBefore makes the program one that has run for so long.
func (c *Covering) BeganBefore(d time.Duration) { c.began = c.began.Add(-d) }
