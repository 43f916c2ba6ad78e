//go:build unix

package notefile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// A link, a pipe or a directory in the place of a file is refused, and nobody waits.
func TestLinksAndPipes(t *testing.T) {
	s := open(t, Config{})
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(`{"pad":{"k":"secret"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := put(t, s, toolcrib.Caller{Subject: "first"}, "k", "v"); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(at string) error{
		"link":      func(at string) error { return os.Symlink(secret, at) },
		"pipe":      func(at string) error { return syscall.Mkfifo(at, 0o600) },
		"directory": func(at string) error { return os.Mkdir(at, 0o700) },
	} {
		who := toolcrib.Caller{Subject: name}
		if err := make(filepath.Join(s.cfg.Dir, nameOf(who)+kept)); err != nil {
			t.Fatal(err)
		}
		done := time.AfterFunc(time.Minute, func() { panic("it waits at a " + name) })
		if n, err := s.Read(t.Context(), who); err == nil {
			t.Errorf("%s: read %v", name, n)
		}
		if err := put(t, s, who, "k", "v"); err == nil {
			t.Errorf("%s: written", name)
		}
		done.Stop()
	}
	if text, err := os.ReadFile(secret); string(text) != `{"pad":{"k":"secret"}}` {
		t.Errorf("%s, %v", text, err)
	}
	// The whole directory.
	at := filepath.Join(t.TempDir(), "notes")
	if err := os.Symlink(t.TempDir(), at); err != nil {
		t.Fatal(err)
	}
	if err := put(t, open(t, Config{Dir: at}), ann, "k", "v"); err == nil {
		t.Error("a link in the place of the directory was followed")
	}
}
