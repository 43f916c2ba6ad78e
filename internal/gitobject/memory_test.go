package gitobject_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// memory is a Git directory that lies nowhere.
type memory map[string][]byte

type memoryFile struct {
	*bytes.Reader
	size int64
}

func (memoryFile) Close() error  { return nil }
func (f memoryFile) Size() int64 { return f.size }

func (m memory) Open(name string) (gitobject.File, error) {
	data, ok := m[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return memoryFile{bytes.NewReader(data), int64(len(data))}, nil
}

func (m memory) List(dir string) (out []string, err error) {
	for name := range m {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok && !strings.Contains(rest, "/") {
			out = append(out, rest)
		}
	}
	if out == nil {
		return nil, fs.ErrNotExist
	}
	return out, nil
}

// load reads the Git directory of a repository.
func load(t testing.TB, work string) memory {
	t.Helper()
	m, top := memory{}, filepath.Join(work, ".git")
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		m[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// git runs the genuine git, and gives what it prints.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org", "GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
	out, err := c.Output()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// write makes a file with what is around it.
func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// repository is one with a few commits, whose files are alike, so that packs hold
// differences.
func repository(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	text := strings.Repeat("a line of some length that is there many times\n", 400)
	for i := range 8 {
		text += strings.Repeat("more ", i+1) + "\n"
		write(t, filepath.Join(dir, "big"), text)
		write(t, filepath.Join(dir, "src", "deep", "x"), strings.Repeat("x", i+1))
		write(t, filepath.Join(dir, "src.go"), "package x\n")
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-qm", "number "+strings.Repeat("i", i+1))
	}
	git(t, dir, "tag", "-a", "-m", "a tag", "v1")
	return dir
}

func id(t testing.TB, text string) gitobject.ID {
	t.Helper()
	out, ok := gitobject.ParseID(text)
	if !ok {
		t.Fatalf("%q is no name of an object", text)
	}
	return out
}
