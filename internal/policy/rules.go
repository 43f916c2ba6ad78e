package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// Permissions is the rules of one layer as they are written down.
type Permissions struct {
	Allow []string    `yaml:"allow" json:"allow,omitempty" layers:"join" project:"add" doc:"What runs unasked, such as run_command(npm run *), write_file(./src/**), web_fetch(domain:example.com), mcp__github__get_issue."`
	Ask   []string    `yaml:"ask" json:"ask,omitempty" layers:"join" project:"add" doc:"What a person is asked about, whatever is allowed."`
	Deny  []string    `yaml:"deny" json:"deny,omitempty" layers:"join" project:"add" doc:"What is never done. Deny comes before ask, ask before allow, however special a rule is."`
	Rules []Condition `yaml:"rules" json:"rules,omitempty" layers:"join" project:"add" doc:"Rules with a condition, examples or a message."`
}

// Condition is a rule with more than its text.
type Condition struct {
	Decision string `yaml:"decision" json:"decision" enum:"allow,ask,deny" doc:"What the rule says to what it means."`
	Tool     string `yaml:"tool" json:"tool" doc:"The rule, written as in the lists; * is every tool."`
	When     string `yaml:"when" json:"when,omitempty" doc:"An expression over args, caller, effects, path, tool and box that has to be true: a part of CEL, see docs/policy.md."`
	// Examples are run when the layer is read: one that fails refuses the layer.
	Match    []string `yaml:"match" json:"match,omitempty" doc:"Examples that the rule must mean: arguments as JSON, or a command, path or address as plain text."`
	NotMatch []string `yaml:"not_match" json:"not_match,omitempty" doc:"Examples that it must not mean."`
	Message  string   `yaml:"message" json:"message,omitempty" doc:"What the model is told."`
}

// Own is the text by which a rule with a mistake in what it has besides its tool is told
// from plain rules about that tool.
func (c Condition) Own() string {
	return strings.TrimSpace(cmp.Or(c.When, strings.Join(slices.Concat(c.Match, c.NotMatch), " "), c.Tool))
}

// specKind is what the words in a rule's brackets are about.
type specKind uint8

const (
	specNone specKind = iota
	specCommand
	specPath
	specDomain
	specParam
)

// permission is one rule, ready for use.
type permission struct {
	decision toolcrib.Decision
	text     string // as written
	message  string
	order    int // its place when all are sorted, so that files need no order

	tool      Selector
	otherName *Selector // the same tool by box and native name, if it was written otherwise
	kind      specKind

	command    *shellguard.Pattern
	path       *pathSpec
	domain     *domainSpec
	key, value string // of specParam
	when       *compiled
}

func (p *permission) gives() bool { return p.decision == toolcrib.Allow }

// String is the rule as it is told to people.
func (p *permission) String() string {
	s := p.decision.String() + " " + p.text
	if p.when != nil {
		s += " when " + clip(p.when.text)
	}
	return s
}

// parsePermission reads the text of a rule: tool, or tool(specifier).
func parsePermission(d toolcrib.Decision, rule string, opt *RuleOptions) (*permission, error) {
	p, err := readPermission(d, strings.TrimSpace(rule), opt)
	if err != nil {
		return nil, &RuleError{Text: strings.TrimSpace(rule), err: fmt.Errorf("reading the rule %s %q: %w", d, clip(rule), err)}
	}
	return p, nil
}

// RuleError is a mistake in a rule.
type RuleError struct {
	Text string // of the rule, as it is written
	err  error
}

func (e *RuleError) Error() string { return e.err.Error() }
func (e *RuleError) Unwrap() error { return e.err }

// RuleErrors are all mistakes in rules that an error of [NewRules] is made of.
func RuleErrors(err error) (out []*RuleError) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, part := range all.Unwrap() {
			out = append(out, RuleErrors(part)...)
		}
		return out
	}
	if inner := errors.Unwrap(err); inner != nil {
		out = RuleErrors(inner)
	}
	if bad, ok := errors.AsType[*RuleError](err); ok && len(out) == 0 {
		out = []*RuleError{bad}
	}
	return out
}

