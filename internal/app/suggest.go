package app

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/suggest"
)

// PastCall is a call that a person was asked about, and Suggestions are the rules
// that would have spared such calls.
type (
	PastCall    = suggest.Call
	Suggestions = suggest.Report
)

// The answers to past calls.
const (
	PastApproved   = suggest.Approved
	PastDeclined   = suggest.Declined
	PastUnanswered = suggest.Unanswered
)

// Suggest proposes rules of an agent, or of the person for everybody, from past
// calls. Layers are the settings that hold. It is for a crib that is not called: while
// it works, what it tries is in force.
func (a *App) Suggest(ctx context.Context, layers *settings.Layers, agent string, calls []PastCall, least int) (Suggestions, error) {
	t := &trying{App: a, layers: layers, agent: agent}
	return suggest.Of(ctx, t, calls, suggest.Options{Min: least})
}

// Trying makes the crib judge by further rules of the person's own. The function that
// it gives takes them back.
func (a *App) Trying(layers *settings.Layers, agent string, d toolcrib.Decision, rule string) (back func(), err error) {
	t := &trying{App: a, layers: layers, agent: agent}
	was := a.policy.live.Policy()
	return func() { a.policy.live.Set(was) }, t.try(d, []string{rule})
}

// trying is the policy of a crib with further rules.
type trying struct {
	*App
	layers *settings.Layers
	agent  string
}

func (t *trying) Try(allow []string) error { return t.try(toolcrib.Allow, allow) }

func (t *trying) try(d toolcrib.Decision, rules []string) error {
	layers := *t.layers
	if t.agent == "" {
		layers.User.Permissions = withRules(layers.User.Permissions, d, rules)
	} else {
		layers.User.Agents = maps.Clone(layers.User.Agents)
		if layers.User.Agents == nil {
			layers.User.Agents = map[string]settings.Agent{}
		}
		of := layers.User.Agents[t.agent]
		of.Permissions = withRules(of.Permissions, d, rules)
		layers.User.Agents[t.agent] = of
	}
	p, err := t.makePolicy(*t.settings.Load(), &layers)
	if err != nil {
		return err
	}
	t.policy.live.Set(p)
	return nil
}

// withRules adds to one list of the permissions.
func withRules(p settings.Permissions, d toolcrib.Decision, rules []string) settings.Permissions {
	switch d {
	case toolcrib.Allow:
		p.Allow = slices.Concat(p.Allow, rules)
	case toolcrib.Ask:
		p.Ask = slices.Concat(p.Ask, rules)
	case toolcrib.Deny:
		p.Deny = slices.Concat(p.Deny, rules)
	}
	return p
}

func (t *trying) Line(r toolcrib.Review) *shellguard.Line { return t.shellNow().LineOf(r) }

func (t *trying) Own(box string) bool { return slices.Contains(t.own, box) }

func (t *trying) Base() string { return cmp.Or(t.reach.Base, t.policy.dir) }

var _ suggest.Guards = (*trying)(nil)

// ExampleOf is a call that a rule is about, to be judged, and as a person reads it:
// none if nobody can say one.
func (a *App) ExampleOf(caller toolcrib.Caller, rule string) (call toolcrib.Call, shown string, ok bool) {
	call, shown, ok = suggest.Example(rule, a.policy.home, a.Specs())
	call.Caller = caller
	return call, shown, ok
}

// RuleProblem says what is wrong with a rule that was tried, as far as names go: it
// means no tool, or its condition fits none. Empty: nothing is. Unknown: nobody can
// tell yet.
func (a *App) RuleProblem(ctx context.Context, rule string) (why string, unknown bool) {
	for _, u := range a.Unmatched(ctx, nil) {
		if u.Text == rule {
			return u.Why, u.Unknown
		}
	}
	return "", false
}
