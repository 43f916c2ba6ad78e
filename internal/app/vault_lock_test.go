package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/settings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// TestEmptyVaultIsNotLocked: without an entry there is nothing to protect, key
// or no key.
func TestEmptyVaultIsNotLocked(t *testing.T) {
	state, right := t.TempDir(), keyed(t)
	keep(t, state, right, map[vault.Ref]string{{Name: "A"}: "one-one-one"})
	v, err := OpenVault(settings.Defaults().Vault, state, right)
	if err != nil {
		t.Fatal(err)
	}
	open := func(keys KeySource) *keeper {
		k, err := openSecrets(&toolcrib.Crib{Log: slog.New(slog.DiscardHandler)}, settings.Defaults().Vault, state, keys)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	other := open(keyed(t))
	if err := other.locked(); !errors.Is(err, vault.ErrKey) {
		t.Errorf("with an entry and another key: %v", err)
	}
	if err := open(right).locked(); err != nil {
		t.Errorf("with its key: %v", err)
	}
	if err := v.Remove(t.Context(), vault.Ref{Name: "A"}); err != nil {
		t.Fatal(err)
	}
	for _, keys := range []KeySource{right, keyed(t), {}} {
		if err := open(keys).locked(); err != nil {
			t.Errorf("without an entry: %v", err)
		}
	}
	if err := other.locked(); err != nil { // at once: the store is another
		t.Errorf("after the last entry has gone: %v", err)
	}
}

// TestUnlockedWithoutARestart: the passphrase is said for a question, and from
// then on everything is as it should be.
func TestUnlockedWithoutARestart(t *testing.T) {
	state, asked := t.TempDir(), 0
	phraseStore(t, state)
	cfg := settings.Vault{Key: vault.KeyConfig{From: "passphrase"}}
	k, err := openSecrets(&toolcrib.Crib{Log: slog.New(slog.DiscardHandler)}, cfg, state, KeySource{Ask: func(context.Context, bool) (string, error) {
		asked++
		return "correct horse battery staple", nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.locked(); !errors.Is(err, vault.ErrUnsaid) || asked != 0 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	d := sealedDesk{approver(func() toolcrib.Answer { return toolcrib.Answer{Decision: toolcrib.Allow} }), k}
	for range 2 {
		if answer, err := d.Approve(t.Context(), toolcrib.Question{}); err != nil || answer.Decision != toolcrib.Allow {
			t.Errorf("%v, %v", answer, err)
		}
	}
	if err := k.locked(); err != nil || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	// Where nobody can say it, nobody is asked anything else.
	alone, err := openSecrets(&toolcrib.Crib{Log: slog.New(slog.DiscardHandler)}, cfg, state, KeySource{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (sealedDesk{d.Approver, alone}).Approve(t.Context(), toolcrib.Question{}); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), "passphrase") {
		t.Errorf("%v", err)
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

type approver func() toolcrib.Answer

func (f approver) Approve(context.Context, toolcrib.Question) (toolcrib.Answer, error) {
	return f(), nil
}

// TestNamesThatTheCallerChooses: a value of the vault does not get into the journal
// as a tool's name or a call ID, whether the vault is open or not.
func TestNamesThatTheCallerChooses(t *testing.T) {
	const value = "Zx9vault-Value.7731qqTr0ub4dor"
	for name, locked := range map[string]bool{"open": false, "locked": true} {
		t.Run(name, func(t *testing.T) {
			state, right := t.TempDir(), keyed(t)
			keep(t, state, right, map[vault.Ref]string{{Name: "S"}: value})
			keys := right
			if locked {
				keys = keyed(t)
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
