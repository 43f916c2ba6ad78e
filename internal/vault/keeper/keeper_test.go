package keeper

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
)

type nameIn struct {
	Name string `json:"name"`
}

type lengthOut struct {
	Bytes int  `json:"bytes"`
	Right bool `json:"right"`
}

// using is a tool that uses a secret without giving it away.
func using(name, want string) toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{Name: name, Effects: toolcrib.UsesSecrets}, func(ctx context.Context, env *toolcrib.Env, in nameIn) (lengthOut, error) {
		if env.Secret == nil {
			return lengthOut{}, errors.New("there is no handle")
		}
		value, err := env.Secret(ctx, in.Name)
		return lengthOut{len(value), value == want}, err
	})
}

// TestSecretOfACall goes the whole way: a vault on disk, a crib with a journal,
// and tools that get their own and nothing else.
func TestSecretOfACall(t *testing.T) {
	const treasure = "xyzzy-plugh-4711"
	state, from := t.TempDir(), Source{Env: vaulttest.Env(t)}
	vaulttest.Fill(t, Dir(state), from.Env, map[vault.Ref]string{
		{Name: "TOKEN"}: treasure,
		{Name: "OTHER"}: "something else",
		{Scope: vault.Scope{Organisation: "acme"}, Name: "TOKEN"}:              "acme's",
		{Scope: vault.Scope{Tool: "hub"}, Name: "BOXED"}:                       treasure,
		{Scope: vault.Scope{Tool: "hub/other"}, Name: "TOOLED"}:                treasure,
		{Scope: vault.Scope{Subject: "ann", Tool: "hub/push"}, Name: "PERSON"}: treasure,
	})
	journal, err := sqlite.Open(t.Context(), store.Config{Dir: filepath.Join(state, "journal")})
	if err != nil {
		t.Fatal(err)
	}
	crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: journal, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.UsesSecrets)}}
	cfg := settings.Defaults().Vault
	cfg.Grants = map[string][]string{"hub/push": {"TOKEN", "TOOLED", "PERSON", "GONE"}, "hub": {"BOXED"}, "else": {"OTHER"}}
	if _, err := Open(crib, cfg, state, from); err != nil {
		t.Fatal(err)
	}
	if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{
		toolcrib.NewBox("hub", using("push", treasure), using("pull", treasure)), toolcrib.NewBox("alien", using("stranger", treasure)),
	}}); faults != nil {
		t.Fatal(faults)
	}
	for _, c := range []struct {
		what, tool, name, organisation, subject string
		right                                   bool
		code                                    toolcrib.Code
	}{
		{"its own", "push", "TOKEN", "", "ann", true, ""},
		{"of its box", "push", "BOXED", "", "ann", true, ""},
		{"of its box, for its sister", "pull", "BOXED", "", "", true, ""},
		{"of the person for this tool", "push", "PERSON", "", "ann", true, ""},
		{"of another person", "push", "PERSON", "", "bob", false, toolcrib.CodeUnavailable},
		{"of another tool, though the name is granted", "push", "TOOLED", "", "ann", false, toolcrib.CodeUnavailable},
		{"of another organisation", "push", "TOKEN", "acme", "ann", false, ""},
		{"nothing of the node for an organisation", "push", "BOXED", "acme", "ann", false, toolcrib.CodeUnavailable},
		{"somebody who is called everyone", "push", "TOKEN", "*", "ann", false, toolcrib.CodeInvalid},
		{"not set", "push", "GONE", "", "ann", false, toolcrib.CodeUnavailable},
		{"granted to its sister", "pull", "TOKEN", "", "ann", false, toolcrib.CodeDenied},
		{"granted to another box", "push", "OTHER", "", "ann", false, toolcrib.CodeDenied},
		{"any", "push", "*", "", "ann", false, toolcrib.CodeDenied},
	} {
		result, err := crib.Call(t.Context(), toolcrib.Call{
			Tool: c.tool, Input: json.RawMessage(`{"name":"` + c.name + `"}`), Caller: toolcrib.Caller{Organisation: c.organisation, Subject: c.subject},
		})
		var out lengthOut
		if err == nil {
			err = json.Unmarshal(result.Value, &out)
		}
		if c.code == "" && err != nil || c.code != "" && toolcrib.CodeOf(err) != c.code || out.Right != c.right {
			t.Errorf("%s: right %v, %v", c.what, out.Right, err)
		}
		if err != nil && (strings.Contains(err.Error(), treasure) || strings.Contains(err.Error(), state)) {
			t.Errorf("%s: the error says too much: %v", c.what, err)
		}
	}
	result, err := crib.Call(t.Context(), toolcrib.Call{Tool: "stranger", Input: json.RawMessage(`{"name":"TOKEN"}`)})
	if err != nil || !result.Failed || !strings.Contains(result.String(), "no handle") {
		t.Errorf("a tool that was granted nothing: %v, %v", result, err)
	}
	// A crib that lost its guard still hands each tool only its own.
	crib.Guards = crib.Guards[:1]
	if _, err := crib.Call(t.Context(), toolcrib.Call{Tool: "stranger", Input: json.RawMessage(`{"name":"TOKEN"}`)}); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("without the guard: %v", err)
	}
	if err := journal.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if file, err := vaulttest.FileWith(state, treasure); file != "" || err != nil {
		t.Errorf("%s holds the value, %v", file, err)
	}
}

