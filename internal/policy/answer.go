package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// ruleAnswer is what all layers together say to a call.
type ruleAnswer struct {
	decision toolcrib.Decision
	rule     *permission // nil: they say nothing
	layer    *layer      // whose rule it is
	unsure   bool        // the rule may mean the call, and nobody can tell
	// contested: it is a command line that some layer would let pass, and not all
	// agree.
	contested bool
	but       string // why a rule that would allow it does not; empty: there is none
	subject   *subject
}

func (s *ruleAnswer) verdict() *toolcrib.Verdict {
	v := &toolcrib.Verdict{Decision: s.decision, Guard: "rules", Rule: fmt.Sprintf("%s: %s", s.layer.whose(), s.rule)}
	v.Reason = strings.ReplaceAll(s.rule.message, "\n", " ") // a line of a reason is a reason
	switch {
	case s.layer.Rank == RankProject:
		// A file of the project that nobody trusted speaks neither to a model nor
		// to a person in our name, by its message or by the text of its rules.
		v.Reason = fmt.Sprintf("a rule in the project's toolcrib.yaml says %s: 'toolcrib policy explain' shows the rule, and its message is shown after 'toolcrib trust'", s.decision)
		if s.unsure {
			v.Reason = "Toolcrib cannot tell whether a rule in the project's toolcrib.yaml applies: 'toolcrib policy explain' shows the rule"
		}
	case v.Reason != "":
	case s.unsure:
		v.Reason = fmt.Sprintf("whether the rule %s of the %s means this cannot be told", s.rule, s.layer.whose())
	case s.decision == toolcrib.Allow:
		v.Reason = fmt.Sprintf("a rule of the %s allows it", s.layer.whose())
	default:
		v.Reason = fmt.Sprintf("a rule of the %s says %s: %s", s.layer.whose(), s.decision, s.rule.text)
	}
	if unfit := s.subject.review.Unfit; len(unfit) > 0 && s.decision != toolcrib.Allow && (s.rule.kind != specNone || s.rule.when != nil) {
		v.Reason += fmt.Sprintf("; rules about arguments count here, because %v: %s", errUnfit, unfit[0].Message)
	}
	return v
}

// judge asks the layers. All are asked, from the top, so that the answer does
// not depend on the order they were given in.
func (r *Rules) judge(review *toolcrib.Review, cache *shellguard.Cache) ruleAnswer {
	if r == nil || len(r.layers) == 0 {
		return ruleAnswer{}
	}
	s := newSubject(review, &r.opt)
	s.cache = cache
	var ask ruleAnswer
	for _, l := range r.layers {
		if !l.applies(review.Call.Caller) {
			continue
		}
		certain, possible := l.deny.takes(s)
		if certain == nil && s.lines {
			certain = takesPlace(l.denyPlaces, s, false)
		}
		if certain != nil {
			return ruleAnswer{decision: toolcrib.Deny, rule: certain, layer: l, subject: s}
		}
		if ask.rule != nil && !ask.unsure {
			continue
		}
		asked, unsure := l.ask.takes(s)
		if asked == nil && s.lines {
			asked = takesPlace(l.askPlaces, s, true)
		}
		switch {
		case asked != nil:
			ask = ruleAnswer{decision: toolcrib.Ask, rule: asked, layer: l, subject: s}
		case ask.rule != nil:
		case possible != nil:
			ask = ruleAnswer{decision: toolcrib.Ask, rule: possible, layer: l, unsure: true, subject: s}
		case unsure != nil:
			ask = ruleAnswer{decision: toolcrib.Ask, rule: unsure, layer: l, unsure: true, subject: s}
		}
	}
	if ask.rule == nil {
		return r.allowed(s)
	}
	if s.lines && r.opt.Shell != nil && r.opt.Shell.Only { // what not all allow is denied then, not asked
		ask.contested = r.allowed(s).contested
	}
	return ask
}

