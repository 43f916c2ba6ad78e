//go:build unix

package files

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// attack is one name that may lead where a call was not granted to go.
type attack struct {
	family string
	name   string // what the tools are given
	as     string // what a careless program would make of it and open; empty: the name itself
	reach  string // where that leads: outside the grant, or to what is protected
	makes  bool   // nothing is there yet, a careless write makes it
}

// outside are the targets out of the grant.
func (a *arena) outside() []string {
	return []string{
		filepath.Join(a.out, "secret.txt"), filepath.Join(a.out, "sub", "key"), filepath.Join(a.base, "work2", "key"),
		filepath.Join(a.base, "state", "journal.db"), filepath.Join(a.out, ".ssh", "id_rsa"), filepath.Join(a.out, "sub"),
	}
}

// shielded are targets inside the granted directory that are protected.
func (a *arena) shielded() []string {
	var list []string
	for _, p := range []string{".env", "dir/.env", ".git/config", ".git/hooks/pre-commit", "sub/.git/hooks/post-checkout", "bare/config", ".git/modules/m/config"} {
		list = append(list, filepath.Join(a.dir, p))
	}
	return list
}

// attacks builds them all, with the links they need.
func (a *arena) attacks(t testing.TB) []attack {
	t.Helper()
	var list []attack
	for _, family := range []func(testing.TB) []attack{a.traversals, a.absolutes, a.symlinks, a.dangling, a.hardLinks, a.variants, a.encodings, a.specials} {
		list = append(list, family(t)...)
	}
	return list
}

