package mcphub

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// hidden finds letters in a definition that a person does not see and a model
// reads: such a text is meant for one of them only.
func hidden(d definition) string {
	for _, text := range []string{d.Name, d.Title, d.Description, string(d.Input), string(d.Output), string(d.Annotations)} {
		for _, r := range text {
			if unseen(r) {
				return fmt.Sprintf("it has letters that cannot be seen (U+%04X)", r)
			}
		}
	}
	return ""
}

// unseen are letters that steer how a text is shown, or show nothing.
func unseen(r rune) bool {
	switch {
	case r >= 0xE0000 && r <= 0xE007F, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return true // tags, and marks that turn the direction
	case r == 0x200B, r == 0x2060, r == 0xFEFF, r == 0x00AD, r == 0x180E:
		return true // no width
	case r == '\n', r == '\t', r == '\r':
		return false
	}
	return unicode.IsControl(r)
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

// Warnings looks at what all servers offer: words in descriptions that are not
// about their tool, and tools that stand in the place of another's.
func (h *Hub) Warnings() []Warning {
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
	words := suspicious()
	var kinds []string
	for why := range words {
		kinds = append(kinds, why)
	}
	slices.Sort(kinds)
	for _, n := range order {
		d := defs[n]
		warn := func(text string) { all = append(all, Warning{n.server, n.tool, text}) }
		text := d.Title + "\n" + d.Description + "\n" + string(d.Input)
		if why := hidden(d); why != "" {
			warn(why)
		}
		for _, why := range kinds {
			if words[why].MatchString(text) {
				warn(why)
			}
		}
		if h.needs.Suspect != nil {
			for _, why := range h.needs.Suspect(d.Description) {
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
	return all
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
