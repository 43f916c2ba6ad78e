package models

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/model"
)

// Box and Tool are what requests are called in the journal, in rules and in budgets.
const (
	Box  = safety.ModelBox
	Tool = safety.ModelTool
)

const (
	box  = Box
	tool = Tool

	defaultIdle = 3 * time.Minute

	// usualAnswer is how many tokens budgets hold ready for an answer of which nobody said
	// how long it may be.
	usualAnswer = 1000
)

// Governed is a model whose requests are calls.
type Governed struct {
	// Caller is in whose name it is asked, and Parent the call that it is asked for.
	Caller toolcrib.Caller
	Parent string
	// OnUse is told what each request used. Nil: nobody is.
	OnUse func(safety.ModelUse)

	models *Models
	entry  *entry
}

var _ model.Model = (*Governed)(nil)

// Name is what the settings call it.
func (g *Governed) Name() string { return g.entry.name }

// Traits says what it can do.
func (g *Governed) Traits() model.Traits { return g.entry.model.Traits() }

// Cost is what tokens cost, by the prices of the settings.
func (g *Governed) Cost(u model.Usage) float64 { return g.entry.cost(u) }

// Priced reports whether the settings have prices for it.
func (g *Governed) Priced() bool { return g.entry.prices != settings.ModelPrices{} }

func (e *entry) cost(u model.Usage) float64 {
	read, write := e.prices.CacheRead, e.prices.CacheWrite
	if read == 0 {
		read = e.prices.Input
	}
	if write == 0 {
		write = e.prices.Input
	}
	plain := max(0, u.Input-u.CacheRead-u.CacheWrite)
	return (float64(plain)*e.prices.Input + float64(u.CacheRead)*read + float64(u.CacheWrite)*write + float64(u.Output)*e.prices.Output) / 1e6
}

// pending is a request on its way: what travels beside its call.
type pending struct {
	call    toolcrib.Call
	entry   *entry
	request model.Request
	tokens  int // of the request, by estimate
	known   *secrets.Known
	answer  *model.Answer
	err     error

	mu   sync.Mutex
	emit func(model.Delta) // nil: nobody listens, or no more
	said int               // bytes that were told
	use  *safety.ModelUse  // when it is over
}

func (p *pending) used() *safety.ModelUse {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.use
}

// tell passes a piece on, as long as somebody waits for it.
func (p *pending) tell(d model.Delta) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said += len(d.Text) + len(d.Thought)
	if p.emit != nil {
		p.emit(d)
	}
}

func (p *pending) deaf() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.emit = nil
}

// table is the requests on their way, by the IDs of their calls. A call that is not in
// it was made by nobody who may.
type table struct {
	mu      sync.Mutex
	pending map[string]*pending
}

func (t *table) add(p *pending) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending[p.call.ID] = p
}

func (t *table) take(id string) *pending {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pending[id]
	delete(t.pending, id)
	return p
}

// Ask sends a conversation, without what the vault knows.
func (g *Governed) Ask(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Answer, error) {
	known, err := g.models.needs.Known()
	if err != nil {
		return nil, &model.Error{Kind: model.BadKey, Message: "the vault is locked, so that its secrets could not be taken out of what a model is sent: " + err.Error(), Err: err}
	}
	r = without(known, r)
	p := &pending{entry: g.entry, request: r, tokens: estimate(r), emit: emit, known: known}
	images := 0
	for _, m := range r.Messages {
		for _, part := range m.Parts {
			if len(part.Data) > 0 {
				images++
			}
		}
	}
	plan := safety.ModelPlan{Tokens: p.tokens, Answer: cmp.Or(r.MaxTokens, g.Traits().Output, usualAnswer)}
	plan.Cost = g.entry.cost(model.Usage{Input: plan.Tokens, Output: plan.Answer})
	input, err := json.Marshal(asked{Model: g.entry.name, Host: g.entry.host, Messages: len(r.Messages), Tools: len(r.Tools), Images: images, ModelPlan: plan})
	if err != nil {
		return nil, err
	}
	p.call = toolcrib.Call{ID: callid.New(time.Now()), Tool: tool, Input: input, Caller: g.Caller, Parent: g.Parent}
	p.call.Caller.Dialect = "" // it has no other name
	g.models.table.add(p)
	defer g.models.table.take(p.call.ID) // a call that was refused never took it
	_, err = g.models.crib.Call(ctx, p.call)
	p.deaf()
	if use := p.used(); g.OnUse != nil && use != nil {
		g.OnUse(*use)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	}
	return p.answer, p.err
}

// asked is what a call says about a request.
type asked struct {
	Model    string `json:"model"`
	Host     string `json:"host"`
	Messages int    `json:"messages"`
	Tools    int    `json:"tools"`
	Images   int    `json:"images"`
	safety.ModelPlan
}

