package models

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/model"
)

// book is a journal that remembers.
type book struct {
	mu   sync.Mutex
	list []toolcrib.Record
}

func (b *book) Begin(context.Context, *toolcrib.Record) (*toolcrib.Record, error) { return nil, nil }

func (b *book) End(_ context.Context, r *toolcrib.Record) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, *r)
	return nil
}

// rig is models over a scripted server.
type rig struct {
	*Models
	journal *book
	server  *modeltest.Server
}

const key = "sk-key-of-the-model-0123456789"

func open(t *testing.T, s *modeltest.Server, change func(*settings.Config, *Needs)) rig {
	t.Helper()
	b := &book{}
	cfg := settings.Config{Models: map[string]settings.Model{}, Limits: settings.Limits{MaxTimeout: time.Minute}}
	for _, api := range []string{"openai", "anthropic", "gemini"} {
		cfg.Models[api] = settings.Model{API: api, BaseURL: s.Base(api), Model: "scripted", Key: "secret:model_key", Prices: settings.ModelPrices{Input: 1, Output: 10, CacheRead: 0.1}}
	}
	needs := Needs{
		Crib: &toolcrib.Crib{Journal: b},
		Secret: func(_ context.Context, name string) (string, error) {
			if name != "model_key" {
				return "", vault.ErrNotFound
			}
			return key, nil
		},
		Known: func() (*secrets.Known, error) { return secrets.NewKnown([]string{key, planted}), nil },
		Change: func(e *model.Endpoint) {
			e.Pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		},
	}
	if change != nil {
		change(&cfg, &needs)
	}
	m, faults := Open(t.Context(), cfg, needs)
	for _, f := range faults {
		t.Fatal(f.Tool, f.Err)
	}
	return rig{m, b, s}
}

func (r rig) ask(ctx context.Context, name string, req model.Request) (*model.Answer, error) {
	m, err := r.Model(name, toolcrib.Caller{Subject: "ana", Session: "s1", Agent: "coder", Frontend: "cli"})
	if err != nil {
		return nil, err
	}
	return m.Ask(ctx, req, nil)
}

func hello() model.Request {
	return model.Request{Messages: []model.Message{model.Text(model.User, "hello")}}
}

// TestRequestIsACall: the journal has it with what it used, and nothing of what was said.
func TestRequestIsACall(t *testing.T) {
	for _, api := range []string{"openai", "anthropic", "gemini"} {
		s := modeltest.New(t, modeltest.Turn{Text: "the answer", Usage: modeltest.Usage{Input: 1000, Output: 100, CacheRead: 500}})
		r := open(t, s, nil)
		a, err := r.ask(t.Context(), api, hello())
		if err != nil || a.Message.Said() != "the answer" {
			t.Fatalf("%+v, %v", a, err)
		}
		if len(r.journal.list) != 1 {
			t.Fatalf("%d records", len(r.journal.list))
		}
		rec := r.journal.list[0]
		if rec.Box != "model" || rec.Native != "ask_model" || rec.Outcome != toolcrib.Done || rec.Caller.Subject != "ana" || rec.Caller.Session != "s1" {
			t.Errorf("%+v", rec)
		}
		var kept struct{ Value safety.ModelUse }
		if err := json.Unmarshal(rec.Result, &kept); err != nil {
			t.Fatal(err)
		}
		// 500 at 1, 500 at 0.1 and 100 at 10, of a million.
		want := safety.ModelUse{Model: api, Input: 1000, Output: 100, CacheRead: 500, Cost: (500 + 50 + 1000) / 1e6, Stop: "end"}
		if kept.Value != want {
			t.Errorf("recorded %+v", kept.Value)
		}
		if all := string(rec.Input) + string(rec.Result); strings.Contains(all, "hello") || strings.Contains(all, "the answer") {
			t.Errorf("what was said is in the journal: %s", all)
		}
		if s.Requests()[0].Header.Get(map[string]string{"openai": "Authorization", "anthropic": "X-Api-Key", "gemini": "X-Goog-Api-Key"}[api]) != map[bool]string{true: "Bearer "}[api == "openai"]+key {
			t.Error("the key did not arrive")
		}
	}
}

