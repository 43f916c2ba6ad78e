package app

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/keeper"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
)

// TestLockedVault: there are secrets and nobody can open the vault. Nothing of
// what is in calls is kept anywhere, no tool gets a secret, and the reason says
// what to do; other calls work.
func TestLockedVault(t *testing.T) {
	const value = "plum-tree-garden-gate"
	for name, spoil := range map[string]func(t *testing.T, dir string) keeper.Source{ // nil keys: those of the vault
		"another key": func(t *testing.T, _ string) keeper.Source { return keeper.Source{Env: vaulttest.Env(t)} },
		"no key":      func(*testing.T, string) keeper.Source { return keeper.Source{} },
		"an edited file": func(t *testing.T, dir string) keeper.Source {
			file := filepath.Join(dir, "secrets")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text[len(text)-3] ^= 1
			put(t, file, text)
			return keeper.Source{}
		},
		"a cut file": func(t *testing.T, dir string) keeper.Source {
			file := filepath.Join(dir, "secrets")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			put(t, file, text[:len(text)/2])
			return keeper.Source{}
		},
		"an empty file": func(t *testing.T, dir string) keeper.Source {
			put(t, filepath.Join(dir, "secrets"), nil)
			return keeper.Source{}
		},
		"open to others": func(t *testing.T, dir string) keeper.Source {
			if err := os.Chmod(filepath.Join(dir, "secrets"), 0o644); err != nil {
				t.Fatal(err)
			}
			return keeper.Source{}
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			state, dir, right := t.TempDir(), t.TempDir(), keeper.Source{Env: vaulttest.Env(t)}
			vaulttest.Fill(t, keeper.Dir(state), right.Env, map[vault.Ref]string{{Name: "TOKEN"}: value})
			keys := spoil(t, keeper.Dir(state))
			if keys.Env == nil && name != "no key" {
				keys = right
			}
			put(t, filepath.Join(dir, "notes.txt"), []byte("the gate is "+value+"\n"))
			put(t, filepath.Join(dir, "long.txt"), []byte(strings.Repeat("the gate is "+value+"\n", 10_000)))
			cfg := settings.Defaults()
			cfg.Grant.Write = []string{dir}
			cfg.Toolboxes.Web.Secret = "TOKEN"
			cfg.Vault.Grants = map[string][]string{"web": {"TOKEN"}}
			var said bytes.Buffer
			a, err := Open(t.Context(), cfg, Needs{State: state, Dir: dir, Home: t.TempDir(), Keys: keys, Log: slog.New(slog.NewTextHandler(&said, nil)), Unattended: desk.Leave})
			if err != nil {
				t.Fatal(err)
			}
			call := func(id, tool, input string) (*toolcrib.Result, error) {
				return a.Crib.Call(t.Context(), toolcrib.Call{ID: id, Tool: tool, Input: json.RawMessage(input), Caller: toolcrib.Caller{Subject: "ann", Session: "s"}})
			}
			if r, err := call("read", "read_file", `{"path":"notes.txt"}`); err != nil || r.Failed {
				t.Errorf("another call: %v, %v", r, err)
			}
			if _, err := call("long", "read_file", `{"path":"long.txt"}`); err != nil {
				t.Error(err)
			}
			if _, err := call("input", "search_files", `{"path":".","pattern":"`+value+`"}`); err != nil && toolcrib.CodeOf(err) != toolcrib.CodeInvalid {
				t.Error(err)
			}
			if _, err := call("bad", "read_file", `{"path":"`+value+`"}`); err != nil && !strings.Contains(err.Error(), value) {
				t.Errorf("the caller is not told what is wrong: %v", err)
			}
			_, err = call("asked", "write_file", `{"path":"new.txt","content":"`+value+`"}`)
			if err == nil || !strings.Contains(err.Error(), "vault") {
				t.Errorf("a question that cannot be shown: %v", err)
			}
			if _, err := a.Crib.Secret(t.Context(), toolcrib.Call{}, toolcrib.Entry{Box: "web", Native: "web_search"}, "TOKEN"); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), "vault") {
				t.Errorf("a secret: %v", err)
			}
			// What was not recorded is not answered again.
			if _, err := call("read", "read_file", `{"path":"notes.txt"}`); toolcrib.CodeOf(err) != toolcrib.CodeConflict {
				t.Errorf("the same call again: %v", err)
			}
			if err := a.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if file, err := vaulttest.FileWith(state, value); file != "" || err != nil {
				t.Errorf("%s holds a value of the vault, %v", file, err)
			}
			if strings.Contains(said.String(), value) || !strings.Contains(said.String(), "vault") {
				t.Errorf("the log: %s", said.String())
			}
			if outcome := outcomeOf(t, cfg, state, "read"); outcome != toolcrib.Done {
				t.Errorf("the call is recorded as %q", outcome)
			}
		})
	}
}

