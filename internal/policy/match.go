package policy

import (
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// names reports whether the rule is about this tool. A rule about run_command
// is a rule about command lines, whichever of the shell's tools runs them.
func (p *permission) names(s *subject) bool {
	if p.namesSpec(&s.review.Spec, s.opt) {
		return true
	}
	if !s.lines || s.review.Spec.Native == "run_command" {
		return false
	}
	as := s.review.Spec
	as.Native = "run_command"
	return p.namesSpec(&as, s.opt)
}

func (p *permission) namesSpec(spec *toolcrib.Entry, opt *RuleOptions) bool {
	if p.gives() {
		return p.tool.picksForCertain(spec, opt.Own) || p.otherName != nil && p.otherName.picksForCertain(spec, opt.Own)
	}
	return p.tool.Picks(spec) || p.otherName != nil && p.otherName.Picks(spec)
}

// takes says how sure it is that a rule that takes away means the call. What
// cannot be found out counts against the call; only about command lines it is
// left to a person, since most lines that are not understood are harmless.
func (p *permission) takes(s *subject) shellguard.Certainty {
	if !p.names(s) {
		return shellguard.No
	}
	c := p.specTakes(s)
	if c == shellguard.No || p.when == nil {
		return c
	}
	if ok, err := p.when.holds(s); err == nil && !ok {
		return shellguard.No
	}
	return c
}

func (p *permission) specTakes(s *subject) shellguard.Certainty {
	hit := true
	switch p.kind {
	case specCommand:
		return p.takesLine(s)
	case specPath:
		forms := s.paths()
		if forms.search && s.opt.Skips && p.decision == toolcrib.Deny && p.when == nil && s.review.Spec.Box == "files" {
			plain := *forms // what lies below it is left out of the search
			plain.search = false
			forms = &plain
		}
		hit = p.path.mayMatch(forms)
	case specDomain:
		hit = p.domain.mayMatch(s.address())
	case specParam:
		hit = p.param(s)
	case specNone:
	}
	if hit {
		return shellguard.Yes
	}
	return shellguard.No
}

// takesLine: one program of the line is enough.
func (p *permission) takesLine(s *subject) shellguard.Certainty {
	if p.command.Any {
		return shellguard.Yes
	}
	if !s.lines {
		return shellguard.Maybe // another tool that runs something, nobody knows how
	}
	m := s.commands()
	if m == nil {
		return shellguard.Maybe
	}
	return m.Match(p.command)
}

// param: an argument that is no plain value may be the one that is meant.
func (p *permission) param(s *subject) bool {
	args, err := s.arguments()
	if err != nil {
		return true
	}
	v, ok := args[p.key]
	if !ok {
		return false
	}
	text, plain := scalarText(v)
	if !plain {
		return !p.gives()
	}
	return p.value == text || strings.ContainsAny(p.value, "*?") && toolname.Wild(p.value, text)
}

// allows reports whether a rule that gives means the call for certain. About
// command lines it has no answer: there every program counts, see layer.allowsLine.
func (p *permission) allows(s *subject) bool {
	if !p.names(s) {
		return false
	}
	switch p.kind {
	case specCommand:
		if !p.command.Any || !s.lines {
			return false
		}
	case specPath:
		// Only of our own box it is known what a path means.
		if s.review.Spec.Box != "files" || !p.path.matches(s.paths()) {
			return false
		}
	case specDomain:
		if !p.domain.matches(s.address()) {
			return false
		}
	case specParam:
		if args, err := s.arguments(); err != nil || args == nil || !p.param(s) {
			return false
		}
	case specNone:
	}
	return p.holds(s)
}

// holds: the condition is there and true, or there is none.
func (p *permission) holds(s *subject) bool {
	if p.when == nil {
		return true
	}
	ok, err := p.when.holds(s)
	return err == nil && ok
}
