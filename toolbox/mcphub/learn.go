package mcphub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// recall takes what was kept of an earlier run.
func (b *Box) recall() {
	var m manifest
	ok, err := b.hub.store.load("manifest-"+b.name, &m)
	if err != nil {
		b.hub.needs.Log.Warn("an MCP server has to be asked anew", "server", b.name, "err", err)
	}
	if err != nil || !ok || m.Of != b.server.fingerprint() {
		return
	}
	if err := b.put(&m, false); err != nil {
		b.hub.needs.Log.Warn("an MCP server has to be asked anew", "server", b.name, "err", err)
	}
}

// learn asks a running server what it offers and keeps that.
func (b *Box) learn(ctx context.Context, s *client.Session) error {
	m, err := fetch(ctx, s, b.now(), b.server.fingerprint())
	if err != nil {
		return err
	}
	return b.put(m, true)
}

// put makes a manifest the one that counts.
func (b *Box) put(m *manifest, fresh bool) error {
	b.learning.Lock()
	defer b.learning.Unlock()
	var p pins
	if _, err := b.hub.store.load("pins-"+b.name, &p); err != nil {
		return err // nothing is offered by guesswork: a person has to see to it
	}
	list, raw, faults := read(m.Tools, b.name)
	good, held, pinned := b.sift(list, raw, &p)
	if pinned {
		if err := b.hub.store.save("pins-"+b.name, p); err != nil {
			return err
		}
	}
	if fresh {
		if err := b.hub.store.save("manifest-"+b.name, m); err != nil {
			return err
		}
	}
	approved := map[string]string{}
	tools := b.shelfTools(m)
	for _, d := range good {
		if !b.wants(d.Name) {
			continue
		}
		sum, err := d.hash()
		if err != nil {
			continue // sifted before
		}
		t, err := b.tool(d, sum)
		if err != nil {
			faults = append(faults, toolcrib.Fault{Box: b.name, Tool: d.Name, Err: err})
			continue
		}
		approved[d.Name] = sum
		tools = append(tools, t)
	}
	b.mu.Lock()
	changed := b.manifest == nil || !maps.Equal(approved, b.approved) || !sameLists(b.manifest, m) || len(held) != len(b.held)
	b.manifest, b.approved, b.tools, b.held, b.faults = m, approved, tools, held, faults
	watchers := slices.Collect(maps.Values(b.watchers))
	b.mu.Unlock()
	if changed {
		for _, tell := range watchers {
			tell()
		}
		if fresh {
			b.hub.notify()
		}
	}
	return nil
}

// sameLists compares what is offered besides tools.
func sameLists(a, b *manifest) bool {
	same := func(x, y []json.RawMessage) bool {
		return slices.EqualFunc(x, y, func(p, q json.RawMessage) bool { return string(p) == string(q) })
	}
	return same(a.Prompts, b.Prompts) && same(a.Resources, b.Resources) && same(a.Templates, b.Templates)
}

// read takes the definitions of tools apart. One that cannot be read is left
// out, and so is the second of a name.
func read(list []json.RawMessage, box string) (defs []definition, raw map[string]json.RawMessage, faults []toolcrib.Fault) {
	raw = map[string]json.RawMessage{}
	for i, text := range list {
		var d definition
		err := json.Unmarshal(text, &d)
		switch {
		case err != nil:
			faults = append(faults, toolcrib.Fault{Box: box, Tool: fmt.Sprintf("number %d", i+1), Err: fmt.Errorf("its definition cannot be read: %w", err)})
		case d.Name == "" || len(d.Name) > 256:
			faults = append(faults, toolcrib.Fault{Box: box, Tool: fmt.Sprintf("number %d", i+1), Err: errors.New("it has no name, or an endless one")})
		case raw[d.Name] != nil:
			faults = append(faults, toolcrib.Fault{Box: box, Tool: d.Name, Err: errors.New("the server has another tool of this name")})
		default:
			raw[d.Name] = text
			defs = append(defs, d)
		}
	}
	return defs, raw, faults
}

// definitions is everything the server offers, kept back or not.
func (b *Box) definitions() []definition {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.manifest == nil {
		return nil
	}
	defs, _, _ := read(b.manifest.Tools, b.name)
	return defs
}

// wants reports whether a tool is to be offered.
func (b *Box) wants(tool string) bool {
	match := func(p string) bool { return matches(p, tool) }
	return (len(b.server.Enabled) == 0 || slices.ContainsFunc(b.server.Enabled, match)) && !slices.ContainsFunc(b.server.Disabled, match)
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return pattern == name || ok && err == nil
}

func checkPattern(p string) error {
	_, err := path.Match(p, "")
	return err
}
