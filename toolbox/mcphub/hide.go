package mcphub

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/pinned"
)

// A server that was given a secret may repeat it in whatever it says. Results
// of tools are vetted by the crib; values of the vault are taken out of
// everything else here, before a client, a person or a file of ours has it.

const kindTool = "tool"

// holdsValue is why a definition is left out: it is asked for by its names, so
// that without them it is of no use.
const holdsValue = "its name, or the name of something in it, holds a value of the vault, which nobody may be shown"

// hide takes values of the vault out of what a server says.
func (b *Box) hide(value json.RawMessage) json.RawMessage {
	if b.hub.needs.Hide == nil || len(value) == 0 {
		return value
	}
	hidden, _ := b.hub.needs.Hide(value) // without the vault nobody can tell what to hide
	return hidden
}

// hideValues takes values of the vault out of what a server offers. The fingerprints
// of its tools are made before, so that a definition has the same one whether or
// not the vault can be opened. It reports whether the manifest is another now than
// the one that is kept.
func (b *Box) hideValues(m *manifest) (changed bool) {
	if len(m.Sums) != len(m.Tools) {
		m.Sums, m.old = b.sums(m.Tools)
		changed = true
	}
	if m.Instructions != nil && m.InstructionsSum == "" {
		sums, _ := b.sums([]json.RawMessage{m.Instructions})
		m.InstructionsSum, changed = sums[0], true
	}
	if b.hub.needs.Hide == nil {
		return changed
	}
	hiding := b.hiding() // before the look, so that what changes meanwhile is looked for again
	if hiding != "" && m.Hidden == hiding {
		return changed
	}
	known := true
	hide := func(text json.RawMessage) json.RawMessage {
		hidden, ok := b.hub.needs.Hide(text)
		known = known && ok
		changed = changed || string(hidden) != string(text)
		return hidden
	}
	m.Info, m.Capabilities = hide(m.Info), hide(m.Capabilities)
	if m.Instructions != nil {
		m.Instructions = hide(m.Instructions)
	}
	sift := func(kind, key string, list []json.RawMessage, left func(at int)) (good []json.RawMessage) {
		for i, text := range list {
			hidden := hide(text)
			if string(hidden) != string(text) && !sameNames(text, hidden, key) {
				m.LeftOut = append(m.LeftOut, leftOut{Kind: kind, Name: clip(textMember(hidden, key))})
				left(i)
				continue
			}
			good = append(good, hidden)
		}
		return good
	}
	var gone []int
	m.Tools = sift(kindTool, "name", m.Tools, func(at int) { gone = append(gone, at) })
	for _, at := range slices.Backward(gone) {
		m.Sums = slices.Delete(m.Sums, at, at+1)
		if m.old != nil {
			m.old = slices.Delete(m.old, at, at+1)
		}
	}
	none := func(int) {}
	m.Prompts = sift("prompt", "name", m.Prompts, none)
	m.Resources = sift("resource", "uri", m.Resources, none)
	m.Templates = sift("resource template", "uriTemplate", m.Templates, none)
	if !known {
		hiding = ""
	}
	changed = changed || m.Hidden != hiding
	m.Hidden = hiding
	return changed
}

// sums are the fingerprints of definitions, and those that pins had once. One
// that cannot be read has none, and is told of where it is read.
func (b *Box) sums(tools []json.RawMessage) (sums, old []string) {
	sums, old = make([]string, len(tools)), make([]string, len(tools))
	for i, text := range tools {
		plain, err := pinned.Canonical(text)
		if err != nil {
			continue
		}
		old[i] = pinned.Sum(plain)
		sums[i] = old[i]
		// Whoever reads a plain one, and the text around the value, can try out
		// what the value is.
		if b.hub.needs.Seals != nil {
			sums[i] = b.hub.needs.Seals.Digest("definition", plain)
		}
	}
	return sums, old
}

// read takes the definitions of a manifest apart, the instructions last.
func (b *Box) read(m *manifest) ([]definition, []toolcrib.LoadError) {
	defs, faults := read(m.Tools, b.name)
	if len(m.Sums) == len(m.Tools) {
		for i := range defs {
			d := &defs[i]
			d.sum = m.Sums[d.at]
			if m.old != nil {
				d.old = m.old[d.at]
			}
		}
	}
	if d, ok := m.readInstructions(); ok {
		defs = append(defs, d)
	}
	for _, l := range m.LeftOut {
		if l.Kind == kindTool {
			faults = append(faults, toolcrib.LoadError{Box: b.name, Tool: l.Name, Err: errors.New("it is left out: " + holdsValue)})
		}
	}
	return defs, faults
}

// renewPins writes pins of an older Toolcrib, and those that have a value which
// is in the vault by now, as they are written today. It reports whether it changed
// any.
func (b *Box) renewPins(p *pins, list []definition) (renewed bool) {
	for _, d := range list {
		if was, ok := p.Tools[d.Name]; ok && was.Hash != d.sum && was.of(d) {
			was.Hash = d.sum
			p.Tools[d.Name] = was
			renewed = true
		}
	}
	hiding := b.hiding()
	if b.hub.needs.Hide == nil || hiding != "" && p.Hidden == hiding || p.none() {
		return renewed
	}
	for name, was := range p.Tools {
		hidden, ok := b.hub.needs.Hide(was.Definition)
		if !ok {
			hiding = ""
		}
		if !bytes.Equal(hidden, was.Definition) {
			was.Definition = hidden
			p.Tools[name] = was
			renewed = true
		}
	}
	renewed = renewed || p.Hidden != hiding
	p.Hidden = hiding
	return renewed
}

// hiding is which values are hidden now; empty: that is not known.
func (b *Box) hiding() string {
	if b.hub.needs.Hiding == nil {
		return ""
	}
	return b.hub.needs.Hiding()
}

// sameNames reports whether a definition is called and filled in by the same
// names as before something was hidden in it.
func sameNames(was, is json.RawMessage, key string) bool {
	return textMember(was, key) == textMember(is, key) && slices.Equal(argumentNames(was), argumentNames(is)) &&
		slices.Equal(memberNames(was), memberNames(is))
}

// memberNames are those of all objects in a value, in their order.
func memberNames(value json.RawMessage) []string {
	var names []string
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var open []byte // { before a name, : behind one, [
	for {
		token, err := dec.Token()
		if err != nil {
			return names
		}
		top := len(open) - 1
		if text, ok := token.(string); ok && top >= 0 && open[top] == '{' {
			names = append(names, text)
			open[top] = ':'
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, '{')
			continue
		case json.Delim('['):
			open = append(open, '[')
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:top]
			top--
		}
		if top >= 0 && open[top] == ':' {
			open[top] = '{'
		}
	}
}
