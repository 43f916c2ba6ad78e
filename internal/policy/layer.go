package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// Rank is where a layer stands. A layer only narrows what those above it allow.
// The zero value is the lowest.
type Rank uint8

// The ranks, lowest first.
const (
	RankSession Rank = iota
	RankProject
	RankUser
	RankAdmin
)

func (r Rank) String() string {
	if r > RankAdmin {
		return fmt.Sprintf("rank(%d)", uint8(r))
	}
	return [...]string{"session", "project", "user", "admin"}[r]
}

// gives: the machine's and the user's own files may lift the question that a
// mode would ask. A project and a session bring rules from elsewhere.
func (r Rank) gives() bool { return r == RankUser || r == RankAdmin }

// Layer is the rules of one file.
type Layer struct {
	Rank   Rank
	File   int    // which of several files of this rank; the allows of each narrow those of the others
	Source string // where it was read, for people
	// Agent and Session are whose calls it is about; empty is everyone's. What is
	// written for an agent has the rank of the file that it stands in: its allows add
	// to those that this file has for everyone.
	Agent, Session string
	Permissions    Permissions
}

// Rules is layers ready for use. Together they say to a call:
//
//   - deny if a deny of any layer means it;
//   - else ask if an ask of any layer does, or if a deny or ask may and nobody
//     can tell;
//   - else allow if an allow of the user's or the machine's layers means it, and
//     every other rank that has allows for this caller has one that does;
//   - else nothing, and the mode decides.
//
// So a rank takes away or leaves as it is; a further one below never makes
// more pass than there was without it.
type Rules struct {
	layers []*layer
	opt    RuleOptions
}

type layer struct {
	Layer
	deny, ask, allow *ruleSet
	commands         map[string]bool // programs that there are allows about
	// Those of deny and ask that hold places, and what they take from a call.
	denyPlaces, askPlaces []placeRule
	denied, asked         Taken
}

// NewRules reads layers. Any mistake refuses all of them and is told by layer:
// half of a policy is another policy. Examples are run.
func NewRules(layers []Layer, opt RuleOptions) (*Rules, error) {
	rules := &Rules{opt: opt}
	var errs []error
	for _, l := range layers {
		made, err := newLayer(l, &rules.opt)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s layer %s: %w", l.Rank, l.Source, err))
			continue
		}
		rules.layers = append(rules.layers, made)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortStableFunc(rules.layers, compareLayers)
	return rules, nil
}

func compareLayers(a, b *layer) int {
	if a.Rank != b.Rank {
		return int(b.Rank) - int(a.Rank) // from the top
	}
	if a.File != b.File {
		return a.File - b.File
	}
	return strings.Compare(a.Source+"\x00"+a.Agent+"\x00"+a.Session, b.Source+"\x00"+b.Agent+"\x00"+b.Session)
}

