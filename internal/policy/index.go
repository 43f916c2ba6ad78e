package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// ruleSet finds among many rules of one decision the few that can mean a call.
// Rules are sorted when the set is made: which of several is told of does not
// depend on the order they were written in.
type ruleSet struct {
	by    map[ruleKey]*bucket
	other bucket // by patterns, effects, combinations
	all   []*permission
}

// ruleKey is what a rule's tool is found by: its name, its box or its group.
type ruleKey struct {
	kind byte // 'n', 'b', 'g'
	text string
}

// bucket holds the rules for one key.
type bucket struct {
	plain    []*permission            // to be looked at one by one
	paths    map[string][]*permission // by the first fixed elements of their paths
	programs map[string][]*permission // by program
	hosts    map[string][]*permission // by host
	scripts  bool                     // some of the programs may be scripts, to which links can lead
}

func newRuleSet(rules []*permission) *ruleSet {
	s := &ruleSet{by: map[ruleKey]*bucket{}, all: rules}
	for _, p := range rules {
		s.index(&p.tool, p)
		if p.otherName != nil {
			s.index(p.otherName, p)
		}
	}
	return s
}

func (s *ruleSet) index(tools *Selector, p *permission) {
	b := &s.other
	if key, ok := tools.key(); ok {
		if s.by[key] == nil {
			s.by[key] = &bucket{}
		}
		b = s.by[key]
	}
	b.add(p)
}

// sortRules puts rules into an order that only they themselves decide.
func sortRules(rules []*permission) {
	when := func(p *permission) string {
		if p.when == nil {
			return ""
		}
		return p.when.text
	}
	slices.SortStableFunc(rules, func(a, b *permission) int {
		return cmp.Or(cmp.Compare(a.decision, b.decision), strings.Compare(a.text, b.text), strings.Compare(when(a), when(b)), strings.Compare(a.message, b.message))
	})
	for i, p := range rules {
		p.order = i
	}
}

// key is what the tools of a selector are found by, if it is one thing.
func (s *Selector) key() (ruleKey, bool) {
	if len(s.parts) != 1 {
		return ruleKey{}, false
	}
	switch p := &s.parts[0]; {
	case p.kind == selectGroup:
		return ruleKey{'g', p.name}, true
	case p.kind == selectTool && !strings.ContainsAny(p.name, "*?"):
		return ruleKey{'n', p.name}, true
	case p.kind == selectTool && p.box != "" && !strings.ContainsAny(p.box, "*?"):
		return ruleKey{'b', p.box}, true
	}
	return ruleKey{}, false
}

func (b *bucket) add(p *permission) {
	put := func(m *map[string][]*permission, key string) {
		if *m == nil {
			*m = map[string][]*permission{}
		}
		if list := (*m)[key]; !slices.Contains(list, p) {
			(*m)[key] = append(list, p)
		}
	}
	switch {
	case p.kind == specPath:
		for _, g := range p.path.loose {
			put(&b.paths, strings.Join(g[:g.Fixed()], "/"))
		}
	case p.kind == specDomain && !p.domain.any:
		put(&b.hosts, p.domain.host)
	case p.kind == specCommand && len(p.command.Programs(p.gives())) > 0:
		for _, name := range p.command.Programs(p.gives()) {
			put(&b.programs, name)
			b.scripts = b.scripts || strings.Contains(name, ".") || p.command.NamesFile()
		}
	default:
		b.plain = append(b.plain, p)
	}
}

// each visits the rules that can mean the call: perhaps some that do not, never
// fewer than do. Within one list they come in their order.
func (s *ruleSet) each(sub *subject, visit func([]*permission)) {
	if len(s.all) == 0 {
		return
	}
	spec := &sub.review.Spec
	for _, name := range spec.Names() {
		s.visitBucket(ruleKey{'n', name}, sub, visit)
	}
	if sub.lines && spec.Native != "run_command" {
		s.visitBucket(ruleKey{'n', "run_command"}, sub, visit)
	}
	s.visitBucket(ruleKey{'b', spec.Box}, sub, visit)
	for _, box := range spec.BoxNames() {
		s.visitBucket(ruleKey{'b', box}, sub, visit)
	}
	// A rule mcp__a__b was cut at its first __, which may be one of the box.
	for at, rest := 0, spec.Box; ; {
		next := strings.Index(rest, "__")
		if next < 0 {
			break
		}
		at += next
		s.visitBucket(ruleKey{'b', spec.Box[:at]}, sub, visit)
		at += 2
		rest = spec.Box[at:]
		s.visitBucket(ruleKey{'b', rest}, sub, visit)
		for _, name := range spec.Names() {
			s.visitBucket(ruleKey{'n', rest + "__" + name}, sub, visit)
		}
	}
	s.eachMCP(spec, sub, visit)
	s.visitBucket(ruleKey{'g', spec.Group}, sub, visit)
	s.other.each(sub, visit)
}

