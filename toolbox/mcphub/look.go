package mcphub

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/internal/text"
)

// hidden finds letters in a text that a person does not see and a model reads:
// such a text is meant for one of them only.
func hidden(s string) string {
	if r, found := text.FirstHidden(strings.ReplaceAll(s, "\r\n", "\n")); found {
		return fmt.Sprintf("it has letters that cannot be seen (U+%04X)", r)
	}
	return ""
}

// suspicious are words in a description that speak to a model about anything
// but the tool. They are reported and decide nothing: an honest server may use
// them, and a clever one need not.
func suspicious() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"it gives orders beyond the tool":         regexp.MustCompile(`(?i)<\s*(important|system|secret|instructions?)\s*>|\b(ignore|disregard|forget)\b.{0,40}\b(previous|prior|above|other|earlier)\b|\byou must (always|never|first)\b|\bbefore (using|calling|you use) (this|any|the)\b.{0,60}\b(tool|file|read)\b`),
		"it wants something kept from the person": regexp.MustCompile(`(?i)\b(do not|don't|never|without)\b.{0,30}\b(tell|mention|inform|show|notify|telling|mentioning|informing)\b.{0,30}\b(user|person|human|anyone)\b`),
		"it speaks of files with secrets":         regexp.MustCompile(`(?i)(~|/home/|/root)?/?\.(ssh|aws|gnupg|netrc|env|npmrc|kube)\b|\bid_(rsa|ed25519)\b|\bmcp\.json\b`),
	}
}

// Warning is something about a server that a person should know.
type Warning struct {
	Server string
	Tool   string
	Text   string
}

// Warnings looks at what all servers offer, and tells of these servers, or of all
// if none is named: words in descriptions that are not about their tool, and tools
// that stand in the place of another's.
func (h *Hub) Warnings(servers ...string) []Warning {
	type named struct{ server, tool string }
	var all []Warning
	owners := map[string][]named{}
	defs := map[named]definition{}
	var order []named
	for _, b := range h.Boxes() {
		for _, d := range b.definitions() {
			n := named{b.name, d.Name}
			defs[n] = d
			order = append(order, n)
			owners[folded(d.Name)] = append(owners[folded(d.Name)], n)
		}
	}
	suspect := suspicious()
	kinds := slices.Sorted(maps.Keys(suspect))
	for _, n := range order {
		d := defs[n]
		warn := func(text string) { all = append(all, Warning{n.server, n.tool, text}) }
		if d.unseen != "" {
			warn(d.unseen)
		}
		text := words(d)
		for _, why := range kinds {
			if suspect[why].MatchString(text) {
				warn(why)
			}
		}
		for _, other := range owners[folded(d.Name)] {
			if other.server != n.server {
				warn(fmt.Sprintf("the server %s has a tool of this name too (%s)", other.server, other.tool))
			}
		}
		for _, other := range order {
			if other.server != n.server && len(other.tool) >= 6 && strings.ContainsAny(other.tool, "_-") && mentions(d.Description, other.tool) {
				warn(fmt.Sprintf("it speaks of %s, a tool of the server %s", other.tool, other.server))
			}
		}
	}
	for _, b := range h.Boxes() {
		b.mu.Lock()
		all = append(all, b.leftOut...)
		b.mu.Unlock()
	}
	var out []Warning
	for _, w := range append(all, h.shadows()...) {
		if len(servers) == 0 || slices.Contains(servers, w.Server) {
			out = append(out, w)
		}
	}
	return out
}

// words are all texts of a definition, as they are read.
func words(d definition) string {
	var b strings.Builder
	err := texts(d.raw, func(s string) error {
		b.WriteString(s)
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		return string(d.raw) // it was read before
	}
	return b.String()
}

// shadows finds what two servers offer by the same name besides tools: only one
// of them is asked for it.
func (h *Hub) shadows() []Warning {
	type thing struct{ kind, name string }
	owners := map[thing][]string{}
	var order []thing
	for _, b := range h.Boxes() {
		l := b.Listing()
		for _, of := range []struct {
			kind, key string
			list      []json.RawMessage
		}{{"resource", "uri", l.Resources}, {"resource template", "uriTemplate", l.Templates}, {"prompt", "name", l.Prompts}} {
			for _, text := range of.list {
				t := thing{of.kind, textMember(text, of.key)}
				if t.name == "" || slices.Contains(owners[t], b.name) {
					continue
				}
				if owners[t] == nil {
					order = append(order, t)
				}
				owners[t] = append(owners[t], b.name)
			}
		}
	}
	var all []Warning
	for _, t := range order {
		for _, server := range owners[t] {
			for _, other := range owners[t] {
				if other != server {
					all = append(all, Warning{server, t.name, fmt.Sprintf("the server %s has a %s of this name too", other, t.kind)})
				}
			}
		}
	}
	return all
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

// folded makes names equal that are read as the same.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_' || r == '-' || r == '.':
			return -1
		case r == '0':
			return 'o'
		case r == '1' || r == 'l' || r == 'I':
			return 'i'
		}
		return unicode.ToLower(r)
	}, name)
}

// mentions reports whether a text has a name as a word of its own.
func mentions(text, name string) bool {
	for rest := text; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		before, after := byte(' '), byte(' ')
		if i > 0 {
			before = rest[i-1]
		}
		if end := i + len(name); end < len(rest) {
			after = rest[end]
		}
		if !wordByte(before) && !wordByte(after) {
			return true
		}
		rest = rest[i+len(name):]
	}
}

func wordByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
