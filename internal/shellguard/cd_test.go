package shellguard

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// foreignMachine has a project with somebody else's code in it: a package
// behind a link, and a repository whose settings start a program.
func foreignMachine() *shelltest.Machine {
	m := shelltest.NewMachine()
	m.Links[work+"/nm"] = work + "/node_modules/x"
	m.Links[work+"/dep"] = work + "/other"
	m.Files[work+"/other/.git/config"] = "[filter \"x\"]\n\tclean = ./evil\n"
	m.Files[work+"/hooked/.git/config"] = plainConfig
	m.Files[work+"/hooked/.git/hooks/pre-commit"] = "#!/bin/sh"
	return m
}

// TestEveryChangeOfDirectoryIsFollowed: whichever way a line goes to a
// directory, what it does there is judged there.
func TestEveryChangeOfDirectoryIsFollowed(t *testing.T) {
	s := shellOn(t, foreignMachine())
	forms := []string{
		"cd %s && %c", "cd -- %s && %c", "cd '%s' && %c", `cd "%s" && %c`, "cd -- '%s' && %c", "cd ./%s && %c", "cd %s/ && %c", "cd src/../%s && %c", "cd -P %s && %c", "cd -L %s && %c", "cd -L -- %s && %c", "cd -e %s && %c", "cd -@ %s && %c", "cd -Pe %s && %c",
		"command cd %s && %c", "command cd -- %s && %c", "builtin cd %s && %c", "builtin cd -- %s && %c", "pushd %s && %c", "pushd -- %s && %c", "\\cd %s && %c", "'cd' %s && %c",
		"sh -c 'cd %s && %c'", "sh -c 'cd -- %s && %c'", "bash -c 'cd -- %s; %c'", "(cd -- %s; %c)", "(cd %s && %c)", "{ cd -- %s; %c; }", "cd -- %s; %c", "cd %s || true; %c", "cd -- %s\n%c", "cd src && cd -- ../%s && %c", "cd -- src; cd ../%s; %c",
		"if cd -- %s; then %c; fi", "if true; then cd -- %s; fi; %c", "case a in a) cd -- %s;; esac; %c", "for i in 1; do cd -- %s; done; %c", "! cd -- %s; %c", "ls && cd -- %s && %c", "timeout 5 sh -c 'cd -- %s && %c'",
		"eval cd -- %s; %c", "eval 'cd %s'; %c", "d=%s; cd $d; %c", "d=%s; cd -- \"$d\" && %c", "f() { cd %s; }; f; %c", "CDPATH=. cd %s && %c", "CDPATH=.; cd %s; %c", "cd $(echo %s) && %c", "env -C %s %c", "cd %s >/dev/null && %c", "cd $PWD/%s && %c", "cd " + work + "/%s && %c", "cd -- " + work + "/%s && %c",
	}
	asked := 0
	for _, form := range forms {
		for _, tt := range []struct{ dir, command string }{{"nm", "npm test"}, {"nm", "make build"}, {"dep", "git status"}, {"other", "git status"}, {"other", "git add x"}, {"hooked", "git commit -m x"}, {"node_modules/x", "npm run build"}} {
			line := strings.NewReplacer("%s", tt.dir, "%c", tt.command).Replace(form)
			asked++
			if v := shelltest.Judge(t, s, line); v.Decision != toolcrib.Ask {
				t.Errorf("%q runs unasked by %q", line, v.Rule)
			}
		}
	}
	t.Logf("%d ways into a foreign directory", asked)
	for _, line := range []string{"cd src && npm test", "cd -- src && npm test", "cd -- src && git status", "cd 'src' && git add x", "sh -c 'cd -- src && git status'", "cd src/lib && cd .. && npm test", "cd nm/.. && npm test", "cd -- nm/../src && git status", "(cd -- src && git log -1)", "command cd -- src && ls", "git -C src status"} {
		if v := shelltest.Judge(t, s, line); v.Decision != toolcrib.Allow {
			t.Errorf("%q asks: %s", line, v.Reason)
		}
	}
	for _, line := range []string{"git -C dep status", "git -C other status", "make -C nm build", "npm --prefix nm test", "npm test --prefix nm", "npm -C nm test", "go -C nm test ./...", "go test -C nm ./...", "cargo test --manifest-path nm/Cargo.toml", "cargo -C nm test", "yarn --cwd nm test", "pnpm -C nm test", "pytest nm", "pytest node_modules/x", "pytest --rootdir nm", "go test ./nm/...", "popd && npm test", "cd - && npm test", "cd && npm test", "cd ~ && npm test", "cd $X && git status", "cd a b && npm test"} {
		if v := shelltest.Judge(t, s, line); v.Decision != toolcrib.Ask {
			t.Errorf("%q runs unasked by %q", line, v.Rule)
		}
	}
	for dir, command := range map[string]string{"nm": "npm test", "dep": "git status", "other": "git add x"} {
		if v := shelltest.JudgeTool(t, s, "run_command", map[string]string{"command": command, "working_dir": dir}); v.Decision != toolcrib.Ask {
			t.Errorf("%q in %q runs unasked by %q", command, dir, v.Rule)
		}
	}
	// A project that lies in a directory of such a name is still the project.
	s.Options.Dir = "/home/ann/vendor/proj"
	if v := shelltest.Judge(t, s, "cd src && npm test"); v.Decision != toolcrib.Allow {
		t.Errorf("a project below vendor asks: %s", v.Reason)
	}
}