// openCrib makes the crib that requests go through. It shares the journal of the
// program's own, and what watches it.
func (m *Models) openCrib(ctx context.Context, limits settings.Limits) error {
	of := m.needs.Crib
	m.crib = &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: of.Journal, Approver: of.Approver,
		Redact: of.Redact, RedactText: of.RedactText, Emit: of.Emit, Now: of.Now, Log: of.Log, Limits: of.Limits,
		Guards: append([]toolcrib.Guard{consent{m}}, m.needs.Guards...), MoreGuards: m.needs.Rules, Around: m.needs.Around,
	}
	if m.needs.Watch != nil {
		m.needs.Watch(m.crib)
	}
	_, faults := m.crib.Catalog.Load(ctx, toolcrib.Contents{Boxes: []toolcrib.Toolbox{shelf{m, limits.MaxTimeout}}})
	if len(faults) > 0 {
		return &faults[0]
	}
	return nil
}

// consent allows what the settings name: that a model stands there is the person's word.
type consent struct{ *Models }

// Judge implements [toolcrib.Guard].
func (c consent) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	var in asked
	if err := json.Unmarshal(r.Input, &in); err != nil {
		return nil, err
	}
	if e := c.set[in.Model]; e == nil || e.host != in.Host {
		return &toolcrib.Verdict{Decision: toolcrib.Deny, Guard: "models", Reason: "the settings have no such model"}, nil
	}
	return &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "models", Rule: "models." + in.Model, Reason: "the settings name this model at " + in.Host}, nil
}

// shelf is the toolbox with the one tool.
type shelf struct {
	*Models
	longest time.Duration
}

func (shelf) Name() string { return box }

func (s shelf) Tools(context.Context) ([]toolcrib.Tool, error) {
	return []toolcrib.Tool{{
		Spec: toolcrib.Spec{
			Name: tool, Title: "Ask a model", Group: "model", Effects: toolcrib.Network, Timeout: s.longest,
			Description: "A request to a language model. The program makes it; nobody else can.",
			Input:       json.RawMessage(`{"type":"object","properties":{"model":{"type":"string"},"host":{"type":"string"},"messages":{"type":"integer"},"tools":{"type":"integer"},"images":{"type":"integer"},"tokens":{"type":"integer"},"answer":{"type":"integer"},"cost":{"type":"number"}},"required":["model","host"],"additionalProperties":false}`),
		},
		Run: s.run,
	}}, nil
}

// run makes the request that belongs to a call.
func (m *Models) run(ctx context.Context, env *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
	p := m.table.take(env.Call.ID)
	if p == nil {
		return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Tool: tool, Message: "models are asked by the agents of this program, and by nobody else"}
	}
	p.answer, p.err = p.entry.model.Ask(ctx, p.request, p.tell)
	unsaid(p.known, p.answer, p.err)
	use := safety.ModelUse{Model: p.entry.name}
	var used model.Usage
	if p.answer != nil {
		p.answer.Usage = sane(p.answer.Usage)
		used, use.Stop = p.answer.Usage, p.answer.Stop
		if used == (model.Usage{}) {
			use.Estimated = true
			used = model.Usage{Input: p.tokens, Output: written(p.answer.Message)}
			p.answer.Usage = used
		}
	} else {
		p.mu.Lock()
		said := p.said
		p.mu.Unlock()
		if said > 0 || ctx.Err() != nil { // it was at work: somebody pays for that
			use.Estimated = true
			used = model.Usage{Input: p.tokens, Output: said / 4}
		}
	}
	use.Input, use.Output, use.CacheRead, use.CacheWrite, use.Cost = used.Input, used.Output, used.CacheRead, used.CacheWrite, p.entry.cost(used)
	if p.err != nil {
		use.Error = "error"
		if e, ok := errors.AsType[*model.Error](p.err); ok {
			use.Error = e.Kind
		}
	}
	p.mu.Lock()
	p.use = &use
	p.mu.Unlock()
	result := &toolcrib.Result{}
	if p.err != nil {
		result.Failed, result.Content = true, []toolcrib.Content{{Type: "text", Text: p.err.Error()}}
	} else {
		result.Content = []toolcrib.Content{{Type: "text", Text: fmt.Sprintf("%d tokens read, %d written", used.Input, used.Output)}}
	}
	var err error
	result.Value, err = json.Marshal(use)
	return result, err
}

// OnlyNamed leaves of a guard's verdicts those by rules that name the tool: modes and
// profiles are about what agents do, not about that they think.
func OnlyNamed(g toolcrib.Guard) toolcrib.Guard { return onlyNamed{g} }

type onlyNamed struct{ toolcrib.Guard }

func (o onlyNamed) Judge(ctx context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	v, err := o.Guard.Judge(ctx, r)
	if err != nil || v == nil || v.Decision == toolcrib.Allow {
		return nil, err
	}
	if strings.Contains(v.Rule, tool) || strings.Contains(v.Rule, box+"/") {
		return v, nil
	}
	return nil, nil
}
