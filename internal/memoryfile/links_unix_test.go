//go:build unix

package memoryfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/toolbox/memory"
)

// A link, a pipe or a device in the place of a file or a folder is not followed, not
// waited for and not written to.
func TestLinksAndPipes(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "MEMORY.md")
	if err := os.WriteFile(secret, []byte("a secret of others"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		at   string
		make func(at string) error
		told bool // the search says which file was left out
	}{
		"link to a file":    {"ann/coder/MEMORY.md", func(at string) error { return os.Symlink(secret, at) }, true},
		"link inside":       {"ann/coder/MEMORY.md", func(at string) error { return os.Symlink("../../bob/coder/MEMORY.md", at) }, true},
		"dangling link":     {"ann/coder/MEMORY.md", func(at string) error { return os.Symlink(filepath.Join(outside, "made"), at) }, true},
		"pipe":              {"ann/coder/MEMORY.md", func(at string) error { return syscall.Mkfifo(at, 0o600) }, true},
		"directory":         {"ann/coder/MEMORY.md", func(at string) error { return os.Mkdir(at, 0o700) }, true},
		"link to a folder":  {"ann/coder", func(at string) error { return os.Symlink(outside, at) }, false},
		"link to another's": {"ann", func(at string) error { return os.Symlink("bob", at) }, false},
		"pipe for a folder": {"ann/coder", func(at string) error { return syscall.Mkfifo(at, 0o600) }, false},
		"link for a lock":   {"ann/coder/.lock", func(at string) error { return os.Symlink(secret, at) }, true},
		"file for a folder": {"ann", func(at string) error { return os.WriteFile(at, nil, 0o600) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			defer time.AfterFunc(time.Minute, func() { panic("it waits") }).Stop()
			s := open(t, Config{})
			edit(t, s, "bob/coder/MEMORY.md", "a secret of bob")
			at := filepath.Join(s.cfg.Dir, filepath.FromSlash(c.at))
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), c.make(at)); err != nil {
				t.Fatal(err)
			}
			if saved, err := s.Append(t.Context(), ann, memory.Entry{Target: "long_term", Content: "x"}); err == nil {
				t.Errorf("written: %+v", saved)
			}
			f, err := s.Search(t.Context(), ann, "secret", 5)
			if len(f.Notes) > 0 || c.told != (err == nil) || strings.HasSuffix(c.at, ".md") && len(f.Skipped) != 1 {
				t.Errorf("found: %+v, %v", f, err)
			}
			for file, want := range map[string]string{secret: "a secret of others", filepath.Join(s.cfg.Dir, "bob", "coder", "MEMORY.md"): "a secret of bob"} {
				if text, err := os.ReadFile(file); string(text) != want {
					t.Errorf("%s: %q, %v", file, text, err)
				}
			}
			if list, err := os.ReadDir(outside); err != nil || len(list) != 1 {
				t.Errorf("made outside: %v, %v", list, err)
			}
		})
	}
}

// An editor that puts a new file in the place of the old one while a note is written
// takes none away, and leaves none twice.
func TestEditorSavesMeanwhile(t *testing.T) {
	const name = "ann/coder/MEMORY.md"
	for _, point := range []string{"opened", "written"} {
		s := open(t, Config{})
		edit(t, s, name, "The person's own.\n")
		saves := 0
		s.at = func(p string) {
			if p != point || saves == 3 {
				return
			}
			saves++
			at := filepath.Join(s.cfg.Dir, filepath.FromSlash(name))
			// It saves what it has read, with a line more.
			if err := errors.Join(os.WriteFile(at+"~", []byte(file(t, s, name)+"An edit.\n"), 0o600), os.Rename(at+"~", at)); err != nil {
				t.Error(err)
			}
		}
		keep(t, s, ann, "long_term", "A note.")
		text := file(t, s, name)
		if strings.Count(text, "A note.") != 1 || !strings.HasPrefix(text, "The person's own.\n") || strings.Count(text, "An edit.\n") != saves || saves == 0 {
			t.Errorf("%s, after %d edits: %q", point, saves, text)
		}
		s.at = func(p string) { // one that never ends
			if at := filepath.Join(s.cfg.Dir, filepath.FromSlash(name)); p == "opened" {
				if err := errors.Join(os.WriteFile(at+"~", []byte("An edit.\n"), 0o600), os.Rename(at+"~", at)); err != nil {
					t.Error(err)
				}
			}
		}
		if _, err := s.Append(t.Context(), ann, memory.Entry{Target: "long_term", Content: "Another."}); err == nil || !strings.Contains(err.Error(), "keeps replacing") {
			t.Errorf("%v", err)
		}
	}
}
