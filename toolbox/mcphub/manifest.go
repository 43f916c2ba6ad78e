package mcphub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// manifest is what a server offers, as it said it, without values of the vault.
// It is a claim.
type manifest struct {
	Of           string            `json:"of"` // how the server was set up when it said so
	At           time.Time         `json:"at"`
	Version      string            `json:"version"` // of the protocol
	Info         json.RawMessage   `json:"info,omitempty"`
	Capabilities json.RawMessage   `json:"capabilities,omitempty"`
	Tools        []json.RawMessage `json:"tools,omitempty"`
	Prompts      []json.RawMessage `json:"prompts,omitempty"`
	Resources    []json.RawMessage `json:"resources,omitempty"`
	Templates    []json.RawMessage `json:"templates,omitempty"`

	// Instructions are written as the definition of a tool is, and have a
	// fingerprint as those have.
	Instructions    json.RawMessage `json:"instructions,omitempty"`
	InstructionsSum string          `json:"instructions_sum,omitempty"`

	// Sums are the fingerprints of Tools as the server said them, before
	// anything was hidden.
	Sums []string `json:"sums,omitempty"`
	// Hidden says which values of the vault were looked for; empty: none.
	Hidden  string    `json:"hidden,omitempty"`
	LeftOut []leftOut `json:"left_out,omitempty"`

	old []string // of Tools, by the fingerprint that pins had before Sums; nil: not known
}

// leftOut is a definition that cannot be shown without a value of the vault.
type leftOut struct {
	Kind string `json:"kind"`
	Name string `json:"name"` // with the value taken out
}

// same reports whether a server said the same at another time.
func (m *manifest) same(o *manifest) bool {
	if o == nil {
		return false
	}
	list := sameTexts
	return slices.Equal(m.Sums, o.Sums) && m.InstructionsSum == o.InstructionsSum && string(m.Instructions) == string(o.Instructions) && slices.Equal(m.LeftOut, o.LeftOut) && m.Of == o.Of && m.Version == o.Version && string(m.Info) == string(o.Info) && string(m.Capabilities) == string(o.Capabilities) &&
		list(m.Tools, o.Tools) && list(m.Prompts, o.Prompts) && list(m.Resources, o.Resources) && list(m.Templates, o.Templates)
}

func sameTexts(x, y []json.RawMessage) bool {
	return slices.EqualFunc(x, y, func(p, q json.RawMessage) bool { return string(p) == string(q) })
}

// fingerprint tells one set-up of a server from another: what another program
// or another address said does not count for this one. Variables and headers may
// hold secrets, so that it takes a key where there is one.
func (b *Box) fingerprint() string {
	s := b.server
	words := []string{"server", s.Command, fmt.Sprint(len(s.Args))}
	words = append(words, s.Args...)
	words = append(words, s.Dir, s.URL, s.Transport)
	for _, m := range []map[string]string{s.Env, s.Headers} {
		words = append(words, fmt.Sprint(len(m)))
		for _, key := range slices.Sorted(maps.Keys(m)) {
			words = append(words, key, m[key])
		}
	}
	if s.Mark != "" { // else what was kept before there were marks is still good
		words = append(words, s.Mark)
	}
	if b.hub.needs.Seals != nil {
		return b.hub.needs.Seals.Digest(words...)
	}
	h := sha256.New()
	for _, w := range words {
		fmt.Fprintf(h, "%d:%s,", len(w), w)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// SetUp is a fingerprint of what is started or asked under this name.
func (b *Box) SetUp() string { return b.fingerprint() }

// has reports whether a server said that it offers a kind of thing.
func (m *manifest) has(capability string) bool { return capable(m.Capabilities, capability) }

// capable reports whether a list of capabilities has one.
func capable(list json.RawMessage, name string) bool {
	var all map[string]json.RawMessage
	return json.Unmarshal(list, &all) == nil && all[name] != nil && string(all[name]) != "null"
}

// compact takes the space out, so that what was kept compares equal to what is
// said again.
func compact(text json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if text == nil || json.Compact(&b, text) != nil {
		return text
	}
	return b.Bytes()
}

// mostOffered bounds what all lists of a server have together.
const mostOffered = 16 << 20

var errTooMuch = fmt.Errorf("it offers more than %d MiB of definitions, which is the most that is kept of one server", mostOffered>>20)

// fetch asks a server for everything it offers. What it does not say it offers
// is not asked for; a list that it cannot give is left out, but for the tools. More
// than most bytes are too many.
func fetch(ctx context.Context, s *client.Session, now time.Time, of string, most int) (*manifest, error) {
	m := &manifest{Of: of, At: now, Version: s.Version()}
	var instructions string
	m.Capabilities, m.Info, instructions = s.Server()
	m.Capabilities, m.Info, m.Instructions = compact(m.Capabilities), compact(m.Info), instructionsDefinition(instructions)
	size := len(m.Capabilities) + len(m.Info) + len(m.Instructions)
	if size > most {
		return nil, errTooMuch
	}
	take := func(into *[]json.RawMessage) func(json.RawMessage) error {
		return func(item json.RawMessage) error {
			if size += len(item); size > most {
				return errTooMuch
			}
			*into = append(*into, compact(item))
			return nil
		}
	}
	for _, l := range []struct {
		capability, method, key string
		into                    *[]json.RawMessage
	}{
		{"tools", mcp.MethodToolsList, "tools", &m.Tools},
		{"prompts", mcp.MethodPromptsList, "prompts", &m.Prompts},
		{"resources", mcp.MethodResourcesList, "resources", &m.Resources},
		{"resources", mcp.MethodTemplatesList, "resourceTemplates", &m.Templates},
	} {
		if !m.has(l.capability) {
			continue
		}
		_, err := s.List(ctx, l.method, l.key, take(l.into))
		if err == nil {
			continue
		}
		if _, said := errors.AsType[*mcp.Error](err); l.capability == "tools" || !said {
			return nil, fmt.Errorf("%s: %w", l.method, err)
		}
		*l.into = nil // it said that it has them and does not: nothing is lost
	}
	return m, nil
}
