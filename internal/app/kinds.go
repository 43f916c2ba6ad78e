package app

import (
	"context"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/toolbox/clock"
	"github.com/toolcrib/toolcrib/toolbox/math"
)

// kind is one kind of toolbox: whether the configuration wants it, and how it
// is opened.
type kind struct {
	name    string
	enabled bool
	open    func(context.Context) (toolcrib.Toolbox, error)
}

// kinds is the one list of what Toolcrib can supply. A new toolbox is a
// package, a group in Config and a line here.
func kinds(cfg Config) []kind {
	boxes := cfg.Toolboxes
	return []kind{
		{"clock", boxes.Clock.Enabled, with(clock.Open, boxes.Clock.config())},
		{"math", boxes.Math.Enabled, with(math.Open, math.Config{})},
	}
}

// with binds a box's own configuration to its Open.
func with[C any](open func(context.Context, C) (toolcrib.Toolbox, error), cfg C) func(context.Context) (toolcrib.Toolbox, error) {
	return func(ctx context.Context) (toolcrib.Toolbox, error) { return open(ctx, cfg) }
}
