package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/delegate"
)

// brain is a model that does what a test says.
type brain struct {
	name  string
	think func(ctx context.Context, r model.Request) model.Message
}

func (b brain) Ask(ctx context.Context, r model.Request, _ func(model.Delta)) (*model.Answer, error) {
	m := b.think(ctx, r)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	stop := model.StopEnd
	if len(m.Calls) > 0 {
		stop = model.StopCalls
	}
	return &model.Answer{Message: m, Stop: stop, Usage: model.Usage{Input: 10, Output: 5}, Model: b.name}, nil
}

func (b brain) Name() string { return b.name }

func (b brain) Cost(u model.Usage) float64 { return float64(u.Input+u.Output) / 1000 }

func (b brain) Traits() model.Traits {
	return model.Traits{Name: b.name, Format: "openai", Tools: true}
}

// say answers.
func say(text string) model.Message { return model.Text(model.Assistant, text) }

// use calls a tool.
func use(id, tool string, input any) model.Message {
	args, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return model.Message{Role: model.Assistant, Calls: []model.ToolCall{{ID: id, Name: tool, Arguments: args}}}
}

type none struct{}

// place is a crib under the settings of a test, as the program has it: with its rules,
// its visibility and the toolbox of delegation.
type place struct {
	*Agents
	crib    *toolcrib.Crib
	journal *cribtest.Memory
	store   *sessions.Store

	mu    sync.Mutex
	think map[string]func(ctx context.Context, r model.Request) model.Message // by the name of the model
	ran   []toolcrib.Call                                                     // of the tools below
}

// box is what there is to call: a tool for each effect.
func (p *place) box() toolcrib.Toolbox {
	tool := func(name string, effects toolcrib.Effects) toolcrib.Tool {
		return toolcrib.Define(toolcrib.Spec{Name: name, Effects: effects, Group: "fs"}, func(_ context.Context, env *toolcrib.Env, _ none) (none, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.ran = append(p.ran, env.Call)
			return none{}, nil
		})
	}
	return toolcrib.NewBox("things", tool("look", toolcrib.Reads), tool("change", toolcrib.Writes), tool("send", toolcrib.Network), tool("secret", toolcrib.Reads), tool("memory_search", toolcrib.Reads))
}

func open(t testing.TB, cfg settings.Config) *place {
	t.Helper()
	p := &place{crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}}, journal: &cribtest.Memory{}, think: map[string]func(context.Context, model.Request) model.Message{}}
	if cfg.Delegation.AtOnce == 0 {
		most := cfg.Delegation.Delegates
		cfg.Delegation = settings.DefaultDelegation()
		cfg.Delegation.Delegates = most
	}
	p.store = sessions.New(sessions.Config{Dir: t.TempDir()})
	p.Agents = New(Needs{
		Crib: p.crib, Settings: func() settings.Config { return cfg }, Sessions: p.store, Project: "/p",
		Model: func(_ context.Context, name string, _ toolcrib.Caller, _ string) (Model, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			think, ok := p.think[name]
			if !ok {
				return nil, fmt.Errorf("there is no model %q", name)
			}
			return brain{name, think}, nil
		},
	})
	layers := &settings.Layers{User: cfg, Chosen: p.Agents}
	visible, err := layers.Visibility([]string{"things", delegate.Name})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.NewRules(layers.Rules(cfg), policy.RuleOptions{Own: []string{"things", delegate.Name}, Base: t.TempDir(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	live := &policy.Live{}
	live.Set(&policy.Policy{Rules: rules, Mode: layers.Mode, Whole: &p.crib.Grant})
	meta, err := delegate.Open(t.Context(), delegate.Config{}, delegate.Needs{Team: p.Team()})
	if err != nil {
		t.Fatal(err)
	}
	p.crib.Visible = func(c toolcrib.Caller, e *toolcrib.Entry) bool { return p.Exists(c, e) && visible.Visible(c, e) }
	p.crib.MoreGuards, p.crib.Guards, p.crib.Journal = live.Guards, []toolcrib.Guard{p.Guard()}, p.journal
	p.crib.Around = []func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool{p.Around}
	if _, faults := p.crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{p.box(), meta}}); len(faults) > 0 {
		t.Fatal(faults)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// script has a model answer one message after the other.
func (p *place) script(name string, answers ...model.Message) {
	var mu sync.Mutex
	p.think[name] = func(context.Context, model.Request) model.Message {
		mu.Lock()
		defer mu.Unlock()
		if len(answers) == 0 {
			return say("nothing is left to say")
		}
		m := answers[0]
		answers = answers[1:]
		return m
	}
}

var ann = toolcrib.Caller{Subject: "ann", Frontend: "test"}

func as(agent string) toolcrib.Caller {
	c := ann
	c.Agent = agent
	return c
}

// session opens one and closes it at the end.
func (p *place) session(t testing.TB, o Options) *Session {
	t.Helper()
	s, err := p.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// turn takes one and gives the answer.
func turn(t testing.TB, s *Session, said string) string {
	t.Helper()
	out, err := s.Turn(t.Context(), model.Text(model.User, said), nil)
	if err != nil {
		t.Fatal(err)
	}
	return out.Text
}

// results are what came of the calls of a request's conversation, in order.
func results(r model.Request) []string {
	var out []string
	for _, m := range r.Messages {
		if m.Role == model.Tool {
			out = append(out, m.Said())
		}
	}
	return out
}

func (p *place) calls() []toolcrib.Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]toolcrib.Call(nil), p.ran...)
}
