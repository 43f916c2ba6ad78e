package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/refusal"
)

// ledTree is a project with links of protected names in it.
type ledTree struct {
	*testing.T
	dir   string
	guard *Protection
}

const (
	aKey  = "-----BEGIN OPENSSH PRIVATE KEY-----\nTOPSECRET\n-----END OPENSSH PRIVATE KEY-----\n"
	aCert = "-----BEGIN CERTIFICATE-----\nTOPSECRET\n-----END CERTIFICATE-----\n"
)

func newLedTree(t *testing.T, files map[string]string, links map[string]string) *ledTree {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	guard, err := NewProtection(t.TempDir(), append(DefaultProtected(), "private-notes", "my/*.txt")...)
	if err != nil {
		t.Fatal(err)
	}
	lt := &ledTree{t, dir, guard}
	for name, text := range files {
		lt.put(name, text)
	}
	for name, to := range links {
		lt.link(name, to)
	}
	return lt
}

func (t *ledTree) put(name, text string) {
	t.Helper()
	path := filepath.Join(t.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func (t *ledTree) link(name, to string) {
	t.Helper()
	path := filepath.Join(t.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.FromSlash(to), path); err != nil {
		t.Skip(err)
	}
}

// call opens the directories as a call does.
func (t *ledTree) call(dirs ...string) *Handle {
	t.Helper()
	opt := Options{Base: t.dir, Protected: t.guard, Within: []string{t.dir}, Trash: t.TempDir()}
	var list []Dir
	for _, d := range append(dirs, "")[:max(1, len(dirs))] {
		list = append(list, Dir{Path: filepath.Join(t.dir, d), Write: true})
	}
	f, err := New(list, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// seen walks the tree, and gives the names and what the files hold.
func (t *ledTree) seen(f *Handle) (names []string, text string) {
	t.Helper()
	var mu sync.Mutex
	err := f.Walk(context.Background(), t.dir, func(d *Folder) error {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range d.Entries {
			names = append(names, filepath.ToSlash(filepath.Join(d.Path, e.Name)))
			s, err := d.Open(e.Name)
			if err != nil {
				continue
			}
			buf := make([]byte, 1000)
			n, _ := s.Read(buf)
			text += string(buf[:n])
			_ = s.Close()
		}
		return nil
	}, nil)
	if err != nil {
		t.Error(err)
	}
	return names, text
}

func (t *ledTree) shut(f *Handle, link string, names ...string) {
	t.Helper()
	all, _ := t.seen(f)
	for _, name := range names {
		_, _, read := f.ReadFile(name, 1000)
		_, stat := f.Stat(name)
		_, where := f.Real(name)
		_, gone := f.Remove(name)
		for what, err := range map[string]error{"read": read, "told of": stat, "found": where, "written": f.WriteFile(name, []byte("x"), nil), "removed": gone} {
			if !errors.Is(err, ErrProtected) || !strings.Contains(err.Error(), fmt.Sprintf("%q", link)) || !strings.Contains(err.Error(), "grant.unprotected") {
				t.Errorf("%s is %s: %v", name, what, err)
			}
		}
		if slices.Contains(all, name) {
			t.Errorf("%s is listed", name)
		}
	}
}

func (t *ledTree) open(f *Handle, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, _, err := f.ReadFile(name, 1000); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := f.WriteFile(name+".new", []byte("x"), nil); err != nil {
			t.Errorf("%s.new: %v", name, err)
		}
	}
}

// TestProtectedLinks: what a link of a protected name leads to is out of reach
// under its own name.
func TestProtectedLinks(t *testing.T) {
	lt := newLedTree(t, map[string]string{
		"conf/dev": "TOPSECRET", "conf/other": "x", "conf/k": aKey, "store/n.txt": "TOPSECRET", "store/deep/n": "TOPSECRET", "deep/er/s": "TOPSECRET",
		"c/real": "TOPSECRET", "tls/secret": aKey, "tls/public": "fine", "k8s/config": "TOPSECRET", "k8s/job.yaml": "x", "mine/a.txt": "TOPSECRET", "mine/a.go": "x",
		"src/a": "x", ".env.example": "x", "a/b/c": "x",
	}, map[string]string{
		".env": "conf/dev", "id_ed25519": "conf/k", "private-notes": "store", "sub/sibling/.env.local": "../../deep/er/s",
		"prod.env": "hop/real", "hop": "c", "server.pem": "tls/secret", "ca.pem": "tls/public", ".kube": "k8s", "my": "mine",
		".env.future": "conf/later", ".env.up": ".", "a/b/.env": "../..", "a/.env": "../a/b/..", ".env.tpl": ".env.example", ".env.gone": ".env.gone",
	})
	lt.put("tls/public", aCert)
	f := lt.call()
	for link, names := range map[string][]string{
		".env": {"conf/dev"}, "id_ed25519": {"conf/k"}, "private-notes": {"store", "store/n.txt", "store/deep/n", "store/deep"}, filepath.FromSlash("sub/sibling/.env.local"): {"deep/er/s"},
		"prod.env": {"c/real", "hop/real"}, "server.pem": {"tls/secret"}, filepath.FromSlash(".kube/config"): {"k8s/config"}, filepath.FromSlash("my/a.txt"): {"mine/a.txt"},
	} {
		lt.shut(f, link, names...)
	}
	lt.open(f, "conf/other", "tls/public", "k8s/job.yaml", "mine/a.go", "src/a", "a/b/c")
	if _, _, err := f.ReadFile(".env.example", 100); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"conf/later", "conf/later/x", "store/new", "store/new/new", "mine/b.txt"} {
		if err := f.WriteFile(name, []byte("x"), nil); !errors.Is(err, ErrProtected) {
			t.Errorf("%s is made: %v", name, err)
		}
	}
	if _, err := f.Remove("hop"); !errors.Is(err, ErrProtected) {
		t.Errorf("a link on the way is removed: %v", err)
	}
	if _, text := lt.seen(f); strings.Contains(text, "TOPSECRET") && !strings.Contains(text, "CERT") || !strings.Contains(text, "x") {
		t.Errorf("a walk shows %q", text)
	}
	// Where only a part is granted, links outside of that part count too.
	narrow := lt.call("conf", "store/deep")
	lt.open(narrow, "conf/other")
	for _, name := range []string{"conf/dev", "store/deep/n"} {
		if _, _, err := narrow.ReadFile(name, 100); !errors.Is(err, ErrProtected) {
			t.Errorf("%s is read in a narrower call: %v", name, err)
		}
	}
}

// TestLinksBehindProtectedLinks: nor is what the links in a protected directory lead
// to, or in one that a protected name leads to.
func TestLinksBehindProtectedLinks(t *testing.T) {
	lt := newLedTree(t, map[string]string{
		"store/cr": "TOPSECRET", "store/other": "x", "store/c": "TOPSECRET", "store/hosts": "TOPSECRET", "store/n": "TOPSECRET", "store/deep": "TOPSECRET",
		"ghx/readme": "x", "k8s/job.yaml": "x", "pkg/a.js": "x", "private-notes/inner/a": "x", "cloud/a": "x", "wide/x": "x",
	}, map[string]string{
		"sub/private-notes": "../cloud", "cloud/credentials": "../store/cr", "cloud/deep/er": "../../store/deep",
		".kube": "k8s", "k8s/config": "../store/c", "k8s/other": "../store/other",
		"private-notes/n": "../store/n", "private-notes/inner/self": "a", "private-notes/up": "..",
		"my": "mine", "mine/a.txt": "../ghx/a.txt", "ghx/a.txt": "../store/hosts",
		"one/.env": "../wide", "wide/back": "../one", "wide/loop": ".",
	})
	f := lt.call()
	for link, names := range map[string][]string{
		"sub/private-notes/credentials": {"store/cr"}, "sub/private-notes/deep/er": {"store/deep"}, ".kube/config": {"store/c"}, "private-notes/n": {"store/n"}, "my/a.txt": {"store/hosts"},
	} {
		lt.shut(f, filepath.FromSlash(link), names...)
	}
	lt.open(f, "store/other", "ghx/readme", "k8s/job.yaml", "pkg/a.js")
	if _, text := lt.seen(f); strings.Contains(text, "TOPSECRET") || !strings.Contains(text, "x") {
		t.Errorf("a walk shows %q", text)
	}
	lt.link("cloud/credentials", "../store/other") // and from the next call on
	lt.shut(lt.call(), filepath.FromSlash("sub/private-notes/credentials"), "store/other")
	lt.open(lt.call(), "store/cr")
}

// TestProtectedLinkHardLinked: neither does a further name of that file lead to it.
func TestProtectedLinkHardLinked(t *testing.T) {
	lt := newLedTree(t, map[string]string{"conf/dev": "TOPSECRET", "store/n": "TOPSECRET", "k": aKey}, map[string]string{".env": "conf/dev", "private-notes": "store", "x.pem": "k"})
	for from, to := range map[string]string{"conf/dev": "one.txt", "store/n": "two.txt", "k": "three.txt"} {
		if err := os.Link(filepath.Join(lt.dir, from), filepath.Join(lt.dir, to)); err != nil {
			t.Skip(err)
		}
	}
	f := lt.call()
	for _, name := range []string{"one.txt", "two.txt", "three.txt"} {
		if _, _, err := f.ReadFile(name, 1000); !errors.Is(err, ErrProtected) {
			t.Errorf("%s is read: %v", name, err)
		}
	}
	if _, text := lt.seen(f); strings.Contains(text, "TOPSECRET") {
		t.Errorf("a walk shows %q", text)
	}
}

// TestProtectedLinkLater: a link counts from the next call on, and no longer than
// it is there.
func TestProtectedLinkLater(t *testing.T) {
	lt := newLedTree(t, map[string]string{"conf/dev": "x", "conf/prod": "x", "deep/a/b/c": "x", "k": "x"}, nil)
	lt.open(lt.call(), "conf/dev", "conf/prod")
	lt.link(".env", "conf/dev")
	lt.shut(lt.call(), ".env", "conf/dev")
	lt.link(".env", "conf/prod")
	lt.shut(lt.call(), ".env", "conf/prod")
	lt.open(lt.call(), "conf/dev")
	lt.link("cur", "conf")
	lt.link(".env", "cur/dev")
	lt.shut(lt.call(), ".env", "conf/dev")
	lt.link("cur", "deep")
	lt.open(lt.call(), "conf/dev")
	lt.link("deep/a/b/.env.x", "../../../conf/dev")
	lt.shut(lt.call(), filepath.FromSlash("deep/a/b/.env.x"), "conf/dev")
	if err := os.Remove(filepath.Join(lt.dir, "deep", "a", "b", ".env.x")); err != nil {
		t.Fatal(err)
	}
	lt.open(lt.call(), "conf/dev")
	lt.link("my.pem", "k")
	lt.put("k", aCert)
	lt.open(lt.call(), "k")
	lt.put("k", aKey)
	lt.shut(lt.call(), "my.pem", "k")
}

// TestTooManyProtectedLinks: links that a command makes push no other one aside.
func TestTooManyProtectedLinks(t *testing.T) {
	lt := newLedTree(t, map[string]string{"conf/dev": "TOPSECRET", "src/a": "x"}, map[string]string{"z.env": "conf/dev"})
	for i := range maxLeads {
		if err := os.Symlink("src/a", filepath.Join(lt.dir, fmt.Sprintf(".env%d", i))); err != nil {
			t.Skip(err)
		}
	}
	_, _, err := lt.call().ReadFile("conf/dev", 100)
	if !errors.Is(err, ErrProtected) || !refusal.Is(err, refusal.Unavailable) || !strings.Contains(err.Error(), "links of protected names") {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(lt.dir, ".env0")); err != nil {
		t.Fatal(err)
	}
	lt.shut(lt.call(), "z.env", "conf/dev")
}

// BenchmarkReadInWideTree is what a read costs where there are many directories.
func BenchmarkReadInWideTree(b *testing.B) {
	dir := b.TempDir()
	for i := range 2000 {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint(i%40), fmt.Sprint(i)), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o644); err != nil {
		b.Fatal(err)
	}
	guard, err := NewProtection("", DefaultProtected()...)
	if err != nil {
		b.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond) // what changed just now is not remembered
	for b.Loop() {
		f, err := New([]Dir{{Path: dir}}, Options{Base: dir, Protected: guard})
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := f.ReadFile("a", 10); err != nil {
			b.Fatal(err)
		}
		_ = f.Close()
	}
}
