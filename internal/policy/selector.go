package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// Selector picks tools, as people write it:
//
//	read_file             the tool of that name
//	files/read_file       the tool of one box
//	files/*  box:files    every tool of a box
//	get_*                 tools by pattern: * and ? within a name
//	github__get_issue     a tool as lists show it, with its box
//	mcp__github           every tool of an MCP server
//	mcp__github__get_*    its tools, by name or pattern
//	mcp__toolcrib__X      X, as clients of Toolcrib show it; also toolcrib/X
//	group:exec            tools of a group
//	effect:writes         tools that may do this; undeclared tools may do all
//	effects:pure,reads    tools that do nothing else
//	group:fs+effects:reads  what fits both
//	*                     every tool
//
// A tool answers to every name that it is shown by: its own, those of settings
// and those of dialects. See [toolcrib.Entry.Names].
type Selector struct {
	text  string
	parts []selectorPart
}

func (s Selector) String() string { return s.text }

type selectorKind uint8

const (
	selectNone selectorKind = iota // the zero selector picks nothing
	selectAll
	selectTool // box (may be empty) and name
	selectGroup
	selectEffect  // has the effect
	selectEffects // has no other effects
)

type selectorPart struct {
	kind      selectorKind
	box, name string // patterns; of selectTool. name is the group of selectGroup
	word      string // as written
	mcp       bool   // written as mcp__…
	exact     bool   // written as mcp__…/…: what gives means this very box
	wild      bool   // box or name is a pattern
	effects   toolcrib.Effects
}

// ParseSelector reads a selector. What it does not know is an error: a
// misspelt one must not silently pick nothing.
func ParseSelector(text string) (Selector, error) {
	s := Selector{text: strings.TrimSpace(text)}
	if s.text == "" {
		return Selector{}, errors.New("reading a selector: it is empty")
	}
	for word := range strings.SplitSeq(s.text, "+") {
		p, err := parsePart(strings.TrimSpace(word))
		if err != nil {
			return Selector{}, fmt.Errorf("reading the selector %q: %w", clip(text), err)
		}
		s.parts = append(s.parts, p)
	}
	return s, nil
}

// ParseSelectors reads several; the error names every bad one.
func ParseSelectors(texts []string) ([]Selector, error) {
	var out []Selector
	var errs []error
	for _, t := range texts {
		s, err := ParseSelector(t)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, s)
	}
	return out, errors.Join(errs...)
}

func parsePart(word string) (selectorPart, error) {
	if word == "" {
		return selectorPart{}, errors.New("it has an empty part")
	}
	if word == "*" {
		return selectorPart{kind: selectAll}, nil
	}
	if kind, rest, ok := strings.Cut(word, ":"); ok {
		return parseKeyed(kind, rest)
	}
	if rest, ok := toolname.FromClient(word); ok {
		return parsePart(rest)
	}
	if rest, ok := strings.CutPrefix(word, "mcp__"); ok {
		server, tool, all := strings.Cut(rest, "__")
		s, t, exact := strings.Cut(rest, "/")
		if exact { // of a server that is called so itself
			server, tool, all, word = s, t, true, "mcp__"+s+"__"+t
		}
		p := selectorPart{kind: selectTool, box: server, name: tool, word: word, mcp: true, exact: exact}
		if !all {
			p.name = "*"
		}
		if p.box == "" || p.name == "" {
			return p, errors.New("want mcp__server or mcp__server__tool")
		}
		return p.checked()
	}
	box, name, ok := strings.Cut(word, "/")
	if !ok {
		return selectorPart{kind: selectTool, name: word, word: word}.checked()
	}
	if box == "" || name == "" {
		return selectorPart{}, errors.New("want box/tool or box/*")
	}
	return selectorPart{kind: selectTool, box: box, name: name, word: word}.checked()
}

