package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// every is all that a sandbox can be held to.
const every = toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundMemory | toolcrib.BoundProcesses | toolcrib.BoundTime

// enforceTime is how long looking for backends may take where nobody waits
// with a deadline.
const enforceTime = 30 * time.Second

// Enforces is what the backends that are really there can hold, each on its
// own. Once everything is there it looks no further. Which of them a program
// runs in is decided by Run.
func (c *Chooser) Enforces() toolcrib.Bounds {
	ctx, cancel := context.WithTimeout(context.Background(), enforceTime)
	defer cancel()
	var held toolcrib.Bounds
	for _, k := range c.byStrength() {
		if !c.usable(k) {
			continue
		}
		if box, err := c.open(ctx, k); err == nil {
			held |= box.Enforces()
		}
		if held&every == every {
			break
		}
	}
	return held
}

// usable tells whether the configuration lets a backend be chosen at all.
func (c *Chooser) usable(k Candidate) bool {
	name := k.Name
	if c.cfg.Backend == Auto && !k.Asked || c.cfg.Backend == name {
		return true
	}
	for _, o := range c.cfg.Overrides {
		if o.Backend == name {
			return true
		}
	}
	return false
}

// Bounds is what programs of a tool are held to whatever they do: what holds
// in each of the backends that they might run in here. It is nothing for a
// tool whose programs would not run at all.
func (c *Chooser) Bounds(ctx context.Context, tool string) toolcrib.Bounds {
	held, runs := every, false
	for _, risk := range []Risk{Medium, High, Critical} {
		if d := c.decide(ctx, tool, risk, 0); d.err == nil && d.box != nil {
			held, runs = held&d.box.Enforces(), true
		}
	}
	if !runs {
		return 0
	}
	return held
}

// ErrNoLayers: a sandbox has none, wherever it runs.
var ErrNoLayers = errors.New("it has no layers")

// Layers says why programs of a tool cannot work on layers over these directories, in
// whichever backend they might run here; nil: they can.
func (c *Chooser) Layers(ctx context.Context, tool string, dirs []files.Dir) error {
	var tried []string
	for _, risk := range []Risk{Medium, High, Critical} {
		d := c.decide(ctx, tool, risk, 0)
		switch {
		case d.err != nil:
			return d.err
		case slices.Contains(tried, d.name):
			continue
		}
		tried = append(tried, d.name)
		layered, ok := d.box.(interface {
			Layers(ctx context.Context, dirs []files.Dir) error
		})
		if !ok {
			return Unavailable(fmt.Sprintf("the %s sandbox has no layers", d.name), ErrNoLayers)
		}
		if err := layered.Layers(ctx, dirs); err != nil {
			return err
		}
	}
	return nil
}

// Run runs a program in the backend that its tool, its risk and its grant ask
// for, or says why there is none. The risk is that of its effects, as far as
// the crib knows them; what nobody knows is of the highest risk.
func (c *Chooser) Run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	box, err := c.choose(ctx, cmd.Tool, riskOfRun(cmd.Effects), grant.Bounds)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	return box.Run(ctx, cmd, grant)
}

// riskOfRun rates who is about to run a program.
func riskOfRun(effects toolcrib.Effects) Risk {
	if effects != 0 {
		effects |= toolcrib.Runs
	}
	return RiskOf(effects)
}

var _ toolcrib.Sandbox = (*Chooser)(nil)
