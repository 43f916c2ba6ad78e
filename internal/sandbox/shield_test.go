package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

func plantTree(t testing.TB, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func shield(t testing.TB, home string, hidden, fixed []string) *sandbox.Shield {
	t.Helper()
	s, err := sandbox.NewShield(home, hidden, fixed)
	if err != nil {
		t.Fatal(err)
	}
	s.WriteGit = true
	return s
}

// covers gives what is covered as "kind path" lines below a directory.
func covers(t testing.TB, s *sandbox.Shield, root string, dirs ...files.Dir) []string {
	t.Helper()
	list, err := s.Covers(dirs)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, c := range list {
		rel, err := filepath.Rel(root, c.Path)
		if err != nil {
			t.Fatal(err)
		}
		line := []string{"hide", "fix", "pin"}[c.Kind] + " " + filepath.ToSlash(rel)
		if c.Dir {
			line += "/"
		}
		out = append(out, line)
	}
	return out
}

func TestShield(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(root, "home")
	plantTree(t, root,
		"home/.ssh/id", "home/.bashrc", "home/work/.env", "home/work/.ENV.local", "home/work/.env.example", "home/work/a/b/.envrc", "home/work/environment",
		"home/work/.git/HEAD", "home/work/.git/config", "home/work/.git/hooks/x", "home/work/.git/objects/.env", "home/work/.git/modules/m/HEAD", "home/work/.git/modules/m/config",
		"home/work/.git/modules/m/objects/x", "home/work/.git/modules/m/refs/x", "home/work/sub/.git", "home/work/bare/HEAD", "home/work/bare/objects/x", "home/work/bare/refs/x",
		"home/work/bare/config", "home/work/bare/commondir", "home/work/nobare/HEAD", "home/work/nobare/config", "home/work/certs/ca.crt", "home/work/.envs/inside/.env")
	s := shield(t, home, files.DefaultProtected(), []string{"certs/*.crt"})
	work := filepath.Join(home, "work")
	const envs = "hide work/.ENV.local|hide work/.env|hide work/.envs/"
	for _, c := range []struct {
		name string
		dirs []files.Dir
		want string
	}{
		{"writable", []files.Dir{{Path: work, Write: true}},
			"hide work/.ENV.local|hide work/.env|hide work/.envs/|pin work/.git/|fix work/.git/config|fix work/.git/hooks/|pin work/.git/modules/|pin work/.git/modules/m/|fix work/.git/modules/m/config|" +
				"pin work/a/|pin work/a/b/|hide work/a/b/.envrc|pin work/bare/|fix work/bare/commondir|fix work/bare/config|pin work/certs/|fix work/certs/ca.crt|pin work/sub/|fix work/sub/.git"},
		{"read-only", []files.Dir{{Path: work}}, envs + "|hide work/a/b/.envrc"},
		{"read-only but for a part", []files.Dir{{Path: work}, {Path: filepath.Join(work, "certs"), Write: true}}, envs + "|hide work/a/b/.envrc|fix work/certs/ca.crt"},
		{"a home", []files.Dir{{Path: home}}, "hide .bashrc|hide .ssh/|" + envs + "|hide work/a/b/.envrc"},
		{"elsewhere", []files.Dir{{Path: filepath.Join(work, "nobare"), Write: true}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := []string{}
			if c.want != "" {
				want = strings.Split(c.want, "|")
			}
			for range 2 { // the second time from memory
				if diff := cmp.Diff(want, covers(t, s, home, c.dirs...)); diff != "" {
					t.Errorf("covers (-want +got):\n%s", diff)
				}
			}
		})
	}
	if _, err := s.Covers([]files.Dir{{Path: filepath.Join(home, ".ssh")}}); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("a protected place was granted: %v", err)
	}
	if list, err := (*sandbox.Shield)(nil).Covers([]files.Dir{{Path: home}}); err != nil || list != nil {
		t.Errorf("no shield covers %v, error %v", list, err)
	}
}

