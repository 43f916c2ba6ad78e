package vault

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/zalando/go-keyring"
)

// TestKeysInFiles: a key in a file opens the vault again, a rotation replaces the file, and
// the directory goes with the last key, so that auto looks elsewhere then.
func TestKeysInFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault-key")
	if HasFiles(dir) {
		t.Fatal("it is there")
	}
	if err := MakeFiles(dir); err != nil {
		t.Fatal(err)
	}
	keys, err := KeyConfig{Dir: dir, Env: "UNSET"}.Keys(func(string) (string, bool) { return "", false }, nil)
	if err != nil || keys.place != "the directory "+dir {
		t.Fatalf("%q, %v", keys.place, err)
	}
	v := fresh(t, keys)
	if err := v.Set(t.Context(), Ref{Name: "a"}, "value"); err != nil {
		t.Fatal(err)
	}
	only := func() string {
		t.Helper()
		list, err := os.ReadDir(dir)
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		info, err := list[0].Info()
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		return list[0].Name()
	}
	was := only()
	if _, err := v.Rotate(t.Context(), FromFiles(dir)); err != nil {
		t.Fatal(err)
	}
	if is := only(); is == was {
		t.Error("the key is the same")
	}
	if err := v.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Get(t.Context(), Ref{Name: "a"}); got != "value" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := v.Rotate(t.Context(), fromRing(fileRing(t.TempDir()))); err != nil {
		t.Fatal(err)
	}
	if HasFiles(dir) {
		t.Error("the directory of the last key is left")
	}
}

// TestKeyFilesOfOthers: a file or directory that others can read is no place for a key.
func TestKeyFilesOfOthers(t *testing.T) {
	if !hasRights {
		return
	}
	for name, spoil := range map[string]func(dir, file string) error{
		"an open directory": func(dir, _ string) error { return os.Chmod(dir, 0o755) },
		"an open file":      func(_, file string) error { return os.Chmod(file, 0o644) },
		"a link": func(dir, file string) error {
			return errors.Join(os.Rename(file, filepath.Join(dir, "elsewhere")), os.Symlink("elsewhere", file))
		},
		"a second name": func(dir, file string) error { return os.Link(file, filepath.Join(dir, "second")) },
	} {
		dir := filepath.Join(t.TempDir(), "vault-key")
		v := fresh(t, FromFiles(dir))
		if err := v.Set(t.Context(), Ref{Name: "a"}, "value"); err != nil {
			t.Fatal(err)
		}
		list, err := os.ReadDir(dir)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if err := errors.Join(spoil(dir, filepath.Join(dir, list[0].Name())), v.Forget(t.Context())); err != nil {
			t.Fatal(err)
		}
		_, err = v.Get(t.Context(), Ref{Name: "a"})
		if !errors.Is(err, ErrKey) && !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTryKeyring: one that fails, forgets or lies is none.
func TestTryKeyring(t *testing.T) {
	good := fileRing(t.TempDir())
	if err := tryRing(t.Context(), good); err != nil {
		t.Error(err)
	}
	for name, r := range map[string]ring{
		"no":      {set: func(string, string, string) error { return errors.New("no bus") }, get: good.get, remove: good.remove},
		"forgets": {set: good.set, get: func(string, string) (string, error) { return "", keyring.ErrNotFound }, remove: good.remove},
		"lies":    {set: good.set, get: func(string, string) (string, error) { return "x", nil }, remove: good.remove},
	} {
		if tryRing(t.Context(), r) == nil {
			t.Errorf("%s: it was taken for one", name)
		}
	}
}