func (a *arena) rel(t testing.TB, target string) string {
	t.Helper()
	rel, err := filepath.Rel(a.dir, target)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

func (a *arena) traversals(t testing.TB) []attack {
	var list []attack
	for _, target := range a.outside() {
		rel := a.rel(t, target)
		for _, name := range []string{
			rel, "./" + rel, "dir/../" + rel, ".//" + strings.ReplaceAll(rel, "/", "//"), strings.ReplaceAll(rel, "/", "/./"), strings.Repeat("dir/../", 300) + rel,
			strings.Repeat("../", 60) + strings.TrimPrefix(target, "/"), "../work/" + rel, a.dir + "/" + rel, a.read + "/../" + strings.TrimPrefix(rel, "../"),
		} {
			list = append(list, attack{family: "traversal", name: name, reach: target})
		}
		// What only shortening the text makes of it.
		for _, name := range []string{"plain.txt/../" + rel, "missing/../" + rel, "missing/deep/../../" + rel} {
			list = append(list, attack{family: "shortened", name: name, as: filepath.Join(a.dir, name), reach: target})
		}
	}
	for _, target := range a.shielded() {
		rel := a.rel(t, target)
		for _, name := range []string{rel, "./" + rel, "dir/../" + rel, "../work/" + rel, filepath.Dir(rel) + "//./" + filepath.Base(rel)} {
			list = append(list, attack{family: "protected", name: name, reach: target})
		}
	}
	return list
}

func (a *arena) absolutes(testing.TB) []attack {
	var list []attack
	self := fmt.Sprintf("/proc/%d", os.Getpid())
	for _, target := range append(a.outside(), a.shielded()...) {
		names := []string{target, "//" + target, "/.." + target, filepath.Dir(target) + "/./" + filepath.Base(target)}
		if _, err := os.Stat("/proc/self/root"); err == nil {
			names = append(names, "/proc/self/root"+target, "/proc/self/task/../root"+target, self+"/root"+target, "/dev/fd/../root"+target, "/proc/self/cwd/../../../../../../../../../../../.."+target)
		}
		for _, name := range names {
			list = append(list, attack{family: "absolute", name: name, reach: target})
		}
	}
	return list
}

// symlinks makes links that lead to the targets in several ways.
func (a *arena) symlinks(t testing.TB) []attack {
	t.Helper()
	var list []attack
	for i, target := range append(a.outside(), a.shielded()...) {
		rel, base := a.rel(t, target), filepath.Base(target)
		for way, to := range map[string]string{
			"rel": rel, "abs": target, "dots": "./dir/.././" + rel, "long": strings.Repeat("dir/../", 400) + rel, "slash": "//" + target, "proc": "/proc/self/root" + target, "up": filepath.Join("..", "work", rel),
		} {
			name := fmt.Sprintf("link-%s-%d", way, i)
			a.link(t, to, name)
			list = append(list, attack{family: "link", name: name, reach: target})
		}
		a.link(t, fmt.Sprintf("chain-b-%d", i), fmt.Sprintf("chain-a-%d", i))
		a.link(t, fmt.Sprintf("dir/../chain-c-%d", i), fmt.Sprintf("chain-b-%d", i))
		a.link(t, rel, fmt.Sprintf("chain-c-%d", i))
		a.link(t, filepath.Dir(rel), fmt.Sprintf("parent-%d", i))
		a.link(t, filepath.Join("..", filepath.Dir(rel)), fmt.Sprintf("dir/parent-%d", i))
		for _, name := range []string{fmt.Sprintf("chain-a-%d", i), fmt.Sprintf("parent-%d/%s", i, base), fmt.Sprintf("dir/parent-%d/%s", i, base), "link-root" + target, "link-up/" + strings.TrimPrefix(target, a.base+"/")} {
			list = append(list, attack{family: "link", name: name, reach: target})
		}
	}
	return list
}

// dangling makes links to what is not there yet, outside and under protection.
func (a *arena) dangling(t testing.TB) []attack {
	t.Helper()
	var list []attack
	for i, target := range []string{
		filepath.Join(a.out, "made.txt"), filepath.Join(a.out, "sub", "made"), filepath.Join(a.out, ".ssh", "authorized_keys"), filepath.Join(a.out, ".zshenv"), filepath.Join(a.base, "state", "made"),
		filepath.Join(a.dir, ".env.made"), filepath.Join(a.dir, ".git", "hooks", "post-merge"), filepath.Join(a.dir, ".git", "made"), filepath.Join(a.dir, "bare", "hooks", "update"),
	} {
		rel := a.rel(t, target)
		for way, to := range map[string]string{"rel": rel, "abs": target, "dots": "dir/../" + rel, "chain": fmt.Sprintf("dir/../chained-%d", i)} {
			name := fmt.Sprintf("dangling-%s-%d", way, i)
			a.link(t, to, name)
			list = append(list, attack{family: "dangling", name: name, reach: target, makes: true})
		}
		a.link(t, rel, fmt.Sprintf("chained-%d", i))
		a.link(t, filepath.Dir(rel), fmt.Sprintf("into-%d", i))
		for _, name := range []string{rel, target, fmt.Sprintf("into-%d/%s", i, filepath.Base(target)), "link-root" + target} {
			list = append(list, attack{family: "new", name: name, reach: target, makes: true})
		}
	}
	return list
}

func (a *arena) hardLinks(t testing.TB) []attack {
	t.Helper()
	var list []attack
	targets := append(a.shielded(), filepath.Join(a.out, ".ssh", "id_rsa"), filepath.Join(a.out, ".bashrc"), filepath.Join(a.base, "state", "journal.db"))
	for i, target := range targets {
		for _, name := range []string{fmt.Sprintf("hard-%d", i), fmt.Sprintf("dir/hard-%d.txt", i)} {
			if err := os.Link(target, filepath.Join(a.dir, name)); err != nil {
				t.Fatal(err)
			}
			list = append(list, attack{family: "hard link", name: name, reach: target})
		}
		a.link(t, fmt.Sprintf("dir/hard-%d.txt", i), fmt.Sprintf("to-hard-%d", i))
		list = append(list, attack{family: "hard link", name: fmt.Sprintf("to-hard-%d", i), reach: target})
	}
	return list
}

// variants are names that some file system takes for a protected one. Here
// each is a file of its own, so that a wrong step has something to give away.
func (a *arena) variants(t testing.TB) []attack {
	t.Helper()
	var list []attack
	add := func(name string) {
		a.put(t, name, canary+"\n")
		list = append(list, attack{family: "variant", name: name, reach: filepath.Join(a.dir, name)})
	}
	for i, name := range []string{".ENV", ".Env", ".eNv.local", ".env.", ".env ", ".env. .", ".env:stream", ".env::$DATA", ".env\u200b", ".e\u200cnv", ".en\u00adv", "\u2060.env", ".env\ufeff", ".env.production", ".envrc", ".EnV~"} {
		add(fmt.Sprintf("v%d/%s", i, name))
	}
	for i, git := range []string{".git", ".GIT", ".Git", ".git.", ".git ", ".git::$INDEX_ALLOCATION", ".g\u200cit", ".git\u200d", ".gi\u2064t"} {
		for j, name := range []string{"config", "CONFIG", "config.worktree", "hooks/pre-commit", "Hooks/update", "hook\u017f/x", "config.", "config:x", "modules/m/config"} {
			add(fmt.Sprintf("w%d-%d/%s/%s", i, j, git, name))
		}
	}
	for i, name := range []string{"config", "Config", "hooks/pre-push", "HOOKS/x", "config.worktree"} { // bare, and a .git that was renamed
		dir := fmt.Sprintf("bare%d", i)
		a.put(t, dir+"/HEAD", "ref: refs/heads/main\n")
		a.mkdir(t, filepath.Join(a.dir, dir, "objects"))
		a.mkdir(t, filepath.Join(a.dir, dir, "refs"))
		add(dir + "/" + name)
	}
	return list
}

// encodings are names that lead out once they are decoded, folded or expanded.
func (a *arena) encodings(t testing.TB) []attack {
	t.Helper()
	home := filepath.Join(a.out, ".ssh", "id_rsa")
	list := []attack{
		{name: "~/.ssh/id_rsa", as: home, reach: home}, {name: "$HOME/.ssh/id_rsa", as: home, reach: home}, {name: "${HOME}/.ssh/id_rsa", as: home, reach: home}, {name: "%HOME%/.ssh/id_rsa", as: home, reach: home},
	}
	for _, target := range a.outside() {
		rel := a.rel(t, target)
		for _, name := range []string{
			"file://" + target, strings.ReplaceAll(rel, "../", "%2e%2e/"), url.PathEscape(rel), url.PathEscape(url.PathEscape(rel)), strings.ReplaceAll(rel, "/", "%2f"), strings.ReplaceAll(rel, "/", `\`), `C:\` + strings.ReplaceAll(rel, "/", `\`), `\\?\` + target,
			strings.ReplaceAll(rel, "..", "\uff0e\uff0e"), strings.ReplaceAll(rel, "..", "\u2025"), strings.ReplaceAll(rel, "/", "\u2215"), strings.ReplaceAll(rel, "/", "\uff0f"), rel + "\x00", rel + "\x00.txt", " " + rel, rel + " ", "\t" + rel, rel + "\n", rel + ".", strings.Replace(rel, "..", "..;", 1), strings.Replace(rel, "../", ".../", 1),
			strings.ReplaceAll(rel, "..", "..\u200b"), strings.ReplaceAll(rel, "..", "\xc0\xae\xc0\xae"),
		} {
			list = append(list, attack{name: name, as: filepath.Join(a.dir, careless(name)), reach: target})
			if as := careless(name); filepath.IsAbs(as) {
				list[len(list)-1].as = as
			}
		}
	}
	for i := range list {
		list[i].family = "encoding"
	}
	return list
}

// careless makes of a name what programs do that mean well.
func careless(name string) string {
	name, _, _ = strings.Cut(name, "\x00")
	name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "file://"), `C:\`), `\\?\`)
	for range 2 {
		if s, err := url.PathUnescape(name); err == nil {
			name = s
		}
	}
	name = strings.NewReplacer(`\`, "/", "\uff0e", ".", "\u2025", "..", "\u2215", "/", "\uff0f", "/", "..;", "..", ".../", "../", "\u200b", "", "\xc0\xae", ".").Replace(name)
	return strings.TrimSuffix(strings.TrimSpace(name), ".")
}