func newLayer(l Layer, opt *RuleOptions) (*layer, error) {
	if l.Rank > RankAdmin {
		return nil, fmt.Errorf("its rank %d is not known", l.Rank)
	}
	if err := l.bounded(); err != nil {
		return nil, err
	}
	var rules []*permission
	var errs []error
	read := func(d toolcrib.Decision, c Condition) {
		p, err := parsePermission(d, c.Tool, opt)
		if err == nil {
			p.message = c.Message
			if err = p.complete(c, opt, l.Rank); err != nil {
				err = &RuleError{Text: c.Own(), err: err}
			}
		}
		if err != nil {
			errs = append(errs, err)
			return
		}
		rules = append(rules, p)
	}
	for _, text := range l.Permissions.Deny {
		read(toolcrib.Deny, Condition{Tool: text})
	}
	for _, text := range l.Permissions.Ask {
		read(toolcrib.Ask, Condition{Tool: text})
	}
	for _, text := range l.Permissions.Allow {
		read(toolcrib.Allow, Condition{Tool: text})
	}
	for i, c := range l.Permissions.Rules {
		var d toolcrib.Decision
		if err := d.UnmarshalText([]byte(c.Decision)); err != nil {
			errs = append(errs, fmt.Errorf("rule %d: %w", i+1, err))
			continue
		}
		read(d, c)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	sortRules(rules)
	of := func(d toolcrib.Decision) *ruleSet {
		var some []*permission
		for _, p := range rules {
			if p.decision == d {
				some = append(some, p)
			}
		}
		return newRuleSet(some)
	}
	made := &layer{Layer: l, deny: of(toolcrib.Deny), ask: of(toolcrib.Ask), allow: of(toolcrib.Allow), commands: map[string]bool{}}
	made.denyPlaces, made.askPlaces = placeRules(made.deny.all, opt), placeRules(made.ask.all, opt)
	made.denied, made.asked = allTaken(made.denyPlaces), allTaken(made.askPlaces)
	for _, p := range made.allow.all {
		if p.single() {
			for _, name := range p.command.Programs(true) {
				made.commands[name] = true
			}
		}
	}
	return made, nil
}

// The bounds on a layer. A project's file is not to be trusted, and conditions
// are what costs.
const (
	maxRules   = 5_000
	maxWhen    = 200
	maxMessage = 2_000
)

// bounded refuses a layer that is there to slow calls down or to fill a screen.
func (l *Layer) bounded() error {
	p := &l.Permissions
	when := 0
	for _, c := range p.Rules {
		if c.When != "" {
			when++
		}
		if len(c.Message) > maxMessage || strings.ContainsFunc(c.Message, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			return fmt.Errorf("a message has more than %d bytes, or control characters", maxMessage)
		}
	}
	if n := len(p.Allow) + len(p.Ask) + len(p.Deny) + len(p.Rules); n > maxRules || when > maxWhen {
		return fmt.Errorf("it has %d rules and %d conditions; at most %d and %d are taken", n, when, maxRules, maxWhen)
	}
	return nil
}

// complete reads the condition of a rule and runs its examples.
func (p *permission) complete(c Condition, opt *RuleOptions, rank Rank) error {
	if c.When != "" {
		cost := int(maxCostBelow)
		if rank.gives() {
			cost = maxCost
		}
		when, err := opt.Conditions.compile(c.When, cost)
		if err != nil {
			return fmt.Errorf("the rule %s: %w", p, err)
		}
		p.when = when
	}
	return p.runExamples(c, opt)
}

// whose names the layer in messages.
func (l *layer) whose() string {
	switch {
	case l.Agent != "" && l.Rank != RankUser:
		return "agent " + l.Agent + " (" + l.Rank.String() + ")"
	case l.Agent != "":
		return "agent " + l.Agent
	}
	return l.Rank.String()
}

// file names the layer by where its rules stand.
func (l *layer) file() string {
	switch l.Rank {
	case RankAdmin:
		return "the system's file"
	case RankProject:
		return "the project's toolcrib.yaml"
	}
	return "your configuration"
}

func (l *layer) applies(c toolcrib.Caller) bool {
	return (l.Agent == "" || l.Agent == c.Agent) && (l.Session == "" || l.Session == c.Session)
}

// single: the rule allows one command, as the shell guard's rules do.
func (p *permission) single() bool {
	return p.gives() && p.kind == specCommand && !p.command.Any
}

// Commands are the allows about single commands that the shell guard has to
// know (shellguard.Guard.Rules) to let their lines pass. It asks about all other lines;
// whether an allow holds for a call of this caller, in every layer and with its
// condition, is judged by [Policy].
func (r *Rules) Commands() []shellguard.Rule {
	var out []shellguard.Rule
	if r == nil {
		return out
	}
	for _, l := range r.layers {
		for _, p := range l.allow.all {
			if l.Rank.gives() && p.single() {
				out = append(out, p.command.Rule)
			}
		}
	}
	return out
}

// NamesCommands reports whether somebody has allowed single commands for every
// caller.
func (r *Rules) NamesCommands() bool {
	return r != nil && slices.ContainsFunc(r.layers, func(l *layer) bool {
		return l.Rank.gives() && l.Agent == "" && slices.ContainsFunc(l.allow.all, (*permission).single)
	})
}

// Len is how many rules there are in all layers.
func (r *Rules) Len() int {
	n := 0
	if r != nil {
		for _, l := range r.layers {
			n += len(l.deny.all) + len(l.ask.all) + len(l.allow.all)
		}
	}
	return n
}