// What changes after the first look is seen, also if its time was set back.
func TestShieldSeesChanges(t *testing.T) {
	root := t.TempDir()
	plantTree(t, root, "a/file", "b/file")
	s := shield(t, "", []string{".env"}, nil)
	dir := files.Dir{Path: root, Write: true}
	if got := covers(t, s, root, dir); len(got) > 0 {
		t.Fatalf("covers %q", got)
	}
	time.Sleep(1200 * time.Millisecond) // until what was seen is remembered
	covers(t, s, root, dir)
	plantTree(t, root, "b/.env")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(root, "b"), old, old); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"pin b/", "hide b/.env"}, covers(t, s, root, dir)); diff != "" {
		t.Errorf("after a file came (-want +got):\n%s", diff)
	}
	if err := os.Remove(filepath.Join(root, "b", ".env")); err != nil {
		t.Fatal(err)
	}
	if got := covers(t, s, root, dir); len(got) > 0 {
		t.Errorf("after it went: %q", got)
	}
}

func TestShieldLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there that people seldom have")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plantTree(t, root, "work/real", "outside/file", "home/x")
	for link, target := range map[string]string{"work/.env": "real", "work/.env.out": "../outside/file", "work/.env.gone": "nothing", "work/loop": ".", "home/.ssh": "../work/keys"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	plantTree(t, root, "work/keys/id")
	s := shield(t, filepath.Join(root, "home"), files.DefaultProtected(), nil)
	if diff := cmp.Diff([]string{"pin work/.env", "hide work/keys/", "hide work/real"}, covers(t, s, root, files.Dir{Path: filepath.Join(root, "work"), Write: true})); diff != "" {
		t.Errorf("covers (-want +got):\n%s", diff)
	}
}

func FuzzNewShield(f *testing.F) {
	f.Add(".env*", "/work/.env")
	f.Add("!.env.example", "/work/.env.example")
	f.Add("~/.ssh", "/home/.ssh")
	f.Add("a/[b", "/a/b")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		s, err := sandbox.NewShield("/home", []string{pattern}, nil)
		if err != nil {
			return
		}
		// Whatever it says, it looks only at what is granted.
		if list, err := s.Covers(nil); err != nil || len(list) > 0 {
			t.Errorf("nothing is granted, and %v is covered, error %v", list, err)
		}
	})
}