func parseKeyed(kind, rest string) (selectorPart, error) {
	switch kind {
	case "group":
		if rest == "" || !nameChars(rest, false) {
			return selectorPart{}, errors.New("want group: and a name, such as group:exec")
		}
		return selectorPart{kind: selectGroup, name: rest}, nil
	case "box":
		if rest == "" || !nameChars(rest, false) {
			return selectorPart{}, errors.New("want box: and a name, such as box:files")
		}
		return selectorPart{kind: selectTool, box: rest, name: "*", word: rest + "/*", wild: true}, nil
	case "effect", "effects":
		var e toolcrib.Effects
		if err := e.UnmarshalText([]byte(rest)); err != nil {
			return selectorPart{}, err
		}
		if e == 0 {
			return selectorPart{}, errors.New("want effects by name, such as effect:writes")
		}
		p := selectorPart{kind: selectEffects, effects: e}
		if kind == "effect" {
			if p.kind = selectEffect; e&(e-1) != 0 {
				return p, errors.New("effect: takes one word; effects: takes several and means nothing but these")
			}
		}
		return p, nil
	}
	return selectorPart{}, fmt.Errorf("nothing is selected by %q: want group, box, effect or effects before the colon", clip(kind))
}

func (p selectorPart) checked() (selectorPart, error) {
	if !nameChars(p.name, true) || !nameChars(p.box, true) {
		return p, errors.New("a tool's name has letters, digits, _ and - only, a pattern * and ? besides")
	}
	p.wild = strings.ContainsAny(p.name+p.box, "*?")
	return p, nil
}

func nameChars(s string, pattern bool) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		case pattern && (c == '*' || c == '?'):
		default:
			return false
		}
	}
	return true
}

// boxes is the toolboxes that are part of the program. Only their claims about
// names, groups and effects are good enough to give something.
type boxes []string

// Picks reports whether the selector could mean this tool: the reading for what
// takes away. A bare name means the tools of that name in every box.
func (s *Selector) Picks(spec *toolcrib.Entry) bool {
	for i := range s.parts {
		if !s.parts[i].mayPick(spec) {
			return false
		}
	}
	return len(s.parts) > 0
}

// picksForCertain reports whether the selector means this tool for certain: the reading for
// what gives. Without a literal box or server it means our own boxes only, so
// that nobody gets in by taking a known name.
func (s *Selector) picksForCertain(spec *toolcrib.Entry, own boxes) bool {
	if len(s.parts) == 0 || spec.Box == "" {
		return false
	}
	named := false
	for i := range s.parts {
		p := &s.parts[i]
		if p.kind != selectTool {
			if !p.mayPick(spec) {
				return false
			}
			continue
		}
		sure, fits := p.means(spec)
		if !fits || p.mcp && spec.Group != "mcp" {
			return false
		}
		named = named || sure
	}
	return named || slices.Contains(own, spec.Box)
}

func (p *selectorPart) mayPick(spec *toolcrib.Entry) bool {
	switch p.kind {
	case selectAll:
		return true
	case selectGroup:
		return spec.Group == p.name
	case selectEffect:
		if p.effects == toolcrib.Pure {
			return spec.Effects.All() == 0
		}
		return spec.Effects.All()&p.effects != 0
	case selectEffects:
		return spec.Effects.Within(p.effects)
	case selectTool:
		return spec.Called(p.word)
	}
	return false
}

// means is the reading of a name for what gives: by the box that it says, or by
// a name that suppliers of tools cannot choose. Sure: it can be no tool of
// another box. Else it fits a tool of this name, whose box is to be one of ours.
func (p *selectorPart) means(spec *toolcrib.Entry) (sure, fits bool) {
	named := func(pattern string) bool {
		return toolname.Match(pattern, spec.Native) || slices.ContainsFunc(spec.GivenNames(), func(n string) bool { return toolname.Match(pattern, n) })
	}
	if p.box != "" {
		return !toolname.IsPattern(p.box), (p.sameBox(spec.Box) || !p.exact && slices.Contains(spec.BoxNames(), p.box)) && named(p.name)
	}
	if box, name, ok := toolname.Split(p.name); ok && (box == spec.Box || slices.Contains(spec.BoxNames(), box)) && named(name) {
		return true, true
	}
	if slices.Contains(spec.GivenNames(), p.name) {
		return true, true
	}
	return false, named(p.name)
}

// sameBox: an MCP server's box may carry the prefix that tells it from ours.
func (p *selectorPart) sameBox(box string) bool {
	if !p.exact && toolname.Match(p.box, box) {
		return true
	}
	rest, ok := strings.CutPrefix(box, "mcp__")
	return p.mcp && ok && toolname.Match(p.box, rest)
}

// clip keeps a word from elsewhere from filling the screen.
func clip(s string) string { return text.ClipMiddle(s, 400) }