// TestFailureIsRecorded: with its kind, and what was used is counted by estimate.
func TestFailureIsRecorded(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Fail: modeltest.TooLong}, modeltest.Turn{Text: strings.Repeat("word ", 40), FailLate: modeltest.Overloaded}, modeltest.Turn{Text: "ok", Quirks: modeltest.Quirks{NoUsage: true}})
	r := open(t, s, nil)
	if _, err := r.ask(t.Context(), "openai", hello()); err == nil || !isKind(err, model.TooLong) {
		t.Fatal(err)
	}
	if _, err := r.ask(t.Context(), "openai", hello()); !isKind(err, model.Busy) {
		t.Fatal(err)
	}
	a, err := r.ask(t.Context(), "openai", hello())
	if err != nil || a.Usage.Input == 0 || a.Usage.Output == 0 {
		t.Errorf("%+v, %v", a, err)
	}
	for i, want := range []string{`"error":"too_long"`, `"estimated":true`, `"estimated":true`} {
		if rec := r.journal.list[i]; !strings.Contains(string(rec.Result), want) || i < 2 && rec.Outcome != toolcrib.Broke {
			t.Errorf("%d: %s %s", i, rec.Outcome, rec.Result)
		}
	}
}

func isKind(err error, kind string) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Kind == kind
}

// TestNobodyElseAsks: the tool is on no shelf but its own, and a call without a request
// is refused.
func TestNobodyElseAsks(t *testing.T) {
	r := open(t, modeltest.New(t), nil)
	_, err := r.crib.Call(t.Context(), toolcrib.Call{Tool: "ask_model", Input: json.RawMessage(`{"model":"openai","host":"127.0.0.1"}`)})
	if toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Error(err)
	}
	_, err = r.crib.Call(t.Context(), toolcrib.Call{Tool: "ask_model", Input: json.RawMessage(`{"model":"openai","host":"elsewhere"}`)})
	if toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Error(err)
	}
}

