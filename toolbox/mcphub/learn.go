package mcphub

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// loadManifest takes what was kept of an earlier run. B.learning is held.
func (b *Box) loadManifest() {
	var m manifest
	ok, err := b.hub.store.Load("manifest-"+b.name, &m)
	if err != nil {
		b.hub.needs.Log.Warn("an MCP server has to be asked anew", "server", b.name, "err", err)
	}
	if err != nil || !ok || m.Of != b.fingerprint() {
		return
	}
	again := b.hideValues(&m)
	if _, err := b.useManifest(&m, false); err != nil {
		b.hub.needs.Log.Warn("an MCP server has to be asked anew", "server", b.name, "err", err)
		return
	}
	// After the pins, which are made anew from what stood in it.
	if again {
		if err := b.hub.store.Save("manifest-"+b.name, &m); err != nil {
			b.hub.needs.Log.Warn("what an MCP server offers is kept as it was, with values that are in the vault", "server", b.name, "err", err)
		}
	}
}

// learn asks a running server what it offers and keeps that. It reports whether
// that is another thing than before, for everybody.
func (b *Box) learn(ctx context.Context, i *instance, s *client.Session) (changed bool, _ error) {
	turn := i.asked.Add(1)
	m, err := fetch(ctx, s, b.now(), b.fingerprint(), mostOffered)
	if err != nil {
		return false, err
	}
	b.hideValues(m)
	b.learning.Lock()
	defer b.learning.Unlock()
	if turn < i.learned {
		return false, nil // who asked later was faster, and knows better
	}
	i.learned = turn
	if i.key != "" {
		b.split(i.key, m)
	}
	return b.useManifest(m, true)
}

// useManifest makes a manifest the one that counts; fresh: the server has just said it.
// B.learning is held.
func (b *Box) useManifest(m *manifest, fresh bool) (changed bool, _ error) {
	p, doubt := b.loadPins()
	// Pins that were there and are gone were removed by a person, with the
	// server: that is no leave to take what it offers now.
	forgotten := p.none() && b.pinned
	list, faults := b.read(m)
	first := fresh && p.none() && doubt == nil && !forgotten && !b.server.Unpinned
	good, held := b.sortDefinitions(list, &p, first && !b.server.Approve)
	if doubt != nil {
		for i := range held {
			held[i].Why = doubtful
		}
		if !b.doubted && len(held) > 0 {
			b.hub.needs.Log.Error("what was approved of an MCP server cannot be believed; all of it is held back until it is approved again",
				"server", b.name, "err", doubt, "help", "toolcrib hub approve "+b.name)
		}
	}
	b.doubted = doubt != nil
	renewed := doubt == nil && b.renewPins(&p, list)
	if first {
		p.Seen = true
	}
	if first || renewed {
		switch err := b.hub.store.Save("pins-"+b.name, p); {
		case err != nil && first:
			return false, err
		case err != nil: // what is there still says the same, in its old form
			b.hub.needs.Log.Warn("what was approved of an MCP server could not be written anew", "server", b.name, "err", err)
		}
	}
	b.pinned = b.pinned || !p.none()
	b.mu.Lock()
	was := b.manifest
	b.mu.Unlock()
	if fresh {
		if !forgotten && (!m.same(was) || m.Hidden != was.Hidden) {
			if err := b.hub.store.Save("manifest-"+b.name, m); err != nil {
				return false, err
			}
		}
		if err := b.hub.store.Remove("failed-" + b.name); err != nil {
			return false, err
		}
	}
	approved, names := map[string]string{}, map[string]definition{}
	var unwanted []string
	tools := b.shelfTools(m)
	listing, unlisted := b.listingOf(m)
	var instructions json.RawMessage
	for _, d := range good {
		if d.Name == InstructionsName {
			instructions = d.raw
			continue
		}
		if !b.wants(d.Name) {
			unwanted = append(unwanted, d.Name)
			continue
		}
		d.confirmed = p.confirmedFor(d)
		t, err := b.tool(d)
		if _, twice := names[t.Name]; err == nil && twice {
			err = errors.New("another tool of this server has the same name here")
		}
		if err != nil {
			faults = append(faults, toolcrib.LoadError{Box: b.name, Tool: d.Name, Err: err})
			continue
		}
		approved[d.Name], names[t.Name] = d.sum, d
		tools = append(tools, t)
	}
	b.mu.Lock()
	changed = !m.same(b.manifest) || string(instructions) != string(b.instructions) || !maps.Equal(approved, b.approved) || !slices.EqualFunc(held, b.held, func(x, y Held) bool { return x.Tool == y.Tool && x.Hash == y.Hash })
	b.manifest, b.approved, b.names, b.tools, b.held, b.faults = m, approved, names, tools, held, faults
	b.listing, b.leftOut, b.unwanted, b.instructions = listing, unlisted, unwanted, instructions
	b.mu.Unlock()
	if changed {
		b.watchers.Each(func(changed func()) { changed() })
		if fresh {
			b.hub.notify()
		}
	}
	return changed, nil
}

// definitions are all tools that the server offers, kept back or not.
func (b *Box) definitions() []definition {
	return slices.DeleteFunc(b.approvable(), func(d definition) bool { return d.Name == InstructionsName })
}

// approvable are the definitions that a person approves: of tools, and the instructions.
func (b *Box) approvable() []definition {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.manifest == nil {
		return nil
	}
	defs, _ := b.read(b.manifest)
	return defs
}

// wants reports whether a tool is to be offered.
func (b *Box) wants(tool string) bool {
	t := b.called(tool)
	match := t.Called
	return (len(b.server.Enabled) == 0 || slices.ContainsFunc(b.server.Enabled, match)) && !slices.ContainsFunc(b.server.Disabled, match)
}

// called is a tool of the server by every name that settings may call it.
func (b *Box) called(tool string) toolname.Tool {
	return toolname.Tool{Box: b.name, Native: tool, Shown: []string{plainName(tool)}}
}

func checkPattern(p string) error {
	_, err := path.Match(p, "")
	return err
}
