package guard

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// foreignMachine has a project with somebody else's code in it: a package
// behind a link, and a repository whose settings start a program.
func foreignMachine() *machine {
	m := newMachine()
	m.links[work+"/nm"] = work + "/node_modules/x"
	m.links[work+"/dep"] = work + "/other"
	m.files[work+"/other/.git/config"] = "[filter \"x\"]\n\tclean = ./evil\n"
	m.files[work+"/hooked/.git/config"] = plainConfig
	m.files[work+"/hooked/.git/hooks/pre-commit"] = "#!/bin/sh"
	return m
}

// TestEveryChangeOfDirectoryIsFollowed: whichever way a line goes to a
// directory, what it does there is judged there.
func TestEveryChangeOfDirectoryIsFollowed(t *testing.T) {
	s := foreignMachine().shell(t)
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
			if v := judgeCommand(t, s, line); v.Decision != toolcrib.Ask {
				t.Errorf("%q runs unasked by %q", line, v.Rule)
			}
		}
	}
	t.Logf("%d ways into a foreign directory", asked)
	for _, line := range []string{"cd src && npm test", "cd -- src && npm test", "cd -- src && git status", "cd 'src' && git add x", "sh -c 'cd -- src && git status'", "cd src/lib && cd .. && npm test", "cd nm/.. && npm test", "cd -- nm/../src && git status", "(cd -- src && git log -1)", "command cd -- src && ls", "git -C src status"} {
		if v := judgeCommand(t, s, line); v.Decision != toolcrib.Allow {
			t.Errorf("%q asks: %s", line, v.Reason)
		}
	}
	for _, line := range []string{"git -C dep status", "git -C other status", "make -C nm build", "npm --prefix nm test", "npm test --prefix nm", "npm -C nm test", "go -C nm test ./...", "go test -C nm ./...", "cargo test --manifest-path nm/Cargo.toml", "cargo -C nm test", "yarn --cwd nm test", "pnpm -C nm test", "pytest nm", "pytest node_modules/x", "pytest --rootdir nm", "go test ./nm/...", "popd && npm test", "cd - && npm test", "cd && npm test", "cd ~ && npm test", "cd $X && git status", "cd a b && npm test"} {
		if v := judgeCommand(t, s, line); v.Decision != toolcrib.Ask {
			t.Errorf("%q runs unasked by %q", line, v.Rule)
		}
	}
	for dir, command := range map[string]string{"nm": "npm test", "dep": "git status", "other": "git add x"} {
		if v := judgeTool(t, s, "run_command", map[string]string{"command": command, "working_dir": dir}); v.Decision != toolcrib.Ask {
			t.Errorf("%q in %q runs unasked by %q", command, dir, v.Rule)
		}
	}
	// A project that lies in a directory of such a name is still the project.
	s.Options.Dir = "/home/ann/vendor/proj"
	if v := judgeCommand(t, s, "cd src && npm test"); v.Decision != toolcrib.Allow {
		t.Errorf("a project below vendor asks: %s", v.Reason)
	}
}

// FuzzChangeOfDirectory holds the followed directory against the one in which
// real shells end.
func FuzzChangeOfDirectory(f *testing.F) {
	shells := realShells(f)
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	write(f, dir, map[string]string{"a/b/x": "", "c/d/e/x": "", "-L/x": ""})
	for name, to := range map[string]string{"a/link": "../c/d", "up": "c/d/e", "a/b/top": "../.."} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			f.Skipf("no links here: %v", err)
		}
	}
	pieces := []string{"cd ", "command cd ", "-- ", "-P ", "-L ", "a", "b", "a/link", "up", "..", ".", "c/d", "top", "a/b/top", "/", "up/..", "'a'", `"c"`, " && ", "; ", " || true; ", "(", ")", "{ ", "; }", "missing", "true", "false", "! ", "sh -c '", "'", " | ", " & ", "if ", "; then ", "; fi"}
	for _, seed := range [][]byte{{0, 2, 5}, {0, 3, 7, 19, 0, 9}, {1, 2, 8, 18, 0, 9}, {0, 25, 20, 0, 5}, {21, 0, 5, 22, 19, 0, 11}, {28, 0, 2, 5, 18, 0, 6, 29}, {0, 7, 18, 0, 15}, {27, 0, 5}, {32, 0, 5, 33, 0, 6, 34}, {0, 5, 30, 0, 8}, {0, 5, 31, 0, 8}} {
		f.Add(seed)
	}
	env := []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C"}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 16 {
			return
		}
		var b strings.Builder
		for _, c := range data {
			b.WriteString(pieces[int(c)%len(pieces)])
		}
		line := b.String()
		l := Analyze(line+"\n/bin/pwd", SystemOptions(dir))
		if len(l.Unknown) > 0 || len(l.Programs) == 0 || l.Programs[len(l.Programs)-1].Name != "/bin/pwd" {
			return
		}
		opt := SystemOptions(dir)
		var may []string
		for _, d := range l.Programs[len(l.Programs)-1].Dirs {
			if d == unknownDir {
				return
			}
			if at, err := realPath(&opt, d); err == nil {
				may = append(may, at)
			}
		}
		for _, shell := range shells {
			cmd := exec.Command(shell, "-c", line+"\n/bin/pwd")
			cmd.Dir, cmd.Env = dir, env
			out, err := cmd.Output()
			if err != nil {
				continue // it is not a line to this shell
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if got := lines[len(lines)-1]; !slices.Contains(may, got) {
				t.Errorf("%s -c %q ends in %q, and the guard follows it to %q", shell, line, got, may)
			}
		}
	})
}