// allowed: a layer that may give does, and no rank that has allows for this caller
// is without one for this call.
func (r *Rules) allowed(s *subject) ruleAnswer {
	out := ruleAnswer{decision: toolcrib.Allow, subject: s}
	var lacking *layer
	for begin, end := 0, 0; begin < len(r.layers); begin = end {
		for end < len(r.layers) && r.layers[end].Rank == r.layers[begin].Rank && r.layers[end].File == r.layers[begin].File {
			end++
		}
		p, l := allowedBy(r.layers[begin:end], s)
		switch {
		case l == nil: // nobody of this rank allows anything
		case p == nil:
			lacking = l
		case out.rule == nil && l.Rank.gives():
			out.rule, out.layer = p, l
		}
	}
	if lacking == nil && out.rule != nil {
		return out
	}
	no := ruleAnswer{contested: s.lines && r.givesLines(s), subject: s}
	if out.rule != nil {
		no.but = fmt.Sprintf("the rule %s of the %s would allow it, but %s lists what is allowed too, and this is not in it", out.rule, out.layer.whose(), lacking.file())
	}
	return no
}

// allowedBy finds the rule that allows the call among layers of one rank, which add
// to each other. Without a rule the layer is one that has allows; nil: none has.
func allowedBy(same []*layer, s *subject) (*permission, *layer) {
	var one *layer
	mentioned := false
	for _, l := range same {
		if !l.applies(s.review.Call.Caller) || len(l.allow.all) == 0 {
			continue
		}
		if p := l.allow.first(s, func(p *permission) bool { return p.allows(s) }); p != nil {
			return p, l
		}
		one, mentioned = l, mentioned || s.lines && l.mentions(s)
	}
	if mentioned {
		if p, l := allowLine(same, s); p != nil {
			return p, l
		}
	}
	return nil, one
}

// givesLines: a layer alone would let the line pass, and the shell guard goes
// by all of them.
func (r *Rules) givesLines(s *subject) bool {
	if slices.ContainsFunc(r.layers, func(l *layer) bool { return l.Rank.gives() && l.mentions(s) }) {
		l := s.commandLine()
		if l == nil || r.passes(l, s) {
			return true // nil: it may be another one than the shell guard sees
		}
	}
	for _, l := range r.layers {
		if l.Rank.gives() && l.allow.first(s, func(p *permission) bool { return p.allows(s) }) != nil {
			return true
		}
	}
	return false
}

// mentions: an allow of this layer could be about a command of this line.
func (l *layer) mentions(s *subject) bool {
	if len(l.commands) == 0 {
		return false
	}
	words, ok := s.plainWords()
	return !ok || slices.ContainsFunc(words, func(w string) bool { return l.commands[w] })
}

// passes: the allows of all layers taken together cover the line.
func (r *Rules) passes(line *shellguard.Line, s *subject) bool {
	if len(line.Unknown) > 0 {
		return false
	}
	needed := false
	for i := range line.Programs {
		p := &line.Programs[i]
		covered := s.free(p)
		needed = needed || line.NeedsRule(p) || !s.opt.Shell.Free(p)
		for k := 0; k < len(r.layers) && !covered; k++ {
			l := r.layers[k]
			covered = l.Rank.gives() && l.allow.first(s, func(a *permission) bool { return a.single() && a.command.Rule.Match(p) }) != nil
		}
		if !covered {
			return false
		}
	}
	// What runs without a rule is nothing that layers could disagree about.
	return needed
}

// allowLine: every program of the line is matched by a rule of these layers, or
// needs none. It says which the first such rule is.
func allowLine(same []*layer, s *subject) (first *permission, of *layer) {
	line := s.commandLine()
	if line == nil || len(line.Unknown) > 0 || len(line.Programs) == 0 {
		return nil, nil
	}
	for i := range line.Programs {
		p := &line.Programs[i]
		if s.free(p) {
			continue
		}
		var rule *permission
		for _, l := range same {
			if !l.applies(s.review.Call.Caller) || rule != nil {
				continue
			}
			rule = l.allow.first(s, func(a *permission) bool {
				return a.single() && a.command.Rule.Match(p) && a.names(s) && a.holds(s)
			})
			if rule != nil && (first == nil || of == l && rule.order < first.order) {
				first, of = rule, l
			}
		}
		if rule == nil {
			return nil, nil
		}
	}
	return first, of
}