func TestVaultCheck(t *testing.T) {
	for text, change := range map[string]func(*settings.Vault){
		"":                        func(*settings.Vault) {},
		"a variable that is ours": func(v *settings.Vault) { v.Key.Env = "TOOLCRIB_LIMITS_TIMEOUT" },
		"neither a box":           func(v *settings.Vault) { v.Grants = map[string][]string{"math/": {"A"}} },
		"any box":                 func(v *settings.Vault) { v.Grants = map[string][]string{"*": {"A"}} },
		"any tool":                func(v *settings.Vault) { v.Grants = map[string][]string{"math/*": {"A"}} },
		"no name":                 func(v *settings.Vault) { v.Grants = map[string][]string{"math": {"hunter 2"}} },
		"no command":              func(v *settings.Vault) { v.Key.From = "command" },
		"no such place":           func(v *settings.Vault) { v.Key.From = "pocket" },
	} {
		cfg := settings.Defaults().Vault
		change(&cfg)
		err := checkVault(cfg)
		if (err == nil) != (text == "") {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: it repeats what may be a secret: %v", text, err)
		}
	}
	// The variables of keys are no settings, and no setting has their name.
	loaded, err := config.Load(settings.Defaults(), config.Options{Environ: []string{"TOOLCRIB_VAULT_KEY=x", "TOOLCRIB_VAULT_KEY_NEW=x"}})
	if err != nil {
		t.Fatal(err)
	}
	for key, origin := range loaded.Origins {
		if origin.Source == config.SourceEnv {
			t.Errorf("%s is taken from the variable of a key", key)
		}
	}
}

func TestExpand(t *testing.T) {
	state, from := t.TempDir(), Source{Env: vaulttest.Env(t)}
	vaulttest.Fill(t, Dir(state), from.Env, map[vault.Ref]string{{Name: "A"}: "one", {Scope: vault.Scope{Tool: "hub"}, Name: "B"}: "two"})
	s, err := Open(&toolcrib.Crib{}, settings.Defaults().Vault, state, from)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Expand(t.Context(), "x ${secret:A} ${HOME}"); err != nil || got != "x one ${HOME}" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := s.Expand(t.Context(), "${secret:B}"); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("one of a box: %v", err)
	}
	t.Setenv("FRUIT", "plum")
	if got, err := s.Setting(t.Context(), "${FRUIT} ${secret:A}"); err != nil || got != "plum one" {
		t.Errorf("%q, %v", got, err)
	}
	var none *Keeper // a crib that only lists tools
	if got, err := none.Expand(t.Context(), "plain"); err != nil || got != "plain" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := none.Expand(t.Context(), "${secret:A}"); err == nil {
		t.Error("a secret without a vault")
	}
}

