package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/delegate"
)

// Team is what the toolbox of delegation works with.
func (a *Agents) Team() delegate.Team { return team{a} }

type team struct{ *Agents }

// maxGuests is how many agents of others may have some of ours at work.
const maxGuests = 256

// leadOf gives the agent that makes a call: one of ours that is at work, or one of
// somebody else, such as an MCP client's.
func (a *Agents) leadOf(c toolcrib.Caller) (*work, error) {
	w, err := a.wouldLead(c)
	if err != nil || a.at(c) == w {
		return w, err
	}
	a.mu.Lock()
	if a.live[c.Session] != nil {
		a.mu.Unlock()
		return nil, errInUse()
	}
	a.live[c.Session] = w
	a.guests = append(a.guests, w)
	var old *work
	if len(a.guests) > maxGuests {
		old, a.guests = a.guests[0], a.guests[1:]
	}
	a.mu.Unlock()
	a.leave(old)
	return w, nil
}

// wouldLead is leadOf for who only wants to know: nobody is written down for it, and so
// nobody has to leave.
func (a *Agents) wouldLead(c toolcrib.Caller) (*work, error) {
	if c.Session == "" {
		return nil, &delegate.Refusal{Word: "no_session", Text: "this call belongs to no session, so that nobody could ask for the answer: use 'toolcrib run', 'toolcrib chat' or a client with a session"}
	}
	if lineage.Delegate(c.Agent) || strings.Contains(c.Session, lineage.Sign) {
		return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "who is put to work puts nobody to work"}
	}
	if w := a.at(c); w != nil {
		return w, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live[c.Session] != nil {
		return nil, errInUse()
	}
	return newWork(c, nil, nil), nil
}

func errInUse() error {
	return &delegate.Refusal{Word: "session_in_use", Text: "another agent works in this session"}
}

// Avatars implements [delegate.Team].
func (t team) Avatars(c toolcrib.Caller) []delegate.Avatar {
	var out []delegate.Avatar
	for _, name := range t.delegates(c) {
		out = append(out, t.avatar(name))
	}
	return out
}

func (a *Agents) avatar(name string) delegate.Avatar {
	preset := a.needs.Settings().Agents[name]
	first, _, _ := strings.Cut(strings.TrimSpace(preset.Instructions), "\n")
	return delegate.Avatar{ID: name, Name: name, Role: cmp.Or(preset.Role, text.Clip(first, 120)), Description: text.Clip(preset.Instructions, 500)}
}

// may reports whether a caller may put an agent to work.
func (a *Agents) may(c toolcrib.Caller, avatar string) error {
	list := a.delegates(c)
	if slices.Contains(list, avatar) {
		return nil
	}
	return &delegate.Refusal{Word: "not_found", Text: fmt.Sprintf("there is no agent %q to put to work here; there are: %s", avatar, strings.Join(list, ", "))}
}

// Start implements [delegate.Team].
func (t team) Start(ctx context.Context, call toolcrib.Call, o delegate.Order) (delegate.Status, error) {
	lead, err := t.leadOf(call.Caller)
	if err != nil {
		return delegate.Status{}, err
	}
	made, err := t.prepare(ctx, call, lead, o)
	if err != nil {
		return delegate.Status{}, err
	}
	if _, err := t.begin(ctx, lead, made, made.input()); err != nil {
		return delegate.Status{}, err
	}
	return made.status(), nil
}

// Check implements [delegate.Checker]: it makes what Start would begin with, and begins nothing.
func (t team) Check(ctx context.Context, call toolcrib.Call, o delegate.Order) error {
	lead, err := t.wouldLead(call.Caller)
	if err != nil {
		return err
	}
	_, err = t.prepare(ctx, call, lead, o)
	return err
}

// input is what the agent is told first.
func (t *task) input() string {
	var b strings.Builder
	b.WriteString(t.order.Task)
	for _, f := range t.order.Files {
		fmt.Fprintf(&b, "\n\n%s:\n%s", f.Name, f.Content)
	}
	return b.String()
}

