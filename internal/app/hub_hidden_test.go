package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/keeper"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
)

// TestServerThatRepeatsItsKey: a program that is given a secret of the vault and
// says it in its list of tools shows it to nobody, and it lies in no file of ours.
func TestServerThatRepeatsItsKey(t *testing.T) {
	const treasure = "xyzzy-Plugh-4711-Adventure"
	state, from := t.TempDir(), keeper.Source{Env: vaulttest.Env(t)}
	vaulttest.Fill(t, keeper.Dir(state), from.Env, map[vault.Ref]string{{Name: "KEY"}: treasure})
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg := settings.Defaults()
	cfg.Hub.Wait = time.Minute
	cfg.MCPServers = map[string]settings.MCPServer{"fake": {Command: exe, Env: map[string]string{"FAKE_MCP": "1", "FAKE_KEY": "${secret:KEY}", "GORACE": "atexit_sleep_ms=0"}}}
	needs := Needs{State: state, Dir: t.TempDir(), Home: t.TempDir(), Config: t.TempDir(), Keys: from}
	look := func(what string, a *App) {
		t.Helper()
		spec, ok := a.Crib.Tool(toolcrib.Caller{}, "fake__look")
		if !ok || !strings.Contains(spec.Description, "[redacted]") || strings.Contains(spec.Description+string(spec.Input), treasure) {
			t.Errorf("%s: %v %+v", what, ok, spec)
		}
		for _, f := range a.Faults {
			if strings.Contains(f.Error(), treasure) {
				t.Errorf("%s: %v", what, f)
			}
		}
		for _, spec := range a.Specs() {
			if strings.Contains(spec.Name+spec.Native, treasure) {
				t.Errorf("%s: %s", what, spec.Name)
			}
		}
	}
	a, err := Open(t.Context(), cfg, needs)
	if err != nil {
		t.Fatal(err)
	}
	look("at first", a)
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), treasure) {
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// Who only lists has no key, and needs none.
	needs.Keys, needs.For = keeper.Source{}, ToList
	if a, err = Open(t.Context(), cfg, needs); err != nil {
		t.Fatal(err)
	}
	look("listed", a)
}