func readPermission(d toolcrib.Decision, text string, opt *RuleOptions) (*permission, error) {
	name, spec, scoped := strings.Cut(text, "(")
	if scoped {
		if !strings.HasSuffix(spec, ")") {
			return nil, errors.New("its bracket is not closed")
		}
		spec = strings.TrimSpace(spec[:len(spec)-1])
	} else if strings.Contains(text, ")") {
		return nil, errors.New("it has a ) without a (")
	}
	p := &permission{decision: d, text: text}
	var err error
	if p.tool, err = ParseSelector(name); err != nil {
		return nil, err
	}
	if p.gives() {
		if err := p.tool.giveable(); err != nil {
			return nil, err
		}
	}
	if err := p.alsoKnownAs(opt); err != nil {
		return nil, err
	}
	if scoped {
		if err := p.specify(spec, opt); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// alsoKnownAs finds the tool of ours that a rule calls by another name than its
// own: one of a dialect or of the settings, or one with the box before it.
func (p *permission) alsoKnownAs(opt *RuleOptions) error {
	if len(p.tool.parts) != 1 || p.tool.parts[0].kind != selectTool || p.tool.parts[0].box != "" || p.tool.parts[0].wild {
		return nil
	}
	word := opt.Known[p.tool.parts[0].name]
	if box, name, ok := toolname.Split(p.tool.parts[0].name); ok && word == "" && slices.Contains(opt.Own, box) {
		word = box + "/" + name
	}
	if word == "" {
		return nil
	}
	other, err := ParseSelector(word)
	if err != nil {
		return err
	}
	p.otherName = &other
	return nil
}

// giveable refuses selectors that would give what nobody has looked at: names
// of tools come from servers, and so do groups and effects.
func (s *Selector) giveable() error {
	chosen := false
	for i := range s.parts {
		p := &s.parts[i]
		chosen = chosen || p.kind != selectAll && p.kind != selectEffect
		switch {
		case p.kind == selectGroup && (p.name == "mcp" || p.name == "api" || p.name == "skill"):
			return fmt.Errorf("what is in the group %s comes from elsewhere: allow it by server, such as mcp__github__get_*", p.name)
		case p.kind == selectTool && strings.ContainsAny(p.box, "*?"):
			return errors.New("in an allow a * may stand only after a literal box or server, such as mcp__github__get_* or files/*")
		case p.kind == selectTool && p.box == "" && p.wild:
			if toolname.Ambiguous(p.name) {
				return fmt.Errorf("in an allow %s can be read in two ways: write box/tool", p.name)
			}
			if _, _, ok := toolname.Split(p.name); !ok {
				return errors.New("in an allow a * may stand only after a literal box or server, such as files/* or mcp__github__get_*")
			}
		}
	}
	if !chosen {
		// What may write may also run anything: one effect says little about a tool.
		return errors.New("an allow has to name tools, a group, or with effects: all that they may do")
	}
	return nil
}

// specify reads what stands in the brackets. What it is about follows from the
// tool.
func (p *permission) specify(spec string, opt *RuleOptions) error {
	var err error
	switch kind := p.aboutWhat(spec); {
	case spec == "":
		return errors.New("its brackets are empty: leave them out to mean every use")
	case spec == "*":
		return nil // every use
	case kind == specCommand:
		p.kind = specCommand
		p.command, err = shellguard.ParsePattern(spec, p.gives())
	case kind == specPath:
		p.kind = specPath
		p.path, err = parsePathSpec(spec, opt.places(), p.gives())
	case kind == specDomain:
		p.kind = specDomain
		p.domain, err = parseDomainSpec(strings.TrimPrefix(spec, "domain:"), p.gives())
	default:
		key, value, ok := strings.Cut(spec, ":")
		if !ok || key == "" || !nameChars(key, false) {
			if near := text.Nearest(p.tool.String(), slices.Concat(pathTools(), []string{"run_command", "start_command", "web_fetch"})); near != "" && near != p.tool.String() {
				return fmt.Errorf("there is no tool %s with something in brackets: did you mean %s(%s)?", p.tool.String(), near, clip(spec))
			}
			return errors.New("what stands in brackets is a command for run_command, a path for tools of files, domain:HOST for addresses, and ARGUMENT:VALUE for other tools; anything else is for a condition (when)")
		}
		p.kind, p.key, p.value = specParam, key, strings.TrimSpace(value)
	}
	return err
}

func (p *permission) aboutWhat(spec string) specKind {
	if strings.HasPrefix(spec, "domain:") {
		return specDomain
	}
	parts := p.tool.parts
	if p.otherName != nil {
		parts = slices.Concat(parts, p.otherName.parts)
	}
	for i := range parts {
		t := &parts[i]
		switch t.kind {
		case selectGroup:
			switch t.name {
			case "exec":
				return specCommand
			case "fs", "search":
				return specPath
			}
		case selectTool:
			switch {
			case t.mcp:
			case t.box == "shell", t.box == "" && (t.name == "run_command" || t.name == "start_command" || t.name == "command_input"):
				return specCommand
			case t.box == "files", t.box == "" && isPathTool(t.name):
				return specPath
			}
		}
	}
	return specParam
}
