// Package vaulttest is what tests with a vault share: a key, secrets in a store,
// and a search for places where a secret must not be. It may be imported by tests
// only. Its one invariant: it uses a vault as programs do.
package vaulttest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib/internal/vault"
)

// Env looks up the variables of a process that has a fresh key in the usual one.
func Env(t testing.TB) func(name string) (string, bool) {
	t.Helper()
	key, err := vault.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) (string, bool) { return key, name == vault.DefaultEnv }
}

// Fill puts secrets into the vault of a directory.
func Fill(t testing.TB, dir string, env func(name string) (string, bool), secrets map[vault.Ref]string) {
	t.Helper()
	v, err := vault.Open(vault.Config{Dir: dir}, vault.FromEnv(vault.DefaultEnv, env))
	if err != nil {
		t.Fatal(err)
	}
	for ref, value := range secrets {
		if err := v.Set(t.Context(), ref, value); err != nil {
			t.Fatal(err)
		}
	}
}

// FileWith looks for a text in every file below a directory. Where there is no
// file at all, nothing was looked at, which is an error.
func FileWith(dir, text string) (file string, err error) {
	files := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			file = path
		}
		return err
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("there is no file in %s", dir)
	}
	return file, err
}
