package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/ovosbox"
)

// BoxName is the name of the box, which nothing else may have: what came
// from a bus is known by it and not served on one.
const BoxName = "ovosbox"

// BoxNeeds is what openBox takes besides the settings.
type BoxNeeds struct {
	Expand func(ctx context.Context, text string) (string, error) // puts in the secrets
	Own    func(toolbox, source string) bool                      // toolboxes that this program serves itself
	Log    *slog.Logger
}

// OpenBox joins the bus and makes a box of what is there.
func OpenBox(ctx context.Context, cfg settings.OvosBox, on settings.Bus, needs BoxNeeds) (toolcrib.Toolbox, error) {
	effects := map[string]toolcrib.Effects{}
	for tool, text := range cfg.Effects {
		var e toolcrib.Effects
		if err := e.UnmarshalText([]byte(text)); err != nil {
			return nil, fmt.Errorf("toolboxes.ovosbox.effects.%s: %w", tool, err)
		}
		effects[tool] = e
	}
	if cfg.URL != "" {
		on.URL, on.Token = cfg.URL, cfg.Token
	}
	client, err := Client(ctx, on, needs.Expand)
	if err != nil {
		return nil, err
	}
	client.Source = "toolcrib"
	client.Log = needs.Log
	client.ConnectWait = cfg.Window // a bus that is not there must not hold up the start
	box := &busBox{}
	client.Changed = func(connected bool, _ error) {
		if connected {
			box.look()
		}
	}
	if box.client, err = bus.Open(client); err != nil {
		return nil, err
	}
	opened, err := ovosbox.Open(ctx, ovosbox.Config{
		Name: BoxName, Only: cfg.Only, Skip: cfg.Skip, Window: cfg.Window, Refresh: cfg.Refresh,
		Timeout: cfg.Timeout, MaxTimeout: cfg.MaxTimeout, Timeouts: cfg.Timeouts, Effects: effects, Log: needs.Log,
	}, &busPort{client: box.client, own: needs.Own})
	if err != nil {
		return nil, errors.Join(err, box.client.Close())
	}
	box.set(opened)
	return box, nil
}

// busBox is the box with the connection that it alone uses.
type busBox struct {
	client *bus.Client
	mu     sync.Mutex
	last   []toolcrib.Tool // as they were listed
	*ovosbox.Box
}

// Tools lists what is on the bus.
func (b *busBox) Tools(ctx context.Context) ([]toolcrib.Tool, error) {
	tools, err := b.Box.Tools(ctx)
	if err == nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.last = tools
	}
	return tools, err
}

// Listed gives boxes of which those of a bus are as they were listed last: to ask
// the bus before a discovery is answered there would make the answer late, and two
// programs that do so would ask each other.
func Listed(boxes []toolcrib.Toolbox) []toolcrib.Toolbox {
	boxes = slices.Clone(boxes)
	for i, box := range boxes {
		if b, ok := box.(*busBox); ok {
			boxes[i] = asListed{b}
		}
	}
	return boxes
}

// asListed is the box as it was listed last: nobody on the bus is asked.
type asListed struct{ *busBox }

// Tools gives the list of the last time.
func (b asListed) Tools(context.Context) ([]toolcrib.Tool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last, nil
}

func (b *busBox) set(box *ovosbox.Box) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Box = box
}

// look has the hosts asked again: the bus is back. The first connection may be
// there before the box is, which asks by itself then.
func (b *busBox) look() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Box != nil {
		b.Look()
	}
}

// Close ends the box, then the connection.
func (b *busBox) Close() error { return errors.Join(b.Box.Close(), b.client.Close()) }

// busPort is a bus as the box wants it.
type busPort struct {
	client *bus.Client
	own    func(id, source string) bool // toolboxes that this program serves itself
}

// Ask implements [ovosbox.Bus].
func (p *busPort) Ask(ctx context.Context, request ovosbox.Message, fits func(ovosbox.Message) bool) (ovosbox.Message, error) {
	m, err := p.client.Ask(ctx, bus.Message(request), bus.Answer{Match: func(m bus.Message) bool { return fits == nil || fits(ovosbox.Message(m)) }})
	return ovosbox.Message(m), away(err)
}

// Collect implements [ovosbox.Bus]. Toolboxes of this program are left out: a
// call of them would come back to where it was made.
func (p *busPort) Collect(ctx context.Context, request ovosbox.Message, window time.Duration) ([]ovosbox.Message, error) {
	list, err := p.client.Collect(ctx, bus.Message(request), bus.Answer{Match: p.foreign}, window)
	out := make([]ovosbox.Message, 0, len(list))
	for _, m := range list {
		out = append(out, ovosbox.Message(m))
	}
	return out, away(err)
}

// foreign reports whether an answer is of a toolbox of another program.
func (p *busPort) foreign(m bus.Message) bool {
	var of struct {
		ID string `json:"toolbox_id"`
	}
	return json.Unmarshal(m.Data, &of) != nil || !p.own(of.ID, m.Text("source"))
}

// Listen implements [ovosbox.Bus].
func (p *busPort) Listen(types []string, hear func(ovosbox.Message)) (stop func()) {
	sub := p.client.Subscribe(bus.Filter{Types: types, Match: p.foreign})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			m, err := sub.Next(context.Background())
			if err != nil {
				return // it was closed, or the client
			}
			hear(ovosbox.Message(m))
		}
	}()
	return func() {
		sub.Close()
		<-ended
	}
}

// hereWithin is how long a bus that is just coming back is waited for.
const hereWithin = 2 * time.Second

// Here says why nothing can be sent now.
func (p *busPort) Here(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, hereWithin)
	defer cancel()
	return away(p.client.Ready(ctx))
}

// away marks the error of a bus that is not there.
func away(err error) error {
	if errors.Is(err, bus.ErrNotConnected) {
		return fmt.Errorf("%w: %w", ovosbox.ErrAway, err)
	}
	return err
}
