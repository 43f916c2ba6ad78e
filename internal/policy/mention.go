package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// Mention is a place in the settings that means tools.
type Mention struct {
	Where string // for people, such as "permissions: deny read_fil"
	Text  string // as it is written
	Tools Selector
	when  string // the condition of a rule; empty: it has none
	gives string // what it does if it gives: allows, includes; empty: it takes away
	means func(*toolcrib.Entry) bool
}

// MentionOf is a selector in the settings that is no rule.
func MentionOf(where string, s Selector) Mention {
	return Mention{Where: where, Text: s.String(), Tools: s, means: s.Picks}
}

// InclusionOf is a selector by which tools come to exist for somebody. Own are the boxes
// that are part of the program.
func InclusionOf(where string, s Selector, own []string) Mention {
	return Mention{Where: where, Text: s.String(), Tools: s, gives: "includes", means: func(spec *toolcrib.Entry) bool { return s.includes(spec, own) }}
}

// Gives says what the place does if it gives something: allows, includes. Empty: it
// takes away, or it limits.
func (m *Mention) Gives() string { return m.gives }

// TypedName is the name by which people are shown a tool: its name if an allow by that
// means this tool, and else box/tool, so that what is shown can be typed into a rule.
// Own are the boxes whose tools an allow by a bare name means.
func TypedName(spec *toolcrib.Entry, own []string) string {
	// What begins with mcp__ may mean a server of the name that follows, too.
	if s, err := ParseSelector(spec.Name); err == nil && s.picksForCertain(spec, own) && !strings.HasPrefix(spec.Box, "mcp__") || spec.Box == "" {
		return spec.Name
	}
	return spec.Box + "/" + spec.Native
}

// Means reports whether the place means this tool.
func (m *Mention) Means(spec *toolcrib.Entry) bool { return m.means(spec) }

// TwoWays reports whether it is an allow by a name that can be read in two ways,
// and so allows nothing.
func (m *Mention) TwoWays() bool {
	return m.gives != "" && slices.ContainsFunc(m.Tools.parts, func(p selectorPart) bool {
		return p.kind == selectTool && p.box == "" && toolname.Ambiguous(p.name)
	})
}

// Mentions lists what the rules of all layers are about.
func (r *Rules) Mentions() []Mention {
	var out []Mention
	if r == nil {
		return out
	}
	for _, l := range r.layers {
		for _, set := range []*ruleSet{l.deny, l.ask, l.allow} {
			for _, p := range set.all {
				m := Mention{
					Where: fmt.Sprintf("%s: %s", l.Source, p), Text: p.text, Tools: p.tool,
					means: func(s *toolcrib.Entry) bool { return p.about(s, &r.opt) },
				}
				if p.gives() {
					m.gives = "allows"
				}
				if p.when != nil {
					m.when, m.Text = p.when.text, p.when.text
				}
				out = append(out, m)
			}
		}
	}
	return out
}

// Named is the tool that a selector names: its box, if it says one, and its
// name. Pattern says that one of the two is a pattern. False: it names none and
// goes by groups or effects.
func (s *Selector) Named() (box, name string, pattern, ok bool) {
	for i := range s.parts {
		p := &s.parts[i]
		if p.kind != selectTool {
			continue
		}
		if box, name, ok := toolname.Split(p.name); ok && p.box == "" {
			return box, name, p.wild, true
		}
		return p.box, p.name, p.wild, true
	}
	return "", "", false, false
}

// Group is the group that a selector goes by; empty: none.
func (s *Selector) Group() string {
	for i := range s.parts {
		if s.parts[i].kind == selectGroup {
			return s.parts[i].name
		}
	}
	return ""
}
