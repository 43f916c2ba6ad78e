package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// grounds is a place with a directory to grant and one not to.
type grounds struct {
	base, in, out string
}

func newGrounds(t testing.TB) grounds {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := grounds{base, filepath.Join(base, "in"), filepath.Join(base, "out")}
	g.put(t, "in/a.txt", "a\n")
	g.put(t, "in/dir/b.txt", "b\n")
	g.put(t, "out/secret.txt", "SECRET\n")
	return g
}

func (g grounds) put(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(g.base, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func (g grounds) link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(g.base, name)); err != nil {
		t.Skipf("no links here: %v", err)
	}
}

func (g grounds) read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(g.base, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// open grants directories: a path from the base, "w " in front for writing.
func (g grounds) open(t testing.TB, opt files.Options, dirs ...string) *files.Handle {
	t.Helper()
	var list []files.Dir
	for _, d := range dirs {
		d, write := strings.CutPrefix(d, "w ")
		list = append(list, files.Dir{Path: filepath.Join(g.base, d), Write: write})
	}
	if opt.Protected == nil {
		opt.Protected = protection(t, "")
	}
	f, err := files.New(list, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return f
}

func protection(t testing.TB, home string, more ...string) *files.Protection {
	t.Helper()
	p, err := files.NewProtection(home, append(files.DefaultProtected(), more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFilesPaths(t *testing.T) {
	g := newGrounds(t)
	g.put(t, "lib/c.txt", "c\n")
	g.put(t, "in/vendor/d.txt", "d\n")
	g.link(t, "in", "alias")
	g.link(t, filepath.Join(g.base, "in", "dir"), "in/abs")
	g.link(t, "../lib/c.txt", "in/across")
	g.link(t, "vendor", "in/v")
	f := g.open(t, files.Options{}, "w in", "lib", "in/vendor")
	for name, want := range map[string]string{
		"a.txt": "in/a.txt", "./a.txt": "in/a.txt", "dir/../a.txt": "in/a.txt", "dir//b.txt": "in/dir/b.txt", ".": "in", "dir": "in/dir",
		filepath.Join(g.in, "a.txt"): "in/a.txt", filepath.Join(g.base, "lib", "c.txt"): "lib/c.txt", "abs/b.txt": "in/dir/b.txt", "across": "lib/c.txt",
		"v/d.txt": "in/vendor/d.txt", "new.txt": "in/new.txt", "gone/new/x.txt": "in/gone/new/x.txt", g.in: "in",
	} {
		if got, err := f.Real(name); err != nil || got != filepath.Join(g.base, want) {
			t.Errorf("%s leads to %s, %v; want %s", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"../out/secret.txt": "outside", g.out: "outside", "/": "outside", "": "a path is needed", "a\x00b": "NUL", strings.Repeat("x", 5000): "longer than",
		"gone/../a.txt": "no such file", "a.txt/x": "not a directory", strings.Repeat("x", 300): "too long", filepath.Join(g.base, "in2"): "outside",
	} {
		if got, err := f.Real(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q leads to %s, %v; want %s", name, got, err, want)
		} else if strings.Contains(err.Error(), g.base) && !strings.Contains(name, g.base) {
			t.Errorf("%.40q: the text tells where we are: %v", name, err)
		}
	}
	// The inner of two granted directories rules, by whatever name.
	for _, name := range []string{"vendor/new.txt", "v/new.txt", filepath.Join(g.in, "vendor", "x", "new.txt"), filepath.Join(g.base, "lib", "new.txt"), "across"} {
		if err := f.WriteFile(name, []byte("x"), nil); toolcrib.CodeOf(err) != toolcrib.CodeDenied || !strings.Contains(err.Error(), "reading only") {
			t.Errorf("writing %s: %v", name, err)
		}
	}
	alias := g.open(t, files.Options{}, "alias") // a granted link
	for _, name := range []string{"a.txt", filepath.Join(g.in, "a.txt"), filepath.Join(g.base, "alias", "a.txt")} {
		if data, _, err := alias.ReadFile(name, 100); string(data) != "a\n" || err != nil {
			t.Errorf("%s through a granted link: %q, %v", name, data, err)
		}
	}
	missing := g.open(t, files.Options{}, "nowhere", "in")
	if _, err := missing.Stat("a.txt"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "granted directory") {
		t.Errorf("in a granted directory that is not there: %v", err)
	}
	if _, err := missing.Stat(filepath.Join(g.in, "a.txt")); err != nil {
		t.Errorf("one missing directory fails another: %v", err)
	}
	for _, bad := range []files.Dir{{}, {Path: "rel"}, {Path: g.base + "/a/../b"}} {
		if _, err := files.New([]files.Dir{bad}, files.Options{}); err == nil {
			t.Errorf("%q was granted", bad.Path)
		}
	}
	if _, err := files.New(nil, files.Options{Trash: "rel"}); err == nil {
		t.Error("a relative trash was taken")
	}
}

func TestFilesClosed(t *testing.T) {
	g := newGrounds(t)
	for _, used := range []bool{false, true} {
		f, err := files.New([]files.Dir{{Path: g.in, Write: true}}, files.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if used {
			if _, err := f.Stat("a.txt"); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := f.ReadFile("a.txt", 10); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("reading after Close (used before: %v): %v", used, err)
		}
		if err := f.WriteFile("z.txt", nil, nil); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("writing after Close: %v", err)
		}
		if err := f.Walk(t.Context(), ".", func(*files.Folder) error { return nil }, nil); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("walking after Close: %v", err)
		}
	}
}

// TestFilesInnerLink: who may write a granted directory cannot choose by a
// link what a grant inside it means.
func TestFilesInnerLink(t *testing.T) {
	g := newGrounds(t)
	g.link(t, "../out", "in/vendor")
	for _, outer := range []string{"w in", "in"} { // another call may write there
		f := g.open(t, files.Options{}, outer, "in/vendor")
		for _, name := range []string{"vendor/secret.txt", filepath.Join(g.in, "vendor", "secret.txt"), filepath.Join(g.out, "secret.txt")} {
			if data, _, err := f.ReadFile(name, 100); err == nil {
				t.Errorf("%s gives %q", name, data)
			}
		}
	}
}

func TestFilesProtection(t *testing.T) {
	g := newGrounds(t)
	for _, name := range []string{
		"in/.env", "in/.env.example", "in/dir/.ENV.prod", "in/.config/fish/config.fish", "in/.config/other", "in/keys/id.pem", "in/home/.ssh/id", "in/home/.bashrc", "in/dotfiles/zshrc",
		"in/.git/config", "in/.git/HEAD", "in/.git/info/exclude", "in/repo.git/HEAD", "in/repo.git/objects/x", "in/repo.git/refs/x", "in/repo.git/config", "in/config", "in/hooks/x",
	} {
		g.put(t, name, "text\n")
	}
	g.link(t, "../dotfiles/zshrc", "in/home/.zshrc")
	g.link(t, "home/.ssh", "in/innocent")
	f := g.open(t, files.Options{Protected: protection(t, filepath.Join(g.in, "home"), "*.pem", ".config/fish")}, "w in")
	inner := g.open(t, files.Options{Protected: protection(t, filepath.Join(g.in, "home"), ".config/fish")}, "w in/.config", "w in/home/.ssh", "w in/.git")
	for _, tt := range []struct {
		f           *files.Handle
		name        string
		read, write bool
	}{
		{f, ".env", false, false}, {f, ".env.example", true, true}, {f, "dir/.ENV.prod", false, false}, {f, "keys/id.pem", false, false},
		{f, ".config/fish/config.fish", false, false}, {f, ".config/other", true, true}, {f, "home/.ssh/id", false, false}, {f, "innocent/id", false, false},
		{f, "home/.bashrc", false, false}, {f, "dotfiles/zshrc", false, false}, {f, "home/.zshrc", false, false},
		{f, ".git/config", false, false}, {f, ".git/HEAD", true, false}, {f, ".git/info/exclude", true, false}, {f, "repo.git/config", false, false}, {f, "repo.git/HEAD", true, false},
		{f, "config", true, true}, {f, "hooks/x", true, true},
		{inner, "fish/config.fish", false, false}, {inner, "other", true, true}, {inner, filepath.Join(g.in, "home", ".ssh", "id"), false, false},
		{inner, filepath.Join(g.in, ".git", "config"), false, false}, {inner, filepath.Join(g.in, ".git", "HEAD"), true, false},
	} {
		_, _, err := tt.f.ReadFile(tt.name, 100)
		if (err == nil) != tt.read || err != nil && toolcrib.CodeOf(err) != toolcrib.CodeDenied {
			t.Errorf("reading %s: %v", tt.name, err)
		}
		err = tt.f.WriteFile(tt.name, []byte("new"), nil)
		if (err == nil) != tt.write || err != nil && toolcrib.CodeOf(err) != toolcrib.CodeDenied {
			t.Errorf("writing %s: %v", tt.name, err)
		}
	}
	// What is not there yet can be protected too.
	for _, name := range []string{".env.new", "home/.aws/credentials", "home/.AWS/x", "x/y/.env", "new/.git/config", "new/.git", ".git/hooks/pre-commit", "x.pem/y"} {
		if err := f.WriteFile(name, []byte("x"), nil); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
			t.Errorf("making %s: %v", name, err)
		}
	}
	for _, dir := range []string{"in/x", "in/new", "in/x.pem"} {
		if _, err := os.Lstat(filepath.Join(g.base, dir)); err == nil {
			t.Errorf("%s was made for a file that was then refused", dir)
		}
	}
	for _, bad := range []string{"[", "a/../b", "", "!", "!/etc"} {
		if _, err := files.NewProtection("", bad); err == nil {
			t.Errorf("the pattern %q was taken", bad)
		}
	}
}

// TestFilesMakeNoRepository: a directory that git would take for a repository
// cannot be put together, whatever comes last.
func TestFilesMakeNoRepository(t *testing.T) {
	parts := []string{"HEAD", "objects/x", "refs/x", "config"}
	for last := range parts {
		g := newGrounds(t)
		f := g.open(t, files.Options{}, "w in")
		for i := range parts {
			name := "in/r/" + parts[(last+1+i)%len(parts)]
			err := f.WriteFile(strings.TrimPrefix(name, "in/"), []byte("x"), nil)
			if done := i < len(parts)-1 && (i < 2 || last != len(parts)-1); err != nil && done && toolcrib.CodeOf(err) != toolcrib.CodeDenied {
				t.Fatal(err)
			}
		}
		whole := 0
		for _, p := range parts {
			if _, err := os.Lstat(filepath.Join(g.in, "r", p)); err == nil {
				whole++
			}
		}
		if whole == len(parts) {
			t.Errorf("a repository was put together, %s last", parts[last])
		}
	}
}

func TestFilesRead(t *testing.T) {
	g := newGrounds(t)
	f := g.open(t, files.Options{}, "in")
	data, stamp, err := f.ReadFile("a.txt", 2)
	if string(data) != "a\n" || err != nil || stamp.Size != 2 || !stamp.Same(files.StampOf([]byte("a\n"))) {
		t.Errorf("%q, %v, %v", data, stamp, err)
	}
	if _, _, err := f.ReadFile("a.txt", 1); err == nil || !strings.Contains(err.Error(), "larger than 1 bytes") {
		t.Errorf("a file over the limit: %v", err)
	}
	if _, _, err := f.ReadFile("dir", 1); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory: %v", err)
	}
	if s, err := f.Stamp("gone"); err != nil || s != (files.Stamp{}) {
		t.Errorf("the stamp of nothing: %v, %v", s, err)
	}
	if s, err := f.Stamp("dir/b.txt"); err != nil || !s.Same(files.StampOf([]byte("b\n"))) {
		t.Errorf("%v, %v", s, err)
	}
	g.link(t, "dir", "in/link")
	if info, err := f.Lstat("link"); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if info, err := f.Stat("link"); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
}

func TestFilesWrite(t *testing.T) {
	g := newGrounds(t)
	f := g.open(t, files.Options{}, "w in")
	if err := f.WriteFile("x/y/z.txt", []byte("new"), &files.Stamp{}); err != nil || g.read(t, "in/x/y/z.txt") != "new" {
		t.Error(err)
	}
	if err := f.WriteFile("a.txt", []byte("new"), &files.Stamp{}); !errors.Is(err, files.ErrChanged) || g.read(t, "in/a.txt") != "a\n" {
		t.Errorf("over a file that should not be there: %v", err)
	}
	stamp := files.StampOf([]byte("other"))
	if err := f.WriteFile("a.txt", []byte("new"), &stamp); !errors.Is(err, files.ErrChanged) || g.read(t, "in/a.txt") != "a\n" {
		t.Errorf("over a file that changed: %v", err)
	}
	if err := f.WriteFile("gone.txt", []byte("new"), &stamp); !errors.Is(err, files.ErrChanged) {
		t.Errorf("over a file that is gone: %v", err)
	}
	stamp = files.StampOf([]byte("a\n"))
	if err := f.WriteFile("a.txt", []byte("new"), &stamp); err != nil || g.read(t, "in/a.txt") != "new" {
		t.Error(err)
	}
	for _, name := range []string{"bad\nname", "bad\x7f", "bad\x1b[2J"} {
		if err := f.WriteFile(name, nil, nil); err == nil {
			t.Errorf("%q was made", name)
		}
	}
	if err := f.WriteFile("dir", nil, nil); err == nil {
		t.Error("a directory was written")
	}
	if runtime.GOOS != "windows" {
		path := g.put(t, "in/run.sh", "old")
		if err := os.Chmod(path, 0o751); err != nil {
			t.Fatal(err)
		}
		if err := f.WriteFile("run.sh", []byte("new"), nil); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o751 {
			t.Errorf("the mode is %v, %v", info.Mode(), err)
		}
		if err := os.Chmod(path, 0o444); err != nil {
			t.Fatal(err)
		}
		if err := f.WriteFile("run.sh", []byte("newer"), nil); err == nil || g.read(t, "in/run.sh") != "new" {
			t.Errorf("a file marked read-only was written: %v", err)
		}
	}
	g.link(t, "dir/b.txt", "in/link")
	if err := f.WriteFile("link", []byte("through"), nil); err != nil || g.read(t, "in/dir/b.txt") != "through" {
		t.Errorf("through a link: %v", err)
	}
	g.link(t, "dir/made.txt", "in/dangling")
	if err := f.WriteFile("dangling", []byte("made"), nil); err != nil || g.read(t, "in/dir/made.txt") != "made" {
		t.Errorf("through a dangling link that stays inside: %v", err)
	}
	leftovers(t, g.in)
}

// leftovers finds temporary files that were not cleaned up.
func leftovers(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s was left behind", e.Name())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestFilesAtomic: of many writers each finds the file as one of them left it,
// and no reader sees a part.
func TestFilesAtomic(t *testing.T) {
	g := newGrounds(t)
	f := g.open(t, files.Options{}, "w in")
	whole := func(c byte) string { return strings.Repeat(string(c), 100_000) }
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for range 5 {
				if err := f.WriteFile("a.txt", []byte(whole('a'+byte(i))), nil); err != nil {
					t.Errorf("writing: %v", err)
				}
				data, _, err := f.ReadFile("a.txt", 1<<20)
				if err != nil || len(data) == 0 || string(data) != whole(data[0]) {
					t.Errorf("reading: %d bytes, %v", len(data), err)
				}
			}
		})
	}
	wins := make(chan int, 8)
	for i := range 8 { // of those who want to make it, one does
		group.Go(func() {
			if err := f.WriteFile("fresh.txt", []byte{byte('0' + i)}, &files.Stamp{}); err == nil {
				wins <- i
			} else if !errors.Is(err, files.ErrChanged) {
				t.Errorf("making: %v", err)
			}
		})
	}
	group.Wait()
	if len(wins) != 1 || g.read(t, "in/fresh.txt") != string(rune('0'+<-wins)) {
		t.Errorf("%d made the same file", len(wins)+1)
	}
	leftovers(t, g.in)
}

func TestFilesRemove(t *testing.T) {
	g := newGrounds(t)
	g.link(t, "../out/secret.txt", "in/link")
	g.put(t, "in/full/.env", "hidden\n")
	if err := os.Mkdir(filepath.Join(g.in, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	trashes := []string{filepath.Join(g.base, "state", "trash")}
	if shm, err := os.MkdirTemp("/dev/shm", "toolcrib"); err == nil { // another disk
		t.Cleanup(func() { os.RemoveAll(shm) })
		trashes = append(trashes, shm)
	}
	for _, trash := range trashes {
		f := g.open(t, files.Options{Trash: trash}, "w in", "in/dir")
		g.put(t, "in/a.txt", "a\n")
		if _, err := os.Lstat(filepath.Join(g.in, "link")); err != nil {
			g.link(t, "../out/secret.txt", "in/link")
		}
		if err := os.MkdirAll(filepath.Join(g.in, "empty"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, kind := range map[string]string{"a.txt": "file", "link": "link", "empty": "directory"} {
			gone, err := f.Remove(name)
			if err != nil || gone.Type != kind || gone.Path != filepath.Join(g.in, name) {
				t.Errorf("removing %s: %+v, %v", name, gone, err)
				continue
			}
			if _, err := os.Lstat(filepath.Join(g.in, name)); err == nil {
				t.Errorf("%s is still there", name)
			}
			if origin, err := os.ReadFile(filepath.Join(trash, gone.Slot, "origin")); err != nil || string(origin) != gone.Path+"\n" {
				t.Errorf("%s: origin %q, %v", name, origin, err)
			}
			if kept, err := os.ReadFile(filepath.Join(trash, gone.Slot, "entry")); kind == "file" && (err != nil || string(kept) != "a\n") {
				t.Errorf("%s is not in the trash: %q, %v", name, kept, err)
			}
		}
		for name, want := range map[string]string{"full": "not empty", ".": "itself", "dir": "reading only", "dir/b.txt": "reading only", "gone": "no such file", "../out/secret.txt": "outside", "full/.env": "protected"} {
			if _, err := f.Remove(name); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("removing %s: %v, want %s", name, err, want)
			}
		}
		if data, _, err := f.ReadFile(filepath.Join(trash, "x"), 10); err == nil {
			t.Errorf("the trash can be read: %q", data)
		}
	}
	if g.read(t, "out/secret.txt") != "SECRET\n" {
		t.Error("a link was removed at its other end")
	}
	g.put(t, "in/a.txt", "a\n")
	f := g.open(t, files.Options{}, "w in")
	if _, err := f.Remove("a.txt"); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || g.read(t, "in/a.txt") != "a\n" {
		t.Errorf("without a trash: %v", err)
	}
}
