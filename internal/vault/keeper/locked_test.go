package keeper

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
)

// TestEmptyVaultIsNotLocked: without an entry there is nothing to protect, key
// or no key.
func TestEmptyVaultIsNotLocked(t *testing.T) {
	state, right := t.TempDir(), Source{Env: vaulttest.Env(t)}
	vaulttest.Fill(t, Dir(state), right.Env, map[vault.Ref]string{{Name: "A"}: "one-one-one"})
	v, err := OpenVault(settings.Defaults().Vault, state, right)
	if err != nil {
		t.Fatal(err)
	}
	open := func(keys Source) *Keeper {
		k, err := Open(&toolcrib.Crib{Log: slog.New(slog.DiscardHandler)}, settings.Defaults().Vault, state, keys)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	other := open(Source{Env: vaulttest.Env(t)})
	if err := other.Locked(); !errors.Is(err, vault.ErrKey) {
		t.Errorf("with an entry and another key: %v", err)
	}
	if err := open(right).Locked(); err != nil {
		t.Errorf("with its key: %v", err)
	}
	if err := v.Remove(t.Context(), vault.Ref{Name: "A"}); err != nil {
		t.Fatal(err)
	}
	for _, keys := range []Source{right, Source{Env: vaulttest.Env(t)}, {}} {
		if err := open(keys).Locked(); err != nil {
			t.Errorf("without an entry: %v", err)
		}
	}
	if err := other.Locked(); err != nil { // at once: the store is another
		t.Errorf("after the last entry has gone: %v", err)
	}
}

// TestUnlockedWithoutARestart: the passphrase is said for a question, and from
// then on everything is as it should be.
func TestUnlockedWithoutARestart(t *testing.T) {
	state, asked := t.TempDir(), 0
	phraseStore(t, state)
	cfg := settings.Vault{Key: vault.KeyConfig{From: "passphrase"}}
	k, err := Open(&toolcrib.Crib{Log: slog.New(slog.DiscardHandler)}, cfg, state, Source{Ask: func(context.Context, bool) (string, error) {
		asked++
		return "correct horse battery staple", nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Locked(); !errors.Is(err, vault.ErrUnsaid) || asked != 0 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	d := sealedDesk{approver(func() toolcrib.Answer { return toolcrib.Answer{Decision: toolcrib.Allow} }), k}
	for range 2 {
		if answer, err := d.Approve(t.Context(), toolcrib.Question{}); err != nil || answer.Decision != toolcrib.Allow {
			t.Errorf("%v, %v", answer, err)
		}
	}
	if err := k.Locked(); err != nil || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	// Where nobody can say it, nobody is asked anything else.
	alone, err := Open(&toolcrib.Crib{Log: slog.New(slog.DiscardHandler)}, cfg, state, Source{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (sealedDesk{d.Approver, alone}).Approve(t.Context(), toolcrib.Question{}); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), "passphrase") {
		t.Errorf("%v", err)
	}
}

type approver func() toolcrib.Answer

func (f approver) Approve(context.Context, toolcrib.Question) (toolcrib.Answer, error) {
	return f(), nil
}