func BenchmarkShield(b *testing.B) {
	for _, dirs := range []int{100, 10_000} {
		b.Run(fmt.Sprint(dirs), func(b *testing.B) {
			root := b.TempDir()
			for i := range dirs {
				plantTree(b, root, fmt.Sprintf("d%d/e%d/file", i/100, i%100))
			}
			s := shield(b, "", files.DefaultProtected(), nil)
			grant := []files.Dir{{Path: root, Write: true}}
			time.Sleep(1200 * time.Millisecond)
			if _, err := s.Covers(grant); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := s.Covers(grant); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestPinnedParents: a place stays covered only if none of the directories
// above it can be renamed.
func TestPinnedParents(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing is covered there")
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "work", "deep", "conf"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "work", "deep", "conf", "secret.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := shield(t, "", []string{"conf/secret.txt"}, nil)
	got := covers(t, s, root, files.Dir{Path: filepath.Join(root, "work"), Write: true})
	if want := []string{"pin work/deep/", "pin work/deep/conf/", "hide work/deep/conf/secret.txt"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestShieldInARace: what is moved while it is looked for is found, or nothing
// is said to be known.
func TestShieldInARace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("changes of directories are told by their times there")
	}
	for _, c := range []struct {
		name  string
		moves [][2]string
	}{
		{"the directory", [][2]string{{"conf", "a/conf"}, {"a/conf", "b/conf"}, {"b/conf", "conf"}}},
		{"the file", [][2]string{{"conf/.env", "a/.env"}, {"a/.env", "b/.env"}, {"b/.env", "conf/.env"}}},
		{"to and fro", [][2]string{{"conf/.env", "b/.env"}, {"b/.env", "conf/.env"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			plantTree(t, root, "conf/.env", "a/x", "b/x")
			race(t, root, c.moves)
		})
	}
}

func race(t *testing.T, root string, moves [][2]string) {
	t.Helper()
	s := shield(t, "", []string{".env"}, nil)
	stop, done := make(chan struct{}), make(chan struct{})
	var moved atomic.Int64
	go func() {
		defer close(done)
		for {
			for _, m := range moves {
				if err := os.Rename(filepath.Join(root, m[0]), filepath.Join(root, m[1])); err != nil {
					t.Error(err)
				}
				moved.Add(1)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	known, until := 0, time.Now().Add(3*time.Second)
	for looks := 0; looks < 12 || moved.Load() < 5000 && time.Now().Before(until); looks++ { // the mover may be slow to begin
		list, err := s.Covers([]files.Dir{{Path: root, Write: true}})
		switch hidden := slices.IndexFunc(list, func(c sandbox.Cover) bool { return c.Kind == sandbox.Hide }); {
		case err == nil && hidden < 0:
			t.Error("it was not found, and nothing was said")
		case err == nil:
			known++
		case toolcrib.CodeOf(err) != toolcrib.CodeUnavailable:
			t.Error(err)
		}
	}
	close(stop)
	<-done
	if _, err := s.Covers([]files.Dir{{Path: root, Write: true}}); err != nil {
		t.Errorf("when it is over: %v", err)
	}
	t.Logf("it was found %d times", known)
}

// TestLookWhileOthersWork: directories that come and go, as in every build, do
// not keep programs from being started.
func TestLookWhileOthersWork(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		plantTree(t, root, fmt.Sprintf("node_modules/p%d/lib/x", i))
	}
	plantTree(t, root, "conf/.env")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			dir := filepath.Join(root, "node_modules", fmt.Sprintf("p%d", i%300), "tmp")
			_ = os.MkdirAll(filepath.Join(dir, "lib"), 0o755)
			_ = os.WriteFile(filepath.Join(dir, "lib", "x"), nil, 0o644)
			_ = os.Rename(filepath.Join(dir, "lib"), filepath.Join(dir, "l2"))
			_ = os.RemoveAll(dir)
		}
	}()
	defer func() { close(stop); <-done }()
	for i := range 20 {
		shield, err := sandbox.NewShield("", []string{".env"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		covers, err := shield.Covers([]files.Dir{{Path: root, Write: true}})
		if err != nil || !slices.ContainsFunc(covers, func(c sandbox.Cover) bool { return c.Path == filepath.Join(root, "conf", ".env") }) {
			t.Fatalf("look %d: %v, error %v", i, covers, err)
		}
	}
}

// TestCrowdOfNames: a program can give a protected file more names than can be
// covered. What they lie in is hidden, and the rest stays as it is.
func TestCrowdOfNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("further names of files are not looked for")
	}
	root := t.TempDir()
	plantTree(t, root, "h/.env", "src/a/x", "few/y")
	for i := range 2500 {
		if err := os.Link(filepath.Join(root, "h", ".env"), filepath.Join(root, "src", "a", fmt.Sprint("n", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(root, "h", ".env"), filepath.Join(root, "few", "name")); err != nil {
		t.Fatal(err)
	}
	found, err := shield(t, "", []string{".env"}, nil).Look([]files.Dir{{Path: root, Write: true}})
	if err != nil {
		t.Fatal(err)
	}
	var hidden []string
	for _, c := range found.Covers {
		if c.Kind == sandbox.Hide {
			hidden = append(hidden, strings.TrimPrefix(c.Path, root))
		}
	}
	if want := []string{"/few/name", "/h/.env", "/src/a"}; !slices.Equal(hidden, want) {
		t.Errorf("%.300q, want %q", hidden, want)
	}
	if !slices.ContainsFunc(found.Notes, func(n string) bool { return strings.Contains(n, "hard links") }) {
		t.Errorf("nothing is said: %q", found.Notes)
	}
}

// TestOddIndex: an index that is not understood is read once, and told of each
// time.
func TestOddIndex(t *testing.T) {
	root := t.TempDir()
	plantTree(t, root, ".git/HEAD", ".git/objects/x", ".git/refs/x")
	index := filepath.Join(root, ".git", "index")
	if err := os.WriteFile(index, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(index, 200<<20); err != nil { // which takes no space
		t.Fatal(err)
	}
	s := shield(t, "", []string{".env"}, nil)
	const looks = 10
	var first, later time.Duration
	for i := range 1 + looks {
		began := time.Now()
		found, err := s.Look([]files.Dir{{Path: root, Write: true}})
		if err != nil || !slices.ContainsFunc(found.Notes, func(n string) bool { return strings.Contains(n, "is not understood") }) {
			t.Errorf("look %d: %+v, error %v", i, found, err)
		}
		if took := time.Since(began); i == 0 {
			first = took
		} else {
			later += took
		}
	}
	if later > looks*first/2 {
		t.Errorf("%d looks took %v, the first %v", looks, later, first)
	}
}