// eachMCP visits the rules that were cut out of a word mcp__a__b where that word
// as a whole is what the tool is called: its supplier chose it, or its box is
// called mcp.
func (s *ruleSet) eachMCP(spec *toolcrib.Entry, sub *subject, visit func([]*permission)) {
	in := func(key ruleKey) {
		if key != (ruleKey{'n', spec.Native}) && key != (ruleKey{'b', spec.Box}) { // those were visited
			s.visitBucket(key, sub, visit)
		}
	}
	for _, name := range spec.Names() {
		rest, ok := strings.CutPrefix(name, "mcp__")
		if !ok {
			continue
		}
		in(ruleKey{'b', rest})
		for i := 0; i+2 <= len(rest); i++ {
			if rest[i:i+2] == "__" {
				in(ruleKey{'b', rest[:i]})
				in(ruleKey{'n', rest[i+2:]})
			}
		}
	}
}

func (s *ruleSet) visitBucket(key ruleKey, sub *subject, visit func([]*permission)) {
	if b := s.by[key]; b != nil {
		b.each(sub, visit)
	}
}

func (b *bucket) each(sub *subject, visit func([]*permission)) {
	if len(b.plain) > 0 {
		visit(b.plain)
	}
	if len(b.paths) > 0 {
		b.eachPath(sub.paths(), visit)
	}
	if len(b.hosts) > 0 {
		b.eachHost(sub.address(), visit)
	}
	if len(b.programs) > 0 {
		b.eachProgram(sub, visit)
	}
}

func (b *bucket) eachPath(f *pathForms, visit func([]*permission)) {
	if f.unclear || f.search {
		for _, list := range b.paths {
			visit(list)
		}
		return
	}
	for _, full := range f.joined {
		for end := 0; end <= len(full); end++ {
			if end > 0 && end < len(full) && full[end] != '/' {
				continue
			}
			if list := b.paths[full[:end]]; list != nil {
				visit(list)
			}
		}
	}
}

func (b *bucket) eachHost(a address, visit func([]*permission)) {
	if !a.ok {
		for _, list := range b.hosts {
			visit(list)
		}
		return
	}
	for host := a.host; host != ""; {
		if list := b.hosts[host]; list != nil {
			visit(list)
		}
		_, host, _ = strings.Cut(host, ".")
	}
}

func (b *bucket) eachProgram(sub *subject, visit func([]*permission)) {
	if words, ok := sub.plainWords(); ok && !(sub.wordFiles && b.scripts) && !slices.ContainsFunc(words, func(w string) bool { return b.programs[w] != nil || b.programs[shellguard.UsualName(w)] != nil }) {
		return // none of its words is one of the programs
	}
	var names []string
	known := false
	if m := sub.commands(); sub.lines && m != nil {
		names, known = m.Names()
	}
	if !known {
		for _, list := range b.programs {
			visit(list)
		}
		return
	}
	for _, name := range names {
		if list := b.programs[name]; list != nil {
			visit(list)
		}
	}
}

// first is the first of the rules that the test takes, by their order.
func (s *ruleSet) first(sub *subject, test func(*permission) bool) *permission {
	var best *permission
	s.each(sub, func(list []*permission) {
		for _, p := range list {
			if best != nil && p.order >= best.order {
				return
			}
			if test(p) {
				best = p
				return
			}
		}
	})
	return best
}

// takes finds the first rule that means the call for certain, and the first
// that may.
func (s *ruleSet) takes(sub *subject) (certain, possible *permission) {
	s.each(sub, func(list []*permission) {
		for _, p := range list {
			if certain != nil && p.order >= certain.order {
				return
			}
			switch p.takes(sub) {
			case shellguard.Yes:
				certain = p
				return
			case shellguard.Maybe:
				if possible == nil || p.order < possible.order {
					possible = p
				}
			case shellguard.No:
			}
		}
	})
	return certain, possible
}

// about reports whether a spec is one that a rule names, whatever its input.
func (p *permission) about(spec *toolcrib.Entry, opt *RuleOptions) bool {
	r := toolcrib.Review{Spec: *spec}
	return p.names(newSubject(&r, opt))
}
