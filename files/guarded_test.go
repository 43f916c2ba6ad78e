package files

import (
	"errors"
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
