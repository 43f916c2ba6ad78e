package keeper

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
)

// TestKnownValuesAreHeld: as long as the store looks the same it is not read
// again, but not for long, and never once it looks different.
func TestKnownValuesAreHeld(t *testing.T) {
	state, from := t.TempDir(), Source{Env: vaulttest.Env(t)}
	vaulttest.Fill(t, Dir(state), from.Env, map[vault.Ref]string{{Name: "A"}: "one-one"})
	var said bytes.Buffer
	s, err := Open(&toolcrib.Crib{Log: slog.New(slog.NewTextHandler(&said, nil))}, settings.Defaults().Vault, state, from)
	if err != nil {
		t.Fatal(err)
	}
	clock := time.Now()
	s.now = func() time.Time { return clock }
	set := s.Redaction()

	// Spoilt so that it looks the same: who reads it notices.
	store := filepath.Join(Dir(state), "secrets")
	info, err := os.Stat(store)
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	spoil := func(text []byte) {
		if err := os.WriteFile(store, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(store, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	spoil(bytes.Repeat([]byte("x"), len(good)))
	for range 5 {
		if s.Redaction() != set {
			t.Error("the set is another")
		}
	}
	if said.Len() > 0 {
		t.Errorf("the store was read though it looks the same: %s", said.String())
	}
	clock = clock.Add(knownHold + time.Second)
	if s.Redaction() != set || said.Len() == 0 {
		t.Error("it was not read again")
	}
	spoil(good)
	clock = clock.Add(knownRest + time.Second)
	if values, _ := s.known(context.Background()); len(values) != 1 {
		t.Errorf("%q", values)
	}
	vaulttest.Fill(t, Dir(state), from.Env, map[vault.Ref]string{{Name: "B"}: "two-two"})
	if values, _ := s.known(context.Background()); len(values) != 2 {
		t.Errorf("what was added is not known at once: %q", values)
	}
}
