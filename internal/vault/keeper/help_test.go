package keeper

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// keyed is a process whose variable has a key.
func keyed(t testing.TB) Source {
	t.Helper()
	key, err := vault.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return Source{Env: func(name string) (string, bool) { return key, name == vault.DefaultEnv }}
}

// keep puts secrets into the vault of a state directory.
func keep(t testing.TB, state string, from Source, secrets map[vault.Ref]string) {
	t.Helper()
	v, err := OpenVault(settings.Defaults().Vault, state, from)
	if err != nil {
		t.Fatal(err)
	}
	for ref, value := range secrets {
		if err := v.Set(t.Context(), ref, value); err != nil {
			t.Fatal(err)
		}
	}
}

// holdsText looks for a text in every file below a directory.
func holdsText(t *testing.T, dir, text string) (found string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			found = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
