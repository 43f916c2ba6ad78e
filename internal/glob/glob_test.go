package glob

import (
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		yes, no string // paths, separated by spaces
	}{
		{"*", "a .hidden", "a/b"},
		{"*.go", "a.go .go", "a.gox a/b.go"},
		{"**", "a a/b a/b/c", ""},
		{"**/*.go", "a.go a/b.go a/b/c.go", "a.c a/b"},
		{"src/**", "src/a src/a/b", "a srcs/a"},
		{"src/**/*.ts", "src/a.ts src/x/y/a.ts", "a.ts lib/src/a.ts"},
		{"a/**/b/**/c", "a/b/c a/x/b/y/z/c", "a/c a/b/x"},
		{"a?c", "abc aéc", "ac abbc a/c"},
		{"[a-c]x", "ax cx", "dx -x"},
		{"[!a-c]x", "dx éx", "ax"},
		{"[]x]a", "]a xa", "a"},
		{"[[:digit:]_]", "1 _", "a"},
		{"{a,b}.{c,d}", "a.c a.d b.c b.d", "a.e c.c"},
		{"{src,lib}/**/*.{ts,js}", "src/a.ts lib/x/b.js", "src/a.go x/a.ts"},
		{"{a,{b,c}d}", "a bd cd", "b d"},
		{"{a}", "{a}", "a"},
		{`\*`, "*", "a"},
		{`\{a,b\}`, "{a,b}", "a"},
		{"./a", "a", "b"},
		{"a*b*c*d", "abcd axxbxxcxxd", "abdc"},
		{strings.Repeat("*a", 30) + "b", strings.Repeat("a", 30) + "b", strings.Repeat("a", 200)},
	} {
		p, err := Compile(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		for s := range strings.FieldsSeq(tt.yes) {
			if !p.Match(s) {
				t.Errorf("%s does not match %s", tt.pattern, s)
			}
			for dir := path.Dir(s); dir != "."; dir = path.Dir(dir) {
				if !p.Below(dir) {
					t.Errorf("%s matches %s, but nothing below %s", tt.pattern, s, dir)
				}
			}
		}
		for s := range strings.FieldsSeq(tt.no) {
			if p.Match(s) {
				t.Errorf("%s matches %s", tt.pattern, s)
			}
		}
	}
	for _, bad := range []string{"", "/etc/*", "../*", "a/../b", "{..,a}/x", "{a,/b}", "[a", `a\`, "\xff", strings.Repeat("{a,b}", 7), strings.Repeat("a", 5000)} {
		if _, err := Compile(bad); err == nil {
			t.Errorf("%.40q was taken", bad)
		}
	}
}

func TestMatchName(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.go", "a/b/c.go", true}, {"b", "a/b", true}, {"b", "b/a", false}, {"a/*.go", "a/c.go", true}, {"a/*.go", "x/a/c.go", false}, {"**", "a/b", true}, {"{a,b/c}", "x/a", false}, {"{a,b/c}", "a", true},
	} {
		p, err := Compile(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MatchName(tt.path, path.Base(tt.path)); got != tt.want {
			t.Errorf("%s and %s: %v", tt.pattern, tt.path, got)
		}
	}
}

// TestAgainstPath: where the standard library has the same rules, so do we.
func TestAgainstPath(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b", "*", "?", "[ab]", "[^b]", "é", `\*`, "-", "."})
	char := rapid.SampledFrom([]string{"a", "b", "c", "é", "*", "-", "."})
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(piece, 1, 8).Draw(t, "pattern"), "")
		name := strings.Join(rapid.SliceOfN(char, 1, 8).Draw(t, "name"), "")
		if strings.Contains(pattern, "**") || pattern == "." || pattern == ".." {
			return
		}
		p, err := Compile(pattern)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		want, err := path.Match(pattern, name)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Match(name); got != want {
			t.Fatalf("%q and %q: %v, path.Match says %v", pattern, name, got, want)
		}
	})
}

// ignored asks for a path as a walk does: directory by directory.
func ignored(ig *Ignore, path string) bool {
	for i := range path {
		if path[i] == '/' && ig.Match(path[:i], true) {
			return true
		}
	}
	return ig.Match(path, false)
}

func TestIgnore(t *testing.T) {
	top := NewIgnore(nil, "", []byte("\ufeff# comment\n*.log\n!keep.log\n/only-top\nbuild/\ndocs/*.txt\n**/deep/x\na/**/z\ntail/**\n\\#hash\n\\!bang\nspace\\ \ntrailing   \r\n[bad\nend\\\n!\n/\n"))
	sub := NewIgnore(top, "sub", []byte("!*.log\nlocal\n/rooted\n"))
	for path, want := range map[string]bool{
		"x.log": true, "d/x.log": true, "keep.log": false, "only-top": true, "d/only-top": false, "build/x": true, "build": false, "d/build/y": true,
		"docs/a.txt": true, "docs/d/a.txt": false, "deep/x": true, "q/deep/x": true, "a/z": true, "a/b/c/z": true, "tail/x/y": true, "tail": false,
		"#hash": true, "!bang": true, "space": false, "trailing": true, "[bad": false, "end": false, "other": false,
		"sub/x.log": false, "sub/local": true, "local": false, "sub/d/local": true, "sub/rooted": true, "sub/d/rooted": false, "subx/local": false,
	} {
		if got := ignored(sub, path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
	if !ignored(sub, "space ") {
		t.Error("a space that a backslash keeps was dropped")
	}
	if NewIgnore(nil, "", []byte("# nothing\n\n")) != nil {
		t.Error("a file without rules is one")
	}
}

// gitRepo is a repository to ask git itself.
type gitRepo struct{ git, dir string }

func newGitRepo(t testing.TB) gitRepo {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	r := gitRepo{git, t.TempDir()}
	if _, err := r.run("", "init", "-q"); err != nil {
		t.Skip(err)
	}
	return r
}

func (r gitRepo) run(stdin string, args ...string) ([]byte, error) {
	cmd := exec.Command(r.git, args...)
	cmd.Dir = r.dir
	cmd.Env = []string{"HOME=" + r.dir, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "LC_ALL=C"}
	cmd.Stdin = strings.NewReader(stdin)
	return cmd.Output()
}

// ignored tells which of some paths git ignores.
func (r gitRepo) ignored(rules string, paths ...string) (map[string]bool, error) {
	if err := os.WriteFile(filepath.Join(r.dir, ".gitignore"), []byte(rules), 0o644); err != nil {
		return nil, err
	}
	out, err := r.run(strings.Join(paths, "\x00")+"\x00", "check-ignore", "--no-index", "-z", "--stdin")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		err = nil // none is
	}
	set := map[string]bool{}
	for p := range strings.SplitSeq(string(out), "\x00") {
		set[p] = true
	}
	return set, err
}

// TestAgainstGit compares generated rules with git.
func TestAgainstGit(t *testing.T) {
	repo := newGitRepo(t)
	piece := rapid.SampledFrom([]string{
		"a", "b", "c", "*", "**", "/", "/", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[[:alpha:]]", "[[:nope:]]", "[[:alpha:]", "[a", "\\", "!", " ", "#", "-", ".", "é", "\t", "\r", "[\\]]", "[a-]", "[c-a]", "[\\a-\\c]", "\ufeff",
	})
	rule := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 7).Draw(t, "pieces"), "") })
	var paths []string
	for _, d := range []string{"", "a/", "b/", "a/b/", "a/b/c/", "c/a/", "a b/", "é/"} {
		for _, n := range []string{"a", "b", "c", "ab", "abc", "aab", "a b", "é", "aé", "-", "]", ".a", "a.b", "#a", "!a", "a ", "[", "a\\b", "\\", "a\t"} {
			paths = append(paths, d+n)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		rules := strings.Join(rapid.SliceOfN(rule, 1, 4).Draw(t, "rules"), "\n") + rapid.SampledFrom([]string{"", "\n", "\r\n"}).Draw(t, "end")
		if strings.Contains(rules, `**\/`) {
			return // git takes this for one directory or more; nobody writes it
		}
		want, err := repo.ignored(rules, paths...)
		if err != nil {
			t.Fatalf("%v", err)
		}
		ig := NewIgnore(nil, "", []byte(rules))
		for _, p := range paths {
			if got := ignored(ig, p); got != want[p] {
				t.Fatalf("rules %q, path %q: %v, git says %v", rules, p, got, want[p])
			}
		}
	})
}

// FuzzGitignore compares with git, one path at a time.
func FuzzGitignore(f *testing.F) {
	repo := newGitRepo(f)
	for _, seed := range [][2]string{
		{"*.log\n!keep.log\n", "a/keep.log"}, {"/a/**/b\n", "a/x/y/b"}, {"foo/\n", "foo/x"}, {"a\\ \n", "a "}, {"[a-c]?\n", "b1"}, {"**/x\n", "x"}, {"x/**\n", "x/y"},
		{"[[:alpha:]]\n", "q"}, {"[!a]\n", "b"}, {"a**b\n", "axxb"}, {"**\n!a\n", "a"}, {"\\a\n", "a"}, {"[]-]\n", "-"}, {"[\\]]\n", "]"}, {"a/*/c\n", "a/b/c"}, {"?\n", "é"}, {"!a\na\n", "a"}, {"/\n", "a"}, {"a//b\n", "a/b"}, {"0\r", "0"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, rules, name string) {
		if strings.Contains(rules+name, "\x00") || len(rules) > 200 || len(name) > 100 {
			return
		}
		var elems []string
		for e := range strings.SplitSeq(name, "/") {
			if strings.EqualFold(e, ".git") || strings.HasPrefix(e, ":") {
				return
			}
			if e != "" && e != "." && e != ".." {
				elems = append(elems, e)
			}
		}
		if name = strings.Join(elems, "/"); name == "" || name == ".gitignore" {
			return
		}
		if strings.Contains(rules, `**\/`) {
			return
		}
		want, err := repo.ignored(rules, name)
		if err != nil {
			return // git does not take this name
		}
		if got := ignored(NewIgnore(nil, "", []byte(rules)), name); got != want[name] {
			t.Errorf("rules %q, path %q: %v, git says %v", rules, name, got, want[name])
		}
	})
}
