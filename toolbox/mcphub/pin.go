package mcphub

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/internal/pinned"
)

// pins are the definitions of a server's tools that a person, or the first
// sight of them, has approved.
type pins struct {
	// Seen: the server was listed once. What comes later is not seen first,
	// also if there was nothing then.
	Seen  bool           `json:"seen,omitempty"`
	Tools map[string]pin `json:"tools"`
	// Hidden says which values of the vault were looked for; empty: none.
	Hidden string `json:"hidden,omitempty"`
}

// pin is one definition. The whole text is kept, to show what has changed, but
// for values of the vault.
type pin struct {
	Hash       string          `json:"hash"` // of what the server said, before anything was hidden
	Definition json.RawMessage `json:"definition"`
	At         time.Time       `json:"at"`
	First      bool            `json:"first,omitempty"` // taken as it was first seen, and no person looked
	Confirmed  *confirmed      `json:"confirmed,omitempty"`
}

// of reports whether it is the pin of a definition.
func (p pin) of(d definition) bool { return p.Hash == d.sum || d.old != "" && p.Hash == d.old }

// none reports whether the server was never listed, or is forgotten.
func (p *pins) none() bool { return !p.Seen && len(p.Tools) == 0 }

func (p *pins) add(d definition, at time.Time, first bool) {
	if p.Tools == nil {
		p.Tools = map[string]pin{}
	}
	p.Tools[d.Name] = pin{Hash: d.sum, Definition: d.raw, At: at, First: first}
}

// doubtful is why a definition is held back whose pin cannot be believed.
const doubtful = "what was approved of this server was changed, removed or put back by somebody else, so it has to be approved again"

// loadPins reads the pins of a server. With an error they cannot be believed:
// then there are none, and nothing counts as seen first.
func (b *Box) loadPins() (pins, error) {
	var p pins
	if _, err := b.hub.store.Load("pins-"+b.name, &p); err != nil {
		return pins{}, err
	}
	return p, nil
}

// Held is a definition that is kept back until a person approves it.
type Held = pinned.Held

func heldBack(d definition, why string, was json.RawMessage) Held {
	if d.unseen != "" && d.unseen != why {
		why += ", and " + d.unseen
	}
	return Held{Tool: d.Name, Why: why, Was: was, Is: d.raw, Hash: d.sum}
}

// sortDefinitions sorts the definitions of a manifest: those that are approved, and those
// that are kept back. What is seen first is approved and pinned, but for what
// looks as if it wanted to mislead.
func (b *Box) sortDefinitions(list []definition, p *pins, first bool) (good []definition, held []Held) {
	for _, d := range list {
		was, known := p.Tools[d.Name]
		switch {
		case b.server.Unpinned, known && was.of(d):
			good = append(good, d)
		case known && string(was.Definition) == string(d.raw):
			held = append(held, heldBack(d, "its definition has another value of the vault in it than the one that was approved (values are not shown)", was.Definition))
		case known:
			held = append(held, heldBack(d, "its definition is another than the one that was approved", was.Definition))
		case first && d.unseen != "":
			held = append(held, heldBack(d, d.unseen, nil))
		case first:
			good = append(good, d)
			p.add(d, b.now(), true)
		default:
			held = append(held, heldBack(d, "it is new since the server was approved", nil))
		}
	}
	return good, held
}