func TestKnownValues(t *testing.T) {
	state, from := t.TempDir(), Source{Env: vaulttest.Env(t)}
	var said bytes.Buffer
	clock := time.Now()
	open := func(from Source, cfg settings.Vault) *Keeper {
		s, err := Open(&toolcrib.Crib{Log: slog.New(slog.NewTextHandler(&said, nil))}, cfg, state, from)
		if err != nil {
			t.Fatal(err)
		}
		s.now = func() time.Time { return clock }
		return s
	}
	s := open(from, settings.Defaults().Vault)
	if values, stamp := s.known(t.Context()); len(values) != 0 || stamp != (vault.Stamp{}) {
		t.Errorf("without a store: %q", values)
	}
	vaulttest.Fill(t, Dir(state), from.Env, map[vault.Ref]string{{Name: "A"}: "one", {Name: "B"}: "three", {Scope: vault.Scope{Organisation: "x"}, Name: "B"}: "one"})
	first, stamp := s.known(t.Context())
	if !slices.Equal(first, []string{"three", "one"}) {
		t.Errorf("%q", first)
	}
	if again, same := s.known(t.Context()); same != stamp || &again[0] != &first[0] {
		t.Error("nothing changed, and the list is another")
	}
	set := s.Redaction()
	if set == nil || s.Redaction() != set {
		t.Error("nothing changed, and the set for redaction is another")
	}
	vaulttest.Fill(t, Dir(state), from.Env, map[vault.Ref]string{{Name: "C"}: "seven11"})
	if now, changed := s.known(t.Context()); changed == stamp || !slices.Equal(now, []string{"seven11", "three", "one"}) {
		t.Errorf("after a change: %q", now)
	}
	if s.Redaction() == set {
		t.Error("what was added is not redacted")
	}
	if said.Len() != 0 {
		t.Errorf("logged: %s", said.String())
	}

	// The key is away: nothing fails, it is said once, and tried again later.
	lost := open(Source{Env: vaulttest.Env(t)}, settings.Defaults().Vault)
	for range 3 {
		clock = clock.Add(time.Minute)
		if values, _ := lost.known(t.Context()); values != nil {
			t.Errorf("with another key: %q", values)
		}
	}
	if n := strings.Count(said.String(), "vault cannot be read"); n != 1 {
		t.Errorf("said %d times: %s", n, said.String())
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	lost.known(over)
}

// TestKnownValuesAskNobody: a passphrase is asked for when a tool needs a
// secret, not when somebody's result is looked over.
func TestKnownValuesAskNobody(t *testing.T) {
	state, asked := t.TempDir(), 0
	phraseStore(t, state)
	from := Source{Ask: func(context.Context, bool) (string, error) { asked++; return "correct horse battery staple", nil }}
	cfg := settings.Vault{Key: vault.KeyConfig{From: "passphrase"}, Grants: map[string][]string{"hub": {"A"}}}
	s, err := Open(&toolcrib.Crib{Log: slog.New(slog.DiscardHandler)}, cfg, state, from)
	if err != nil {
		t.Fatal(err)
	}
	if values, _ := s.known(t.Context()); values != nil || asked != 0 {
		t.Errorf("%q, asked %d times", values, asked)
	}
	if got, err := s.lookup(t.Context(), toolcrib.Call{}, toolcrib.Entry{Box: "hub", Native: "x"}, "A"); err != nil || got != "one" {
		t.Fatalf("%q, %v", got, err)
	}
	if values, _ := s.known(t.Context()); !slices.Equal(values, []string{"two\xff", "one"}) || asked != 1 {
		t.Errorf("once it is open: %q, asked %d times", values, asked)
	}
	nobody, err := Open(&toolcrib.Crib{}, cfg, state, Source{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nobody.lookup(t.Context(), toolcrib.Call{}, toolcrib.Entry{Box: "hub", Native: "x"}, "A"); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Errorf("nobody to ask: %v", err)
	}
}

// phraseStore puts a vault in place that opens with a passphrase, at little
// cost. It has a secret A.
func phraseStore(t *testing.T, state string) {
	t.Helper()
	text, err := os.ReadFile("../testdata/v1-passphrase.b64")
	if err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(string(text))
	if err == nil {
		err = os.MkdirAll(Dir(state), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(Dir(state), "secrets"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
