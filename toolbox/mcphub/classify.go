package mcphub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
)

// confirmed is what a person says that a tool may do. It stands beside the pin of
// the definition that they saw, and goes with it: of a changed tool nobody has said
// anything.
type confirmed struct {
	Effects toolcrib.Effects `json:"effects"`
	At      time.Time        `json:"at"`
}

// confirmedFor is what was confirmed of exactly this definition; nil: nothing.
func (p *pins) confirmedFor(d definition) *confirmed {
	if was, ok := p.Tools[d.Name]; ok && was.of(d) {
		return was.Confirmed
	}
	return nil
}

// Classified is what is known and proposed about what a tool may do.
type Classified struct {
	Tool     string           `json:"tool"`
	Says     string           `json:"says,omitempty"` // the server, by its annotations
	Proposed toolcrib.Effects `json:"proposed"`
	Why      []string         `json:"why,omitempty"`
	Doubt    string           `json:"doubt,omitempty"` // why it is not to be confirmed together with others
	Now      toolcrib.Effects `json:"now"`             // what counts
	From     string           `json:"from,omitempty"`  // settings or confirmed; empty: nobody has said anything
	Hash     string           `json:"hash"`            // of the definition that this is about
}

// The places that effects come from.
const (
	FromSettings  = "settings"
	FromConfirmed = "confirmed"
)

// Classify proposes effects for the tools that are approved. A proposal counts for
// nothing until [Box.ConfirmEffects] has it.
func (b *Box) Classify() []Classified {
	b.mu.Lock()
	names := make([]definition, 0, len(b.names))
	for _, d := range b.names {
		names = append(names, d)
	}
	b.mu.Unlock()
	slices.SortFunc(names, func(x, y definition) int { return x.at - y.at })
	var out []Classified
	for _, d := range names {
		p := propose(d)
		c := Classified{Tool: d.Name, Says: d.claims().String(), Proposed: p.effects, Why: p.why, Doubt: p.doubt, Hash: d.sum}
		c.Now, c.From = b.effectsOf(d)
		out = append(out, c)
	}
	return out
}

// effectsOf is what a tool counts as able to do, and who says so: the settings,
// else a person who has confirmed it. What its server says is not asked.
func (b *Box) effectsOf(d definition) (toolcrib.Effects, string) {
	if e := b.effects(d.Name); e != 0 {
		return e, FromSettings
	}
	if d.confirmed != nil && d.confirmed.Effects != 0 {
		return d.confirmed.Effects, FromConfirmed
	}
	return 0, ""
}

// ConfirmEffects writes down what a person says about tools as they saw them: Tool,
// Hash and Proposed count. Effects of zero take back what was said. It gives the
// tools that it wrote; the error tells of the others.
func (b *Box) ConfirmEffects(list []Classified) ([]string, error) {
	if b.hub.needs.ReadOnly {
		return nil, errors.New("servers are only looked at here")
	}
	b.learning.Lock()
	done, err := b.confirm(list)
	b.learning.Unlock()
	if len(done) > 0 {
		b.hub.notify()
	}
	return done, err
}

// confirm does it. B.learning is held.
func (b *Box) confirm(list []Classified) (done []string, _ error) {
	m, err := b.latest()
	if err != nil {
		return nil, err
	}
	p, err := b.loadPins()
	if err != nil {
		return nil, fmt.Errorf("%s: %w; 'toolcrib hub approve %s' shows it", doubtful, err, b.name)
	}
	defs, _ := b.read(m)
	var errs []error
	for _, c := range list {
		at := slices.IndexFunc(defs, func(d definition) bool { return d.Name == c.Tool && d.sum == c.Hash })
		if at < 0 {
			errs = append(errs, fmt.Errorf("%s of the MCP server %s has changed since it was shown; look at it again", c.Tool, b.name))
			continue
		}
		was, known := p.Tools[c.Tool]
		if !known && b.server.Unpinned {
			p.add(defs[at], b.now(), true)
			was, known = p.Tools[c.Tool], true
		}
		if !known || !was.of(defs[at]) {
			if !b.server.Unpinned {
				errs = append(errs, fmt.Errorf("%s of the MCP server %s is kept back: approve it first", c.Tool, b.name))
				continue
			}
			p.add(defs[at], b.now(), true)
			was = p.Tools[c.Tool]
		}
		was.Confirmed = nil
		if c.Proposed != 0 {
			was.Confirmed = &confirmed{c.Proposed, b.now()}
		}
		p.Tools[c.Tool] = was
		done = append(done, c.Tool)
	}
	if len(done) == 0 {
		return nil, errors.Join(errs...)
	}
	if err := b.hub.store.Save("pins-"+b.name, p); err != nil {
		return nil, errors.Join(append(errs, err)...)
	}
	_, err = b.useManifest(m, false)
	return done, errors.Join(append(errs, err)...)
}

// Judge implements [toolcrib.Guard]: it decides nothing, and tells a person who is
// asked what the server says of the tool and what somebody has confirmed of it.
func (h *Hub) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	b, ok := h.Box(r.Spec.Box)
	if !ok {
		return nil, nil
	}
	b.mu.Lock()
	d, ok := b.names[r.Spec.Native]
	b.mu.Unlock()
	if !ok {
		return nil, nil
	}
	says := d.claims().String()
	effects, from := b.effectsOf(d)
	text := ""
	switch {
	case from == FromConfirmed:
		text = fmt.Sprintf("confirmed by you as %s, on %s", effects, d.confirmed.At.Format(time.DateOnly))
	case from == FromSettings && says != "":
		text = fmt.Sprintf("your settings say %s", effects)
	case says != "":
		text = "nobody has confirmed that (toolcrib hub classify " + b.name + ")"
	default:
		return nil, nil // there is nothing to compare
	}
	if says == "" {
		says = "nothing about it"
	}
	return &toolcrib.Verdict{Decision: toolcrib.Allow, Note: true, Guard: "hub", Rule: "effects", Reason: "the server says: " + says + "; " + text}, nil
}
