//go:build unix

package keeper

import (
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
)

// TestCheckDoesNotWait: a key that does not come, as from a keyring that stands at a
// dialogue, holds up no question.
func TestCheckDoesNotWait(t *testing.T) {
	state := t.TempDir()
	k, err := Open(&toolcrib.Crib{}, settings.Vault{}, state, Source{Env: vaulttest.Env(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.vault.Set(t.Context(), vault.Ref{Name: "have"}, "a-long-enough-value"); err != nil {
		t.Fatal(err)
	}
	slow, err := Open(&toolcrib.Crib{}, settings.Vault{Key: vault.KeyConfig{From: "command", Command: []string{"/bin/sleep", "100"}}}, state, Source{Env: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := slow.Check(t.Context(), toolcrib.Call{Tool: "x", Caller: toolcrib.Caller{Subject: "ann"}}, "box", "x", "have", true); err == nil {
		t.Error("there is no key, and nothing was said")
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}
