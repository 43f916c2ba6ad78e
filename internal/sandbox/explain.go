package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Explanation is what would be used for a tool, and why.
type Explanation struct {
	Tool       string        `json:"tool"`
	Risk       Risk          `json:"risk"`
	Why        string        `json:"why"`               // the reason of the risk
	Backend    string        `json:"backend,omitempty"` // empty: none would do
	Asked      string        `json:"asked"`             // what was asked for, and by what
	Needs      []string      `json:"needs,omitempty"`
	Enforces   []string      `json:"enforces,omitempty"`
	Network    string        `json:"network,omitempty"` // of the override
	MaxTimeout time.Duration `json:"max_timeout,omitempty"`
	Considered []Considered  `json:"considered,omitempty"`
	Refusal    string        `json:"refusal,omitempty"`
}

// Runs reports whether programs may be run at all.
func (e Explanation) Runs() bool { return e.Backend != None }

// Considered is a backend that was looked at.
type Considered struct {
	Name   string `json:"name"`
	Chosen bool   `json:"chosen,omitempty"`
	Reason string `json:"reason"`
}

// Explain tells which sandbox programs of a tool would run in, and why. It
// decides by the same code as Run.
func (c *Chooser) Explain(ctx context.Context, tool string, effects toolcrib.Effects) Explanation {
	risk, why := rate(effects)
	d := c.decide(ctx, tool, risk, 0)
	e := Explanation{
		Tool: tool, Risk: risk, Why: why, Backend: d.name, Asked: d.asked, Needs: BoundNames(d.demand.bounds), Considered: d.considered,
		MaxTimeout: c.cfg.Overrides[tool].MaxTimeout,
	}
	if n := c.cfg.Overrides[tool].Network; n != nil {
		e.Network = map[bool]string{false: "cut off", true: "as granted"}[*n]
	}
	if d.box != nil {
		e.Enforces = BoundNames(d.box.Enforces())
	}
	if d.err != nil {
		e.Refusal = d.err.Error()
	}
	return e
}

// Ready says why no program of a tool could run now; nil: one could. It decides by
// the same code as Run, so that nobody is asked about what cannot run.
func (c *Chooser) Ready(ctx context.Context, tool string, effects toolcrib.Effects, granted toolcrib.Bounds) error {
	return c.decide(ctx, tool, riskOfRun(effects), granted).err
}

// Report is what a backend can do here.
type Report struct {
	Name      string    `json:"name"`
	Available bool      `json:"available"`
	Enforces  []string  `json:"enforces,omitempty"`
	Reason    string    `json:"reason,omitempty"` // why not
	Findings  []Finding `json:"findings,omitempty"`
}

// Probe tries every backend.
func (c *Chooser) Probe(ctx context.Context) []Report {
	var out []Report
	for _, k := range c.cfg.Candidates {
		r := Report{Name: k.Name}
		if box, err := c.open(ctx, k); err != nil {
			r.Reason = reasonOf(err)
		} else {
			r.Available, r.Enforces = true, BoundNames(box.Enforces())
		}
		if k.Probe != nil {
			r.Findings = k.Probe(ctx)
		}
		out = append(out, r)
	}
	return out
}

// reasonOf adds the cause: whoever probes wants to mend something.
func reasonOf(err error) string {
	text := err.Error()
	if refusal, ok := toolcrib.AsError(err); ok {
		text = refusal.Message
		if refusal.Err != nil {
			text += " (" + refusal.Err.Error() + ")"
		}
	}
	return text
}

// decision is a choice with its reasons.
type decision struct {
	name       string
	asked      string
	demand     demand
	box        toolcrib.Sandbox
	considered []Considered
	err        error
}

