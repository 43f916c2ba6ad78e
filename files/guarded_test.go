package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestGuardedBelow: what a program would read that goes through a tree by itself.
func TestGuardedBelow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"src/main.go": "x", "web/.env": "K=1", "deep/a/b/id_rsa": "-----BEGIN OPENSSH PRIVATE KEY-----\n", "plain/.git/config": "[core]\n", "plain/.git/HEAD": "ref: x\n", "plain/.git/objects/x": "",
		"denied/secret/x": "x", "kube/.kube/config": "x", "example/.env.example": "K=\n",
	} {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "web"), filepath.Join(dir, "src", "link")); err != nil {
		t.Fatal(err)
	}
	protection, err := NewProtection("", DefaultProtected()...)
	if err != nil {
		t.Fatal(err)
	}
	f, err := New([]Dir{{Path: dir, Write: true}}, Options{Base: dir, Protected: protection, Denied: []string{filepath.ToSlash(dir) + "/denied/secret/**"}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := Search{}
	for _, tt := range []struct {
		dir  string
		of   Search
		want string
	}{
		{"src", all, ""}, {"plain", all, ""}, {"example", all, ""}, {"web", all, ".env"}, {"web", Search{Names: []string{"*.go"}}, ""}, {"web", Search{Names: []string{"*.go", ".EN*"}}, ".env"},
		{"deep", Search{}, "a/b/id_rsa"}, {"denied", all, "secret/x"}, {"kube", all, ".kube/config"},
	} {
		got, err := f.FirstGuarded(t.Context(), tt.dir, tt.of)
		if err != nil || got != tt.want && (tt.want != "secret/x" || got != "secret") {
			t.Errorf("%s, %+v: %q, %v", tt.dir, tt.of, got, err)
		}
	}
	if got, err := f.FirstGuarded(t.Context(), "..", all); err == nil {
		t.Errorf("outside: %q", got)
	}
	for name, want := range map[string]string{"src/main.go": "", "web/.env": "web/.env", "deep/a/b/id_rsa": "deep/a/b/id_rsa", "denied/secret/x": "denied/secret/x", "gone/.env": "gone/.env", "gone/x.go": ""} {
		if got, err := f.FirstNamed(dir, []string{"src/main.go", name}); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestFirstNamedByAnotherName: what git would show of a file that is a hard link to a protected
// one is the protected one, whatever the link is called. A link of the other kind git shows itself.
func TestFirstNamedByAnotherName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "a", ".env": "K=1", "sub/b.txt": "b"} {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Link(filepath.Join(dir, ".env"), filepath.Join(dir, "sub", "notes.txt")), os.Link(filepath.Join(dir, "a.txt"), filepath.Join(dir, "sub", "same.txt")), os.Symlink(".env", filepath.Join(dir, "soft.txt"))); err != nil {
		t.Fatal(err)
	}
	protection, err := NewProtection("", DefaultProtected()...)
	if err != nil {
		t.Fatal(err)
	}
	f, err := New([]Dir{{Path: dir, Write: true}}, Options{Base: dir, Protected: protection})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, want := range map[string]string{"sub/notes.txt": "sub/notes.txt", "sub/same.txt": "", "sub/b.txt": "", "soft.txt": "", "gone.txt": "", "sub": ""} {
		if got, err := f.FirstNamed(dir, []string{"a.txt", name}); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
}

// TestSwappedFileCountsAsGuarded: a file that became something else between two looks was
// never judged, so that a search must not pass for it. One that is gone is not read.
func TestSwappedFileCountsAsGuarded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := New([]Dir{{Path: dir, Write: true}}, Options{Base: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct {
		name string
		swap func(name string) error
		want bool
	}{
		{"same", func(string) error { return nil }, false},
		{"gone", os.Remove, false},
		{"link", func(name string) error { return errors.Join(os.Remove(name), os.Symlink("elsewhere", name)) }, true},
		{"directory", func(name string) error { return errors.Join(os.Remove(name), os.Mkdir(name, 0o700)) }, true},
	} {
		full := filepath.Join(dir, c.name)
		if err := os.WriteFile(full, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := f.walk(t.Context(), dir, &walk{all: true, visit: func(d *Folder) error {
			for _, e := range d.Entries {
				if e.Name != c.name {
					continue
				}
				if err := c.swap(full); err != nil {
					return err
				}
				if got := f.guards(d, e); got != c.want {
					t.Errorf("%s: %v, want %v", c.name, got, c.want)
				}
			}
			return fs.SkipAll
		}}, nil)
		if err != nil {
			t.Error(err)
		}
	}
}
