package files

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDeniedLinks: what a link leads to in a place that rules deny is denied under
// its own name as well; workspaces of a package manager stay open.
func TestDeniedLinks(t *testing.T) {
	files := map[string]string{
		"store/k": "TOPSECRET", "store/a/b/k": "TOPSECRET", "store/open": "fine", "deep/x/private/k": "TOPSECRET", "deep/x/open": "fine",
		"secrets/x": "TOPSECRET", "packages/p/index.js": "fine", "conf/main.tf": "fine", "other": "fine",
	}
	links := map[string]string{
		"secrets/k": "../cur", "cur": "store/k", "secrets/sub/a": "../../store/a", "secrets/up": "..", "secrets/round": "round", "secrets/near": "x", "secrets/new": "../store/new",
		"by/x": "../deep/x", "node_modules/p": "../packages/p", "node_modules/@s/p": "../../packages/p", "infra/main.tf": "../conf/main.tf",
	}
	tree := newLedTree(t, files, links)
	slash := filepath.ToSlash(tree.dir)
	for _, rules := range [][]string{
		{slash + "/secrets/**", slash + "/by/*/private/**", slash + "/node_modules/**"},
		{"/**/secrets", slash + "/by/*/private", "/**/node_modules/**"},
	} {
		open := func(opt Options) *Handle {
			opt.Base, opt.Protected, opt.Within, opt.Trash = tree.dir, tree.guard, []string{tree.dir}, t.TempDir()
			f, err := New([]Dir{{Path: tree.dir, Write: true}}, opt)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Close() })
			return f
		}
		f := open(Options{Denied: rules, Fixed: []string{slash + "/infra/*.tf"}})
		all, text := tree.seen(f)
		for _, name := range []string{"cur", "store/k", "store/a/b/k", "store/a", "secrets/k", "deep/x/private/k", "deep/x/private", "store/new", "secrets/sub/a/b/k"} {
			_, _, read := f.ReadFile(name, 100)
			_, stat := f.Stat(name)
			_, gone := f.Remove(name)
			for what, err := range map[string]error{"read": read, "told of": stat, "written": f.WriteFile(name, []byte("x"), nil), "removed": gone} {
				if !errors.Is(err, ErrProtected) {
					t.Errorf("%s is %s: %v", name, what, err)
				}
			}
			if name != "cur" && slices.Contains(all, name) {
				t.Errorf("%s is listed", name)
			}
		}
		if text == "" || strings.Contains(text, "TOPSECRET") {
			t.Errorf("a walk shows %q of %q", text, all)
		}
		tree.open(f, "store/open", "deep/x/open", "packages/p/index.js", "other")
		if _, _, err := f.ReadFile("conf/main.tf", 100); err != nil {
			t.Error("what rules only deny to be written is not read:", err)
		}
		if err := f.WriteFile("conf/main.tf", []byte("x"), nil); !errors.Is(err, ErrProtected) {
			t.Error("what a link leads to that must not be written is written:", err)
		}
		tree.open(open(Options{}), "store/k", "store/a/b/k", "conf/main.tf") // another caller's rules are others
	}
}

// TestDeniedLinksMany: who makes very many links in a denied place opens nothing by
// it, and those of a package manager do not count.
func TestDeniedLinksMany(t *testing.T) {
	tree := newLedTree(t, map[string]string{"store/k": "TOPSECRET", "fine": "x"}, map[string]string{"zz.key": "store/k"})
	rules := []string{"/**/*.key", filepath.ToSlash(tree.dir) + "/node_modules/**"}
	for i := range 10 {
		tree.link(fmt.Sprintf("node_modules/.pnpm/d%d/fine", i), "../../../fine")
	}
	try := func() error {
		f, err := New([]Dir{{Path: tree.dir, Write: true}}, Options{Base: tree.dir, Protected: tree.guard, Denied: rules})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if _, _, err := f.ReadFile("store/k", 100); !errors.Is(err, ErrProtected) {
			t.Errorf("it is read: %v", err)
		}
		_, _, err = f.ReadFile("fine", 100)
		return err
	}
	if err := try(); err != nil {
		t.Error("links of a package manager are in the way:", err)
	}
	for i := range maxLeads {
		tree.link(fmt.Sprintf("a%04d.key", i), "store")
	}
	if err := try(); !errors.Is(err, ErrProtected) {
		t.Error("some links may be passed over:", err)
	}
}

// TestFixedLinksMany: very many links in a place that rules only deny to be written
// keep nobody from reading.
func TestFixedLinksMany(t *testing.T) {
	tree := newLedTree(t, map[string]string{"store/k": "kept", "secret/k": "TOPSECRET", "fine": "x"}, map[string]string{"zz.tf": "store/k", "s.key": "secret/k"})
	for i := range maxLeads {
		tree.link(fmt.Sprintf("a%04d.tf", i), "store")
	}
	f, err := New([]Dir{{Path: tree.dir, Write: true}}, Options{Base: tree.dir, Protected: tree.guard, Trash: t.TempDir(), Fixed: []string{"/**/*.tf"}, Denied: []string{"/**/*.key"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, name := range []string{"fine", "store/k"} {
		if _, _, err := f.ReadFile(name, 100); err != nil {
			t.Errorf("%s is not read: %v", name, err)
		}
		if err := f.WriteFile(name, []byte("y"), nil); !errors.Is(err, ErrProtected) {
			t.Errorf("%s is written: %v", name, err)
		}
	}
	if _, _, err := f.ReadFile("secret/k", 100); !errors.Is(err, ErrProtected) {
		t.Errorf("what another rule denies is read: %v", err)
	}
}

// TestDeniedLinksToPackages: the packages that a denied build leads to stay open.
func TestDeniedLinksToPackages(t *testing.T) {
	tree := newLedTree(t, map[string]string{"node_modules/q/index.js": "fine", "src/k": "TOPSECRET"}, map[string]string{"dist/node_modules": "../node_modules", "dist/q": "../node_modules/q", "dist/src": "../src"})
	f, err := New([]Dir{{Path: tree.dir, Write: true}}, Options{Base: tree.dir, Protected: tree.guard, Denied: []string{filepath.ToSlash(tree.dir) + "/dist/**"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	tree.open(f, "node_modules/q/index.js")
	if _, _, err := f.ReadFile("src/k", 100); !errors.Is(err, ErrProtected) {
		t.Errorf("it is read: %v", err)
	}
}