func put(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func outcomeOf(t *testing.T, cfg settings.Config, state, id string) toolcrib.Outcome {
	t.Helper()
	r, err := sqlite.OpenReader(t.Context(), journalConfig(cfg, Needs{State: state}))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, err := r.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Outcome
}

// TestOpenHasSecrets: the wiring puts all of it into the crib, and a vault that
// nobody can open stops nothing else.
func TestOpenHasSecrets(t *testing.T) {
	state, from := t.TempDir(), keeper.Source{Env: vaulttest.Env(t)}
	vaulttest.Fill(t, keeper.Dir(state), from.Env, map[vault.Ref]string{{Name: "TOKEN"}: "one"})
	cfg := settings.Defaults()
	cfg.Vault.Grants = map[string][]string{"math": {"TOKEN"}, "nobody/x": {"TOKEN"}}
	for _, c := range []struct {
		keys  keeper.Source
		opens bool
	}{{from, true}, {keeper.Source{Env: vaulttest.Env(t)}, false}, {keeper.Source{}, false}} {
		a, err := Open(t.Context(), cfg, Needs{State: state, Dir: t.TempDir(), Home: t.TempDir(), Keys: c.keys, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "evaluate_expression", Input: json.RawMessage(`{"expression":"1+1"}`)}); err != nil {
			t.Error(err)
		}
		value, err := a.Crib.Secret(t.Context(), toolcrib.Call{}, toolcrib.Entry{Box: "math", Native: "x"}, "TOKEN")
		if (err == nil) != c.opens || (value == "one") != c.opens {
			t.Errorf("%q, %v", value, err)
		}
		if !slices.Equal(a.Crib.Grant.Secrets, []string{"TOKEN"}) {
			t.Errorf("granted: %q", a.Crib.Grant.Secrets)
		}
		if len(a.Faults) != 1 || !strings.Contains(a.Faults[0].Error(), "nobody/x") {
			t.Errorf("faults: %v", a.Faults)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestRepeatedCallAfterARestart: what stands in front of the journal leaves it
// its key, so that a call ID of an earlier process is known.
func TestRepeatedCallAfterARestart(t *testing.T) {
	state, dir := t.TempDir(), t.TempDir()
	put(t, filepath.Join(dir, "f"), []byte("first\n"))
	for i := range 2 {
		cfg := settings.Defaults()
		cfg.Grant.Write = []string{dir}
		a, err := Open(t.Context(), cfg, Needs{State: state, Dir: dir, Home: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Crib.Call(t.Context(), toolcrib.Call{ID: "once", Tool: "read_file", Input: json.RawMessage(`{"path":"f"}`), Caller: toolcrib.Caller{Subject: "ann"}})
		if err != nil || !strings.Contains(string(r.Value), "first") {
			t.Errorf("start %d: %v, %v", i, r, err)
		}
		put(t, filepath.Join(dir, "f"), []byte("second\n"))
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestNamesThatTheCallerChooses: a value of the vault does not get into the journal
// as a tool's name or a call ID, whether the vault is open or not.
func TestNamesThatTheCallerChooses(t *testing.T) {
	const value = "Zx9vault-Value.7731qqTr0ub4dor"
	for name, locked := range map[string]bool{"open": false, "locked": true} {
		t.Run(name, func(t *testing.T) {
			state, right := t.TempDir(), keeper.Source{Env: vaulttest.Env(t)}
			vaulttest.Fill(t, keeper.Dir(state), right.Env, map[vault.Ref]string{{Name: "S"}: value})
			keys := right
			if locked {
				keys = keeper.Source{Env: vaulttest.Env(t)}
			}
			dir := t.TempDir()
			cfg := settings.Defaults()
			cfg.Vault = settings.Defaults().Vault
			cfg.Grant.Write = []string{dir}
			a, err := Open(t.Context(), cfg, Needs{State: state, Dir: dir, Home: t.TempDir(), Keys: keys, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			call := func(id, tool string) error {
				_, err := a.Crib.Call(t.Context(), toolcrib.Call{ID: id, Tool: tool, Input: json.RawMessage(`{"path":"."}`), Caller: toolcrib.Caller{Subject: "ann"}})
				return err
			}
			if err := call("", value); toolcrib.CodeOf(err) != toolcrib.CodeNotFound {
				t.Error(err)
			}
			if err := call("id-"+value, "list_files"); err == nil || !strings.Contains(err.Error(), "call ID") {
				t.Error(err)
			}
			if err := call(callid.New(time.Now()), "list_files"); err != nil {
				t.Errorf("an ID of our own: %v", err)
			}
			if err := call("ovos-0123456789abcdef0123456789abcdef01234567", "list_files"); err != nil {
				t.Errorf("an ID of the bus: %v", err)
			}
			if !locked { // what callers use is no secret
				for _, id := range []string{"R1", "once", "toolu_01A09q90qw90lq917835lq9", "call_9pw4Jx8tSdk0ZbQhV2mYcN3e", "chatcmpl-tool-5f8a1c2e9d3b4a7f8e6c1d2b3a4f5e6d",
					"7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26", "01J9ZQ5V7K3M2N8P4R6T0W1X2Y", "550e8400-e29b-41d4-a716-446655440000"} {
					if err := call(id, "list_files"); err != nil {
						t.Errorf("%s: %v", id, err)
					}
				}
			}
			if err := a.Close(t.Context()); err != nil {
				t.Error(err)
			}
			found := 0
			err = filepath.WalkDir(filepath.Join(state, "journal"), func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				text, err := os.ReadFile(path)
				found++
				if strings.Contains(string(text), value) {
					t.Errorf("%s has the value", path)
				}
				return err
			})
			if err != nil || found == 0 {
				t.Errorf("%d files, %v", found, err)
			}
		})
	}
}
