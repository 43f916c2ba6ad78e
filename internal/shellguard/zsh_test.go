package shellguard

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// clientGuard is the guard of a client's hook in a project with a protected .env, whose
// shell may be a zsh with the options of its user.
func clientGuard(t testing.TB, dir string) *Guard {
	t.Helper()
	s := realGuard(t, dir)
	s.Bounded, s.Literal, s.Options.UserShell, s.Options.Zsh = false, true, true, true
	s.Named = func(toolcrib.Call, string, []string) error { return nil }
	s.Holds = func(_ toolcrib.Call, tree Tree) error {
		if len(tree.Names) == 0 {
			return errors.New("there is a protected file in it")
		}
		for _, name := range []string{".env", "a.txt"} {
			if fits, err := filepath.Match(tree.Names[0], name); fits || err != nil {
				return errors.New("there is a protected " + name + " in it")
			}
		}
		return nil
	}
	s.Reach = func(p string) error {
		full, err := filepath.EvalSymlinks(p)
		switch {
		case err == nil && filepath.Base(full) == ".env":
			return errors.New("it is protected")
		case p != dir && !strings.HasPrefix(p, dir+"/"), err == nil && full != dir && !strings.HasPrefix(full, dir+"/"):
			return errors.New("it was not granted")
		}
		return nil
	}
	return s
}

func clientProject(t testing.TB) string {
	t.Helper()
	dir, _ := project(t)
	write(t, dir, map[string]string{".env": "KEY=1\n", "near/b.txt": "1\n"})
	return dir
}

// TestClientsZshIsAskedAbout: words that a zsh, or one with options of its user, takes for
// other files than the line names. Each was tried in zsh 5.9.
func TestClientsZshIsAskedAbout(t *testing.T) {
	s := clientGuard(t, clientProject(t))
	for _, line := range []string{
		// Behind something empty.
		"y=; cat $y~/notes.txt", "y=; grep -rn token $y~/", "y=; grep -r KEY $y~+", `x=$y~/f; cat "$x"`, "y=; cat ${y}~/f", `y=; cat "$y"~/f`, "cat $(true)~/f", "cat `true`~/f", `cat ""~/f`, "cat ''~/f", "y=; cat $y\\\n~/f",
		"y=; cat $y=ls", `cat ""=ls`, "cat $(true)=ls", `y=; x=a:$y~/f; cat "$x"`, `z=; x=a:=ls$z; cat "$x"`, "cat {=ls,a.txt}", "cat {a.txt,=ls}", "y=; cat < $y~/f", "y=; for i in $y~/f; do cat $i; done", "y=; z=; cat $y$z~/f", "y=; cat a=$y~/f", "y=; cat a=$y=ls",
		// With EXTENDED_GLOB.
		"cat .e^x", "cat .en#v", "cat .en##v", "cat .env#", "cat .e^", "cat src/../.e^x", "cat ./.e^x", "x=.en; cat $x#v", "x=.e; cat $x^x", "for i in .e^x; do cat $i; done", "cat < .e^x", "cat *~x", "cat .e*~x", "cat x/^y*", "cat a.t^", "head -1 a.txt .e'n'^x", "git diff --no-index a.txt .e^x", "cat .E^x",
		// With BRACE_CCL, GLOB_SUBST, GLOB_ASSIGN and RC_QUOTES.
		"cat .e{n}v", "cat {.}env", "cat a@{b}{c}", "x='~'; cat $x/f", "x='=ls'; cat $x", "x='.en#v'; cat $x", "x='.e^x'; for i in $x; do cat $i; done", `x='~'; z=$x/f; cat "$z"`, `x='~'; z=$x; cat "$z/f"`, `x=.e*; cat "$x"`, `x=.en#v; cat "$x"`, `x=.e^x; cat "$x"`, "cat 'a''b'", "x='a ~'; cat $x",
		// In every directory below.
		"cat **/*", "cat src/**", "head -1 **/a.txt",
	} {
		if v := shelltest.JudgeTool(t, s, "run_command", map[string]string{"command": line}); v.Decision != toolcrib.Ask {
			t.Errorf("%q: %v %s", line, v.Decision, v.Reason)
		}
	}
}

// TestClientsEverydayLinesPassInZsh: what only an option of zsh takes for a pattern is no
// reason to ask where no file has a name that fits, and neither is what stands in quotes.
func TestClientsEverydayLinesPassInZsh(t *testing.T) {
	s := clientGuard(t, clientProject(t))
	for _, line := range []string{
		"git show HEAD^", "git show HEAD^^", "git show HEAD^2", "git show HEAD~1", "git show HEAD^:a.txt", "git log main^..HEAD", "git log HEAD^..HEAD | head -3", "git show HEAD^{commit}", "git rev-parse HEAD^{tree}", "git show HEAD@{1}", "git diff @{u}...HEAD", "git show stash@{0}", "git diff HEAD^ HEAD -- src",
		"x=HEAD^; git show $x", "for r in HEAD^ HEAD~2; do git show --stat $r; done", "grep a#b a.txt", "cat file~", "cat nothing.txt~", "echo C#", "grep -c '#' a.txt", "ls # all", "grep -n '^func' a.txt", "x='^func'; grep \"$x\" a.txt", "grep -n 'it'\\''s' a.txt", "echo a=b", "git log --format=%h:%s -3", "head -1 **/b.txt", "cat src/*.go", "y=; cat \"$y~/f\" a.txt 2>/dev/null || true", "x=a.txt; cat $x", "cd src && ls",
	} {
		if v := shelltest.JudgeTool(t, s, "run_command", map[string]string{"command": line}); v.Decision != toolcrib.Allow {
			t.Errorf("%q: %v %s", line, v.Decision, v.Reason)
		}
	}
}

// TestClientsCdMayLeadElsewhere: by CDPATH, by a variable of that name, and by links.
func TestClientsCdMayLeadElsewhere(t *testing.T) {
	dir := clientProject(t)
	for from, to := range map[string]string{"link": filepath.Join(t.TempDir(), "sub")} {
		if err := errors.Join(os.MkdirAll(to, 0o700), os.Symlink(to, filepath.Join(dir, from))); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(s *Guard, line string) bool {
		return shelltest.JudgeTool(t, s, "run_command", map[string]string{"command": line}).Decision == toolcrib.Ask
	}
	s := clientGuard(t, dir)
	for line, want := range map[string]bool{
		"cd src && cat x.go": false, "cd ./src && cat x.go": false, "cd HOME && cat a.txt": true, "cd src && cd .. && cat a.txt": false, "cd link/.. && cat a.txt": true, "f=src; cd $f && cat x.go": false, "f=HOME; cd $f && cat a.txt": true, "f=link/..; cd $f && cat a.txt": true, "cd " + dir + " && cat a.txt": false,
	} {
		if got := ask(s, line); got != want {
			t.Errorf("%q is asked about: %v", line, got)
		}
	}
	s.Options.CDPath = true
	for line, want := range map[string]bool{"cd src && cat x.go": true, "f=src; cd $f && cat x.go": true, "cd ./src && cat x.go": false, "cd src/.. && cat x.go": true, "cd " + dir + "/src && cat x.go": false, "pushd src && cat x.go": true, "cat src/x.go": false} {
		if got := ask(s, line); got != want {
			t.Errorf("with CDPATH %q is asked about: %v", line, got)
		}
	}
	s.Options.UserShell, s.Options.Zsh, s.Options.CDPath = false, false, false
	if ask(s, "cd HOME && cat a.txt") {
		t.Error("a shell without a user has no options")
	}
}
