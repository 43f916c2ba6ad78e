package agents

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/delegate"
)

// Exists reports whether a tool exists for a caller, as far as agents have a word in it:
// those that put others to work exist for agents that may, and for nobody who works for
// another.
func (a *Agents) Exists(c toolcrib.Caller, spec *toolcrib.Entry) bool {
	if spec.Box != delegate.Name {
		return true
	}
	return a != nil && !lineage.Delegate(c.Agent) && !strings.Contains(c.Session, lineage.Sign) && len(a.delegates(c)) > 0
}

// delegates are the presets that a caller may put to work.
func (a *Agents) delegates(c toolcrib.Caller) []string {
	cfg := a.needs.Settings()
	if c.Agent == "" {
		return cfg.Delegation.Delegates
	}
	return cfg.Agents[c.Agent].Delegates
}

// Guard refuses what agents at work may not do: whoever names itself as somebody's
// delegate without being at work, tools that a delegate was not given, and what is beyond
// a budget.
func (a *Agents) Guard() toolcrib.Guard { return guard{a} }

type guard struct{ *Agents }

// Judge implements [toolcrib.Guard].
func (g guard) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	no := func(rule, why string) (*toolcrib.Verdict, error) {
		return &toolcrib.Verdict{Decision: toolcrib.Deny, Guard: "agents", Rule: rule, Reason: why}, nil
	}
	c := r.Call.Caller
	w := g.at(c)
	if w != nil && w.lead != nil || lineage.Delegate(c.Agent) || strings.Contains(c.Session, lineage.Sign) {
		switch {
		case w == nil || w.lead == nil || !lineage.Delegate(c.Agent):
			return no("delegate", "no such agent is at work here: a name such as lead/helper is given to agents that another one has put to work, as long as they work")
		case r.Spec.Box == delegate.Name:
			return no("delegate", "who is put to work puts nobody to work")
		case w.tools != nil && r.Spec.Box != modelBox && !slices.ContainsFunc(w.tools, func(name string) bool { return slices.Contains(r.Spec.Names(), name) }):
			return no("tools", "this agent was put to work with other tools only: "+strings.Join(w.tools, ", "))
		}
	}
	if w != nil && r.Spec.Box != modelBox {
		if why := w.spent(); why != "" {
			return no("budget", why)
		}
	}
	return nil, nil
}

// modelBox is the box of the tool by which models are asked. An agent that has no calls
// left, or few tools, still answers.
const modelBox = "model"

// Around takes calls from the budgets of agents when they are made, so that calls at the
// same time cannot overrun them together.
func (a *Agents) Around(spec toolcrib.Entry, t toolcrib.Tool) toolcrib.Tool {
	if spec.Box == modelBox {
		return t
	}
	run := t.Run
	t.Run = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
		if w := a.at(env.Call.Caller); w != nil {
			if why := w.take(); why != "" {
				return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: why}
			}
		}
		return run(ctx, env, input)
	}
	return t
}

// Chosen is what a person has chosen for a session, in place of the mode and the profile
// of the settings; empty: nothing. It is what [settings.Layers] asks, which bounds it.
func (a *Agents) Chosen(c toolcrib.Caller) (mode, profile string) {
	if a == nil || c.Session == "" {
		return "", ""
	}
	a.mu.Lock()
	w := a.live[lineage.Root(c.Session)]
	a.mu.Unlock()
	if w == nil {
		return "", ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.caller.Subject != c.Subject || w.caller.Organisation != c.Organisation || w.caller.Token != c.Token {
		return "", ""
	}
	return w.mode, w.profile
}

var _ settings.Chooser = (*Agents)(nil)
