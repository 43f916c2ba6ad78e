package mcphub

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pinned"
	"github.com/toolcrib/toolcrib/internal/wording"
)

// Warning is something about a server that a person should know.
type Warning struct {
	Server string
	Tool   string
	Text   string
}

// Warnings looks at what all servers offer, and tells of these servers, or of all
// if none is named: words in descriptions and instructions that are not about their
// tools, and tools that stand in the place of another's.
func (h *Hub) Warnings(servers ...string) []Warning {
	var all []Warning
	offered := h.offered()
	names := namesOf(offered)
	reader := wording.New()
	for _, o := range offered {
		warn := func(text string) { all = append(all, Warning{o.box.name, o.def.Name, text}) }
		if o.def.unseen != "" {
			warn(o.def.unseen)
		}
		for _, why := range reader.Warnings(words(o.def)) {
			warn(why)
		}
		for _, why := range names.warnings(o) {
			warn(why)
		}
	}
	for _, b := range h.Boxes() {
		for _, d := range b.approvable() {
			if d.Name != InstructionsName {
				continue
			}
			for _, why := range reader.Warnings(words(d)) {
				all = append(all, Warning{b.name, d.Name, why})
			}
		}
		b.mu.Lock()
		all = append(all, b.leftOut...)
		b.mu.Unlock()
	}
	var out []Warning
	for _, w := range all {
		if len(servers) == 0 || slices.Contains(servers, w.Server) {
			out = append(out, w)
		}
	}
	return out
}

// words are all texts of a definition, as they are read.
func words(d definition) string {
	var b strings.Builder
	err := pinned.Texts(d.raw, func(s string) error {
		b.WriteString(s)
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		return string(d.raw) // it was read before
	}
	return b.String()
}

// textMember is a member of an object that is a text, by its exact name.
func textMember(text json.RawMessage, key string) string {
	var all map[string]json.RawMessage
	var value string
	if json.Unmarshal(text, &all) != nil || all[key] == nil || json.Unmarshal(all[key], &value) != nil {
		return ""
	}
	return value
}
