package app

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/keeper"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
	"github.com/toolcrib/toolcrib/model"
)

// TestModelsOfTheProgram: with everything put together, in the strictest mode, a request
// to a model goes through, with the key of the vault and without its secrets; the journal
// has what it used, a budget outlives a restart, a rule that names it stops it, and it is
// on no shelf.
func TestModelsOfTheProgram(t *testing.T) {
	const value = "plum-tree-garden-gate"
	state, dir, keys := t.TempDir(), t.TempDir(), keeper.Source{Env: vaulttest.Env(t)}
	vaulttest.Fill(t, keeper.Dir(state), keys.Env, map[vault.Ref]string{{Name: "TOKEN"}: value, {Name: "openai_key"}: "sk-the-key-of-the-model"})
	s := modeltest.NewFunc(t, func(modeltest.Request) modeltest.Turn {
		return modeltest.Turn{Text: "yes", Usage: modeltest.Usage{Input: 600, Output: 100}}
	})
	cfg := settings.Defaults()
	cfg.Mode, cfg.Profile = policy.ModePlan.String(), policy.ProfileMinimal
	cfg.Models = map[string]settings.Model{"m": {BaseURL: s.Base("openai"), Model: "scripted", Key: "secret:openai_key", Prices: settings.ModelPrices{Input: 2, Output: 4}}}
	cfg.Bounds.Budgets = []settings.SafetyBudget{{Name: "day", Per: 24 * time.Hour, Tokens: 1000, For: settings.SafetyFor{Tools: []string{"ask_model"}}}}
	caller := toolcrib.Caller{Subject: "ann", Session: "s", Frontend: "cli"}
	open := func(change func(*settings.Config)) *App {
		t.Helper()
		cfg := cfg
		if change != nil {
			change(&cfg)
		}
		a, err := Open(t.Context(), cfg, Needs{State: state, Dir: dir, Home: t.TempDir(), Keys: keys, Unattended: desk.Leave})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Faults {
			t.Errorf("%s %s: %v", f.Box, f.Tool, f.Err)
		}
		for _, u := range a.Unmatched(t.Context(), nil) {
			t.Error(u)
		}
		return a
	}
	ask := func(a *App) error {
		m, err := a.Models.Model("", caller)
		if err != nil {
			return err
		}
		_, err = m.Ask(t.Context(), model.Request{Messages: []model.Message{model.Text(model.User, "the gate is "+value)}}, nil)
		return err
	}
	a := open(nil)
	if err := ask(a); err != nil {
		t.Fatal(err)
	}
	for spec := range a.Crib.Tools(caller) {
		if spec.Name == "ask_model" || spec.Box == "model" {
			t.Error("it is listed")
		}
	}
	if _, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "ask_model", Input: json.RawMessage(`{"model":"m","host":"127.0.0.1"}`), Caller: caller}); toolcrib.CodeOf(err) != toolcrib.CodeNotFound {
		t.Error(err)
	}
	if r := s.Requests()[0]; strings.Contains(string(r.Body), "plum") || r.Header.Get("Authorization") != "Bearer sk-the-key-of-the-model" {
		t.Errorf("%v %s", r.Header, r.Body)
	}
	records, err := a.Journal.List(t.Context(), store.Filter{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var used *safety.ModelUse
	for _, r := range records {
		var kept struct{ Value safety.ModelUse }
		if r.Box == "model" && json.Unmarshal(r.Result, &kept) == nil {
			used = &kept.Value
		}
	}
	if want := (safety.ModelUse{Model: "m", Input: 600, Output: 100, Cost: 0.0016, Stop: "end"}); used == nil || *used != want {
		t.Errorf("recorded %+v of %d", used, len(records))
	}
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}

	a = open(nil) // 700 of 1000 are used
	if err := ask(a); err != nil {
		t.Fatal(err)
	}
	if err := ask(a); toolcrib.CodeOf(err) != toolcrib.CodeDenied || !strings.Contains(err.Error(), "1000 tokens") {
		t.Error(err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for _, rule := range []string{"model/ask_model", "ask_model"} {
		a = open(func(c *settings.Config) {
			c.Bounds.Budgets = nil
			c.Permissions.Deny = []string{rule}
		})
		if err := ask(a); toolcrib.CodeOf(err) != toolcrib.CodeDenied || !strings.Contains(err.Error(), rule) {
			t.Errorf("%s: %v", rule, err)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if n := len(s.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
}
