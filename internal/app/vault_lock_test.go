package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// TestEmptyVaultIsNotLocked: without an entry there is nothing to protect, key
// or no key.
func TestEmptyVaultIsNotLocked(t *testing.T) {
	state, right := t.TempDir(), keyed(t)
	keep(t, state, right, map[vault.Ref]string{{Name: "A"}: "one-one-one"})
	v, err := OpenVault(vaultDefaults(), state, right)
	if err != nil {
		t.Fatal(err)
	}
	open := func(keys KeySource) *keeper {
		k, err := openSecrets(&toolcrib.Crib{Log: slog.New(slog.DiscardHandler)}, vaultDefaults(), state, keys)
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
	cfg := Vault{Key: vault.KeyConfig{From: "passphrase"}}
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
	if _, err := (sealedDesk{d.Approver, alone}).Approve(t.Context(), toolcrib.Question{}); toolcrib.CodeOf(err) != toolcrib.Unavailable || !strings.Contains(err.Error(), "passphrase") {
		t.Errorf("%v", err)
	}
}

// TestRepeatedCallAfterARestart: what stands in front of the journal leaves it
// its key, so that a call ID of an earlier process is known.
func TestRepeatedCallAfterARestart(t *testing.T) {
	state, dir := t.TempDir(), t.TempDir()
	put(t, filepath.Join(dir, "f"), []byte("first\n"))
	for i := range 2 {
		cfg := Defaults()
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
