package shellguard

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestSubmodules reads indexes that git wrote.
func TestSubmodules(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here to write an index")
	}
	dir := t.TempDir()
	index := func(repo string) []byte {
		data, err := os.ReadFile(filepath.Join(repo, ".git", "index"))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	plain := filepath.Join(dir, "plain")
	for _, d := range []string{plain, filepath.Join(plain, "deep", "er")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	git(t, plain, "init", "-q")
	for i, name := range []string{"a", "deep/er/ab", "deep/er/abcdefg", "deep/er/abcdefgh", strings.Repeat("x", 200)} {
		if err := os.WriteFile(filepath.Join(plain, name), []byte{byte(i)}, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, plain, "add", ".")
	git(t, plain, "commit", "-qm", "x")
	if why := submodules(index(plain)); why != "" {
		t.Errorf("a plain index: %s", why)
	}
	if err := os.WriteFile(filepath.Join(plain, "later"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, plain, "add", "-N", "later") // an entry with more flags
	if why := submodules(index(plain)); why != "" {
		t.Errorf("with an intent to add: %s", why)
	}
	full := index(plain)
	for cut := range len(full) / 2 { // behind the entries it may look whole; git itself refuses it by its hash
		if why := submodules(full[:cut]); why == "" {
			t.Fatalf("cut at %d of %d it is taken", cut, len(full))
		}
	}
	git(t, plain, "update-index", "--split-index")
	if why := submodules(index(plain)); why == "" {
		t.Error("half an index is taken")
	}
	git(t, plain, "update-index", "--no-split-index", "--index-version", "4")
	if why := submodules(index(plain)); why != "" {
		t.Errorf("an index of version four: %s", why)
	}
	sub := filepath.Join(plain, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, plain, "update-index", "--index-version", "2")
	git(t, sub, "init", "-q")
	git(t, sub, "commit", "-q", "--allow-empty", "-m", "x")
	git(t, plain, "add", "sub")
	if why := submodules(index(plain)); !strings.Contains(why, "submodule") {
		t.Errorf("a submodule: %q", why)
	}
}

// TestGitFile: a .git file is read as git reads it, or not at all.
func TestGitFile(t *testing.T) {
	for text, want := range map[string]string{
		"gitdir: ../meta\n": "/w/meta", "gitdir: /abs/x\n": "/abs/x", "gitdir: sub/x": "/w/d/sub/x", "gitdir: ../../x\r\n": "/x", "gitdir: ..\n": "/w",
		"gitdir: ../meta \n": "", "gitdir:  ../meta\n": "", "gitdir:../meta\n": "", "gitdir: ../link/../meta\n": "", "gitdir: /a/../b\n": "", "gitdir: a\nb\n": "", "gitdir: \n": "", "": "", "x": "",
	} {
		to, ok := strings.CutPrefix(text, "gitdir: ")
		got, ok := plainPath(to, ok, "/w/d")
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzSubmodules: no index makes it fail or run away.
func FuzzSubmodules(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + strings.Repeat("\x00", 100)))
	f.Fuzz(func(_ *testing.T, data []byte) { submodules(data) })
}

// TestPatternsAreNoValues: the value of an option that is a pattern becomes
// whatever a file is called.
func TestPatternsAreNoValues(t *testing.T) {
	s := shellOn(t, shelltest.NewMachine())
	for _, line := range []string{
		"sed -e s*a*b* README", "awk -v x=* README README", "uniq -f 1*", "head -n 5*", "find . -name ./x*", "cat .?/outside.txt", "grep -rs X .*", "find .?", "head -n 1 ??",
		"sed --expression=s*a*b* f.txt", "sed -e'=;s'*a*b* f.txt", "git log --format=%h*", "git log --format=%+GG", "git log --format=%-G?", "xxd -bl f.txt out.txt", "tree -Lo 2 out",
		"git grep --recurse-submodules foo HEAD", "jq -R . -- --arg a /etc/passwd", "ls -d */*/*/*",
	} {
		if v := shelltest.Judge(t, s, line); v.Decision.String() != "ask" {
			t.Errorf("%s: %+v", line, *v)
		}
	}
}

// TestPlainestBesideRules: the usual filters need no rule beside what has one.
func TestPlainestBesideRules(t *testing.T) {
	s := shellOn(t, shelltest.NewMachine())
	for _, line := range []string{"go test ./... | tail -20", "go test ./... 2>&1 | grep FAIL | head", "cd sub && go test ./...", "timeout 60 go test ./..."} {
		if v := shelltest.Judge(t, s, line); v.Decision.String() != "allow" {
			t.Errorf("%s: %+v", line, *v)
		}
	}
	var err error
	if s.Rules, err = ParseRules([]string{"go test *", "make test *"}); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"git status; go test ./...", "tree; make test", "make test deploy", "rg x; go test ./..."} {
		if v := shelltest.Judge(t, s, line); v.Decision.String() != "ask" {
			t.Errorf("%s: %+v", line, *v)
		}
	}
	if v := shelltest.Judge(t, s, "cd node_modules/evil && go test ./..."); v.Decision.String() != "ask" {
		t.Errorf("in somebody else's code: %+v", *v)
	}
}

// TestGitConfigLines: what git takes on one line is not taken for something else.
func TestGitConfigLines(t *testing.T) {
	for _, text := range []string{
		"[user][filter \"x\"]clean = id\n", "[user] [filter \"x\"] clean = id\n", "[user]name[x = 1\n", "[core]\n\tfsm\u00f6nitor = x\n", "[status]\n\tsubmoduleSummary = true\n",
		"[submodule]\n\trecurse = true\n", "[alias]\n\twhatchanged = !id\n", "[extensions]\n\tobjectFormat = sha256\n",
	} {
		if err := checkGitConfig(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestGitLinks: a link on the way to a repository's settings may lead git
// elsewhere than us.
func TestGitLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"sub/gd", "gd", "emb", "obj"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := &Guard{AllowShell: true, Bounded: true, Options: SystemOptions(dir), Glob: filepath.Glob, ReadFile: os.ReadFile}
	if err := s.repository(filepath.Join(dir, "sub"), &s.Options); err != nil {
		t.Fatalf("nothing there: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sub", ".git"), []byte("gitdir: /proc/self/cwd/gd\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.repository(filepath.Join(dir, "sub"), &s.Options); err == nil {
		t.Error("a place that depends on who asks")
	}
	if err := os.Symlink("/proc/self/cwd/nowhere", filepath.Join(dir, "emb", "objects")); err != nil {
		t.Fatal(err)
	}
	if err := s.repository(filepath.Join(dir, "emb"), &s.Options); err == nil {
		t.Error("objects that lead elsewhere")
	}
}