// decide is the one place where a backend is chosen. granted is what the grant
// of a call asks for besides, which no override takes back.
func (c *Chooser) decide(ctx context.Context, tool string, risk Risk, granted toolcrib.Bounds) decision {
	o := c.cfg.Overrides[tool]
	d := decision{demand: demands(risk), asked: c.cfg.Backend + ", by the configuration"}
	wanted, forced := c.cfg.Backend, o.Backend != "" && o.Backend != Auto
	if forced {
		// Someone's word for this tool goes before the table.
		wanted, d.asked, d.demand = o.Backend, o.Backend+", for this tool", demand{}
	}
	if o.Network != nil {
		if *o.Network {
			d.demand.bounds &^= toolcrib.BoundNetwork
		} else {
			d.demand.bounds |= toolcrib.BoundNetwork
		}
	}
	low := risk.rated() == Low && !forced && d.demand == demands(Low)
	d.demand.bounds |= granted
	switch {
	case wanted == None:
		d.name = None
		if risk.rated() != Low {
			d.err = Unavailable("programs are switched off: the sandbox backend is set to none", nil)
		}
	case low:
		d.name = None
	case wanted == Auto:
		c.strongest(ctx, &d)
	default:
		c.named(ctx, wanted, &d)
	}
	return d
}

// named takes the backend that was asked for, or none.
func (c *Chooser) named(ctx context.Context, name string, d *decision) {
	i := slices.IndexFunc(c.cfg.Candidates, func(k Candidate) bool { return k.Name == name })
	if i < 0 {
		d.err = Unavailable(fmt.Sprintf("the %s sandbox was asked for, but it is not set up: set it up, or choose another backend", name), nil)
		d.considered = append(d.considered, Considered{Name: name, Reason: "not set up"})
		return
	}
	k := c.cfg.Candidates[i]
	box, reason, err := c.fits(ctx, k, d.demand)
	if reason != "" {
		d.considered = append(d.considered, Considered{Name: name, Reason: reason})
		d.err = Unavailable(fmt.Sprintf("the %s sandbox was asked for, but %s. It is not replaced by another: mend that, or choose another backend", name, reason), err)
		return
	}
	d.take(k.Name, box, "asked for by name")
}

// strongest takes the strongest backend that is there and does what is asked.
// Of equals it is the one that stands first.
func (c *Chooser) strongest(ctx context.Context, d *decision) {
	var errs []error
	var reasons []string
	for _, k := range c.byStrength() {
		if k.Asked {
			continue
		}
		box, reason, err := c.fits(ctx, k, d.demand)
		if reason == "" {
			d.take(k.Name, box, "the strongest that is there")
			return
		}
		d.considered = append(d.considered, Considered{Name: k.Name, Reason: reason})
		reasons, errs = append(reasons, k.Name+": "+reason), append(errs, err)
	}
	if len(reasons) == 0 {
		reasons = []string{"none is set up"}
	}
	d.err = Unavailable("no sandbox here does what this needs. "+strings.Join(reasons, ". "), errors.Join(errs...))
}

// byStrength gives the candidates, the strongest first.
func (c *Chooser) byStrength() []Candidate {
	order := slices.Clone(c.cfg.Candidates)
	slices.SortStableFunc(order, func(a, b Candidate) int { return cmp.Compare(b.Strength, a.Strength) })
	return order
}

func (d *decision) take(name string, box toolcrib.Sandbox, reason string) {
	d.name, d.box = name, box
	d.considered = append(d.considered, Considered{Name: name, Chosen: true, Reason: reason})
}

// fits opens a backend and holds it against a demand. The reason is empty if
// it fits.
func (c *Chooser) fits(ctx context.Context, k Candidate, want demand) (box toolcrib.Sandbox, reason string, err error) {
	if k.Strength < want.strength {
		return nil, "it isolates too little for this risk", nil
	}
	box, err = c.open(ctx, k)
	if err != nil {
		return nil, reasonOf(err), err
	}
	if missing := want.bounds &^ box.Enforces(); missing != 0 {
		return nil, "it does not bound " + strings.Join(BoundNames(missing), ", ") + " here", nil
	}
	return box, "", nil
}