// prepare makes a piece of work of an order: a session whose caller is judged as both.
func (a *Agents) prepare(ctx context.Context, call toolcrib.Call, lead *work, o delegate.Order) (*task, error) {
	c, kind, who := call.Caller, "dlg", o.Avatar
	cfg := a.needs.Settings()
	if o.Avatar != "" {
		if err := a.may(c, o.Avatar); err != nil {
			return nil, err
		}
		shown := a.avatar(o.Avatar)
		o.Name, o.Role = cmp.Or(o.Name, shown.Name), cmp.Or(o.Role, shown.Role)
	} else {
		if _, taken := cfg.Agents[o.Name]; taken {
			return nil, &delegate.Refusal{Word: "avatar_exists", Text: fmt.Sprintf("%s is an agent of its own: use delegate_to_avatar, or another name", o.Name)}
		}
		kind, who = "sa", c.Agent // it has the preset of who puts it to work, and so its rights
	}
	t := &task{of: a, id: newTaskID(kind), by: c, order: o, state: pending, updated: a.needs.Now()}
	child := c
	child.Agent, child.Dialect = lineage.Under(c.Agent, who), ""
	child.Session = lineage.Under(c.Session, t.id)
	preset, err := a.preset(child.Agent)
	if err != nil {
		return nil, err
	}
	if o.Model != "" && preset.Model != "" && o.Model != preset.Model { // else it would be asked around
		return nil, &delegate.Refusal{Word: "model_not_allowed", Text: fmt.Sprintf("the agent %s thinks with the model %s and no other (agents.%[1]s.model): leave model out", who, preset.Model)}
	}
	t.limit = cfg.Delegation.Time
	for _, less := range []time.Duration{o.Timeout, preset.Budget.Time} {
		if less > 0 && less < t.limit {
			t.limit = less
		}
	}
	lead.mu.Lock()
	leadModel := lead.model
	lead.mu.Unlock()
	s := &Session{of: a, parent: call.ID, id: a.childID(c, t.id), options: Options{
		Caller: child, Model: cmp.Or(o.Model, preset.Model, leadModel), Extra: charge(o), tools: o.Tools, Forget: lead.forget,
	}}
	s.info.Parent, s.info.Call = stored(c), call.ID
	s.work = newWork(child, lead, o.Tools)
	if err := s.make(ctx); err != nil {
		return nil, err
	}
	if above, ok := agent.AboveOf(ctx); ok {
		t.emit = above.Emit
	}
	t.session = s
	return t, nil
}

// stored is the ID of the stored session of a caller; empty: it has none.
func stored(c toolcrib.Caller) string {
	if sessions.ValidID(c.Session) {
		return c.Session
	}
	return ""
}

// childID names the stored session of a delegate, so that it stands with that of who put
// it to work.
func (a *Agents) childID(c toolcrib.Caller, id string) string {
	return cmp.Or(stored(c), sessions.NewID(a.needs.Now())) + "." + id
}

// charge is what an agent is told of being put to work.
func charge(o delegate.Order) string {
	out := "Another agent has put you to work. Nobody reads along: your last message is your report to it, so let it hold everything it has to know. Where you may not do something, say so in it."
	if o.Avatar == "" {
		out = fmt.Sprintf("You are %s (%s). ", o.Name, o.Role) + out
	}
	if o.Prompt != "" {
		out += "\n\n" + o.Prompt
	}
	return out
}

// Ask implements [delegate.Team]: the agent answers without tools, as itself under who asks.
func (t team) Ask(ctx context.Context, call toolcrib.Call, avatar, message string) (delegate.Reply, error) {
	lead, err := t.leadOf(call.Caller)
	if err != nil {
		return delegate.Reply{}, err
	}
	made, err := t.prepare(ctx, call, lead, delegate.Order{Avatar: avatar, Task: message})
	if err != nil {
		return delegate.Reply{}, err
	}
	s := made.session
	t.enter(s.work)
	defer t.leave(s.work)
	answer, err := s.agent.Model.Ask(ctx, model.Request{System: s.agent.Instructions, Messages: []model.Message{model.Text(model.User, message)}, NoCalls: true}, nil)
	if err != nil {
		return delegate.Reply{}, err
	}
	return delegate.Reply{Avatar: t.avatar(avatar), Model: cmp.Or(answer.Model, s.agent.Model.Traits().Name), Text: answer.Message.Said()}, nil
}

// Close ends all that is at work.
func (a *Agents) Close() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	var list []*work
	for _, w := range a.live {
		list = append(list, w)
	}
	a.mu.Unlock()
	for _, w := range list {
		w.end()
	}
	return nil
}

var errNoModel = errors.New("no model is set up; 'toolcrib models' finds and sets one")