// TestBudgets: tokens and cost count, and what is used up stops requests.
func TestBudgets(t *testing.T) {
	for name, limit := range map[string]safety.BudgetLimit{
		"tokens": {Name: "day", Per: time.Hour, Tokens: 250},
		"money":  {Name: "day", Per: time.Hour, Money: 0.002},
	} {
		b, err := safety.NewBudget([]safety.BudgetLimit{limit}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := modeltest.NewFunc(t, func(modeltest.Request) modeltest.Turn {
			return modeltest.Turn{Text: "x", Usage: modeltest.Usage{Input: 50, Output: 100}}
		})
		r := open(t, s, func(_ *settings.Config, n *Needs) {
			n.Guards, n.Around = []toolcrib.Guard{b}, []func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool{b.Around}
		})
		for range 2 {
			if _, err := r.ask(t.Context(), "openai", hello()); err != nil {
				t.Fatal(name, err)
			}
		}
		_, err = r.ask(t.Context(), "openai", hello())
		if toolcrib.CodeOf(err) != toolcrib.CodeDenied || !strings.Contains(err.Error(), "budget day is used up") {
			t.Errorf("%s: %v", name, err)
		}
		if len(s.Requests()) != 2 {
			t.Errorf("%s: %d requests", name, len(s.Requests()))
		}
		// Another process counts what this one recorded.
		again, err := safety.NewBudget([]safety.BudgetLimit{limit}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.journal.list {
			again.Recall(&r.journal.list[i], &toolcrib.Entry{Box: "model", Native: "ask_model"})
		}
		if used := again.Used()["day"]; used < 1 {
			t.Errorf("%s: after a restart %v is used", name, used)
		}
	}
}

// TestKeys: a missing key names the command, a plain one is refused untold, and a locked
// vault sends nothing.
func TestKeys(t *testing.T) {
	s := modeltest.New(t)
	r := open(t, s, func(c *settings.Config, _ *Needs) {
		m := c.Models["openai"]
		m.Key = "${secret:other_key}"
		c.Models["openai"] = m
	})
	_, err := r.ask(t.Context(), "openai", hello())
	if !isKind(err, model.BadKey) || !strings.Contains(err.Error(), "toolcrib secret set other_key") {
		t.Error(err)
	}
	if _, err := KeyName("sk-1234567890"); err == nil || strings.Contains(err.Error(), "sk-") {
		t.Error(err)
	}
	r = open(t, s, func(_ *settings.Config, n *Needs) {
		n.Known = func() (*secrets.Known, error) { return nil, errors.New("say the passphrase") }
	})
	if _, err := r.ask(t.Context(), "openai", hello()); !isKind(err, model.BadKey) || !strings.Contains(err.Error(), "passphrase") {
		t.Error(err)
	}
	if len(s.Requests()) > 0 {
		t.Error("something was sent")
	}
}

// TestNames: which one is meant, and what to do if there is none.
func TestNames(t *testing.T) {
	s := modeltest.New(t)
	r := open(t, s, nil)
	for name, want := range map[string]string{"": "several", "gpt": "there is no model gpt in the configuration: there are anthropic, gemini, openai"} {
		if _, err := r.Model(name, toolcrib.Caller{}); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	r = open(t, s, func(c *settings.Config, _ *Needs) { c.Model = "gemini" })
	if m, err := r.Model("", toolcrib.Caller{}); err != nil || m.Name() != "gemini" || m.Traits().Format != "gemini" {
		t.Error(m, err)
	}
	r = open(t, s, func(c *settings.Config, _ *Needs) { c.Models = nil })
	if _, err := r.Model("", toolcrib.Caller{}); err == nil || !strings.Contains(err.Error(), "toolcrib models set") {
		t.Error(err)
	}
}

// TestHosts: a model reaches its own host, on this machine too, and none that its name
// or a redirect leads to otherwise.
func TestHosts(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Status: 307, Header: map[string][]string{"Location": {"http://127.0.0.2:1/"}}})
	r := open(t, s, nil)
	if _, err := r.ask(t.Context(), "openai", hello()); !isKind(err, model.BadRequest) {
		t.Error(err)
	}
	for host, want := range map[string]string{"127.0.0.1": "127.0.0.1", "localhost": "localhost", "::1": "::1", "api.example.com": "api.example.com private:api.example.com"} {
		if got := strings.Join(hosts(host), " "); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
}

// TestCancelled: at once, with nothing told afterwards, and recorded.
func TestCancelled(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Text: strings.Repeat("word ", 100), Hang: 4})
	r := open(t, s, nil)
	m, err := r.Model("openai", toolcrib.Caller{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := false
	_, err = m.Ask(ctx, hello(), func(model.Delta) {
		if over {
			t.Error("told after the end")
		}
		cancel()
	})
	over = true
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	select {
	case <-s.Requests()[0].Ended:
	case <-time.After(20 * time.Second):
		t.Error("the service is still being read")
	}
	if len(r.journal.list) != 1 {
		t.Errorf("%d records", len(r.journal.list))
	}
}

func BenchmarkAsk(b *testing.B) {
	r := rig{}
	s := modeltest.NewFunc(b, func(modeltest.Request) modeltest.Turn { return modeltest.Turn{Text: "ok"} })
	cfg := settings.Config{Models: map[string]settings.Model{"m": {BaseURL: s.Base("openai"), Model: "x"}}}
	r.Models, _ = Open(b.Context(), cfg, Needs{Crib: &toolcrib.Crib{Journal: toolcrib.NoJournal{}}, Known: func() (*secrets.Known, error) { return secrets.NewKnown([]string{planted}), nil }})
	for b.Loop() {
		if _, err := r.ask(b.Context(), "m", hello()); err != nil {
			b.Fatal(err)
		}
	}
}
