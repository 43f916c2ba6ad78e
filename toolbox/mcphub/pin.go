package mcphub

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// pins are the definitions of a server's tools that a person, or the first
// sight of them, has approved.
type pins struct {
	Tools map[string]pin `json:"tools"`
}

// pin is one definition. The whole text is kept, to show what has changed.
type pin struct {
	Hash       string          `json:"hash"`
	Definition json.RawMessage `json:"definition"`
	At         time.Time       `json:"at"`
	First      bool            `json:"first,omitempty"` // taken as it was first seen, and no person looked
}

// definition is what of a tool a model or a person goes by.
type definition struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"inputSchema,omitempty"`
	Output      json.RawMessage `json:"outputSchema,omitempty"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
}

// hash is the fingerprint of a definition: it is the same for two texts that
// differ in space and the order of members only.
func (d definition) hash() (string, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("pinning %s: %w", d.Name, err)
	}
	var value any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		return "", fmt.Errorf("pinning %s: %w", d.Name, err)
	}
	if text, err = json.Marshal(value); err != nil { // members come out sorted
		return "", fmt.Errorf("pinning %s: %w", d.Name, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Held is a definition that is kept back until a person approves it.
type Held struct {
	Tool string
	Why  string          // changed, new, or what was noticed
	Was  json.RawMessage // nil: it is new
	Is   json.RawMessage
}

// sift sorts the definitions of a manifest: those that are approved, and those
// that are kept back. With no pins yet, what is seen first is approved, but for
// what looks as if it wanted to mislead.
func (b *Box) sift(list []definition, raw map[string]json.RawMessage, p *pins) (good []definition, held []Held, changed bool) {
	first := len(p.Tools) == 0 && !b.server.Approve
	for _, d := range list {
		sum, err := d.hash()
		if err != nil {
			held = append(held, Held{Tool: d.Name, Why: err.Error(), Is: raw[d.Name]})
			continue
		}
		was, known := p.Tools[d.Name]
		switch {
		case b.server.Unpinned, known && was.Hash == sum:
			good = append(good, d)
		case known:
			held = append(held, Held{Tool: d.Name, Why: "its definition is another than the one that was approved", Was: was.Definition, Is: raw[d.Name]})
		case first && hidden(d) != "":
			held = append(held, Held{Tool: d.Name, Why: hidden(d), Is: raw[d.Name]})
		case first:
			good = append(good, d)
			changed = true
		default:
			held = append(held, Held{Tool: d.Name, Why: "it is new since the server was approved", Is: raw[d.Name]})
		}
	}
	if changed {
		if p.Tools == nil {
			p.Tools = map[string]pin{}
		}
		for _, d := range good {
			sum, err := d.hash()
			if err == nil {
				p.Tools[d.Name] = pin{Hash: sum, Definition: raw[d.Name], At: b.hub.needs.Now(), First: true}
			}
		}
	}
	return good, held, changed
}
