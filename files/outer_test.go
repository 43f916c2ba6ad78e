package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinksInProtectedPlaces: what the links in ~/.ssh lead to is out of reach in
// a project with dotfiles, and so are the links on the way.
func TestLinksInProtectedPlaces(t *testing.T) {
	lt := newLedTree(t, map[string]string{"ssh/cfg": "TOPSECRET", "aws/cr": "TOPSECRET", "fish/conf/a": "TOPSECRET", "fish/b": "x", "hosts/new": "TOPSECRET", "plain": "x", "free/f": "x", "unled": "x"}, map[string]string{"cur": "hosts"})
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	for name, to := range map[string]string{
		".ssh/config": "ssh/cfg", ".ssh/missing": "ssh/later", ".aws/credentials": "aws/cr", ".config/fish/conf.d": "fish/conf", ".config/gh/hosts.yml": "cur/new", ".ssh/whole": "", ".ssh/above": "..",
		".kube/config": "free/f", ".config/git/skip/x": "unled",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.Symlink(filepath.Join(lt.dir, to), at(name))); err != nil {
			t.Skip(err)
		}
	}
	var err error
	if lt.guard, err = NewProtection(home, append(DefaultProtected(), "!free/f", "nolinks:"+at(".config/git/skip"))...); err != nil {
		t.Fatal(err)
	}
	settled, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	f := lt.call()
	lt.shut(f, filepath.Join(settled, ".ssh", "config"), "ssh/cfg")
	lt.shut(f, filepath.Join(settled, ".ssh", "missing"), "ssh/later")
	lt.shut(f, filepath.Join(settled, ".aws", "credentials"), "aws/cr")
	lt.shut(f, filepath.Join(settled, ".config", "fish", "conf.d"), "fish/conf/a", "fish/conf/new")
	lt.shut(f, filepath.Join(settled, ".config", "gh", "hosts.yml"), "hosts/new")
	if _, _, err := lt.call("fish/conf").ReadFile("fish/conf/a", 100); !errors.Is(err, ErrProtected) {
		t.Errorf("by a grant of that directory alone: %v", err)
	}
	lt.open(f, "plain", "fish/b", "free/f", "unled")
	if _, err := f.Remove("cur"); !errors.Is(err, ErrProtected) {
		t.Errorf("the link on the way was removed: %v", err)
	}
	if _, text := lt.seen(f); strings.Contains(text, "TOPSECRET") {
		t.Errorf("it was read: %q", text)
	}
}
