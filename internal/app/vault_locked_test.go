package app

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// TestLockedVault: there are secrets and nobody can open the vault. Nothing of
// what is in calls is kept anywhere, no tool gets a secret, and the reason says
// what to do; other calls work.
func TestLockedVault(t *testing.T) {
	const value = "plum-tree-garden-gate"
	for name, spoil := range map[string]func(t *testing.T, dir string) KeySource{ // nil keys: those of the vault
		"another key": func(t *testing.T, _ string) KeySource { return keyed(t) },
		"no key":      func(*testing.T, string) KeySource { return KeySource{} },
		"an edited file": func(t *testing.T, dir string) KeySource {
			file := filepath.Join(dir, "secrets")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text[len(text)-3] ^= 1
			put(t, file, text)
			return KeySource{}
		},
		"a cut file": func(t *testing.T, dir string) KeySource {
			file := filepath.Join(dir, "secrets")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			put(t, file, text[:len(text)/2])
			return KeySource{}
		},
		"an empty file": func(t *testing.T, dir string) KeySource {
			put(t, filepath.Join(dir, "secrets"), nil)
			return KeySource{}
		},
		"open to others": func(t *testing.T, dir string) KeySource {
			if err := os.Chmod(filepath.Join(dir, "secrets"), 0o644); err != nil {
				t.Fatal(err)
			}
			return KeySource{}
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			state, dir, right := t.TempDir(), t.TempDir(), keyed(t)
			keep(t, state, right, map[vault.Ref]string{{Name: "TOKEN"}: value})
			keys := spoil(t, VaultDir(state))
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
			if _, err := a.Crib.Secret(t.Context(), toolcrib.Call{}, toolcrib.Spec{Box: "web", Native: "web_search"}, "TOKEN"); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), "vault") {
				t.Errorf("a secret: %v", err)
			}
			// What was not recorded is not answered again.
			if _, err := call("read", "read_file", `{"path":"notes.txt"}`); toolcrib.CodeOf(err) != toolcrib.CodeConflict {
				t.Errorf("the same call again: %v", err)
			}
			if err := a.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if file := holdsText(t, state, value); file != "" {
				t.Errorf("%s holds a value of the vault", file)
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
	r, err := sqlite.OpenReader(t.Context(), JournalConfig(cfg, Needs{State: state}))
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
