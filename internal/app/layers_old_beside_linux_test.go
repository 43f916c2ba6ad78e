package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// beside is what a person does while a program runs, and what the program does before
// and after that.
type beside struct{ name, script, person, then string }

// tryBeside has the program wait in its layer for what the person does. Whatever it does,
// all that lies there then stays as the person left it, and nothing that others obey comes.
func (g *ground) tryBeside(c beside) {
	g.t.Helper()
	g.tried++
	done := make(chan string, 1)
	mark := fmt.Sprint("ready", g.tried)
	line := "HOME=/tmp; cd TOP; " + c.script + "\n: > TOP/" + mark + "; for i in $(seq 6000); do grep -q go TOP/wait && break; sleep 0.03; done; " + c.then + "\n:"
	go func() { done <- g.run(c.name, "", g.words(line)) }()
	told := g.until(done, func() bool {
		ready, err := filepath.Glob(filepath.Join(g.base, "state", "layers", "*", "*", "upper", mark))
		return err == nil && len(ready) > 0
	})
	if told == "" {
		g.shell(g.dir, g.words(c.person))
		was := inventory(g.t, g.dir)
		if err := errors.Join(os.WriteFile(filepath.Join(g.dir, "wait"), []byte("go\n"), 0o644), os.WriteFile(filepath.Join(g.dir, "go"), nil, 0o644)); err != nil {
			g.t.Fatal(err)
		}
		if told = <-done; strings.Contains(told, `"timed_out":true`) {
			g.t.Errorf("%s: the program did not see that it may go on: %s", c.name, told)
		}
		g.personStays(c.name, was, told)
		if !has(g.dir, mark) && !strings.Contains(told, "told Nothing that") {
			g.t.Errorf("%s: nobody is told that nothing was applied: %s", c.name, told)
		}
	} else {
		g.t.Errorf("%s: the program ended: %s", c.name, told)
	}
	g.restore(c.name)
}

// until waits until something is so. It gives what the program said if it ends before.
func (g *ground) until(done chan string, is func() bool) string {
	g.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		select {
		case told := <-done:
			return told
		case <-time.After(5 * time.Millisecond):
		}
		if is() {
			return ""
		}
	}
	g.t.Fatal("the program does not come so far")
	return ""
}

// personStays compares what there is with what a person left.
func (g *ground) personStays(name, was, told string) {
	g.t.Helper()
	g.openUp(g.dir)
	now := strings.Split(inventory(g.t, g.dir), "\n")
	before := strings.Split(was, "\n")
	for _, line := range before {
		if !strings.HasPrefix(line, "wait ") && !slices.Contains(now, line) {
			g.t.Errorf("%s: the person's %.200q is gone, there is\n%.3000s\n%s", name, line, differ(was, strings.Join(now, "\n")), told)
			return
		}
	}
	for _, line := range now {
		path, _, _ := strings.Cut(line, " ")
		known := slices.ContainsFunc(before, func(l string) bool { return strings.HasPrefix(l, path+" ") })
		if !known && path != "go" && path != "" && (g.mode == "default" || obeyed(path)) {
			g.t.Errorf("%s: %.200q is new\n%s", name, line, told)
		}
	}
	if other := g.outsideNow(); !strings.HasSuffix(g.before, other) && !strings.Contains(name, "home") && !strings.Contains(name, "out of") {
		g.t.Errorf("%s: something changed outside:\n%s", name, differ(g.before, other))
	}
}

// besideGround is a repository with a script that is no hook yet, and branches.
func besideGround(g *ground) {
	g.shell(g.dir, "rm -rf .git; git init -q -b main; git config user.name a; git config user.email a@b; mkdir .git/hooks")
	g.put(map[string]string{
		"tools/hook": "old\n", "tools/sub/x": "x\n", "conf/x": "x\n", ".mcp.json": "{}", ".husky/_/x": "x", ".git/hooks/x.sample": "x", ".envrc": "old\n", "src/a": "a\n", "wait": "wait\n", ".gitignore": ".env\nwait\n*~\n", ".vscode/settings.json": "{}", ".vscode/sub/y": "",
		".aws/sub/y": "", "dist/run": "old\n", "dist/sub/x": "", "top": "top\n",
	})
	g.shell(g.dir, `git add .; git commit -qm x; git checkout -qb other; echo other | tee .envrc tools/hook > .mcp.json; mkdir .windsurf; echo x | tee .gitlab-ci.yml > .windsurf/mcp.json; git add .; git commit -qm y
git checkout -qb without; git rm -qf .envrc .mcp.json tools/hook; git commit -qm z; git checkout -q main`)
}

// writes are what a program tries on all that people replace meanwhile.
const writes = `for f in .envrc .mcp.json src/a tools/hook tools/sub/x conf/x .git/config .git/hooks/pre-commit .husky/_/x conf2/x; do echo evil >> $f; done 2>/dev/null; mkdir -p .vscode; echo evil > .vscode/tasks.json`

// TestOldReplacedMeanwhile: what a person saves, moves, removes or checks out while a
// program runs stays as it is then.
func TestOldReplacedMeanwhile(t *testing.T) {
	save := func(names ...string) string { // as sed -i and most editors do
		return "for f in " + strings.Join(names, " ") + "; do echo new > $f.tmp; mv $f.tmp $f; done"
	}
	onGround(t, besideGround, nil, func(g *ground) {
		for i, c := range []beside{
			{"a new file in its place", writes, save(".env", "conf/.env", "src/a"), writes}, {"what is obeyed", writes, save(".envrc", ".mcp.json"), writes},
			{"as vim saves", "echo evil >> src/a; exec 9>>conf/x", "for f in .env .envrc src/a conf/x; do mv $f $f~; echo new > $f; done", "echo evil >&9; echo evil >> src/a"},
			{"written in place", "echo evil >> src/a; exec 9>>conf/x", "echo new > src/a; echo new > conf/x", "echo evil >&9; echo evil >> src/a"},
			{"git checkout", "echo evil >> tools/hook", "git checkout -q other", "echo evil >> tools/hook"}, {"git checkout of one without it", "echo evil >> tools/hook", "git checkout -q without", "echo evil >> tools/hook"},
			{"and back", "echo evil >> tools/hook", "git checkout -q without; git checkout -q other", "echo evil >> tools/hook; git checkout -q main"},
			{"git config", "git config core.fsmonitor evil; echo evil >> .git/config", "git config user.email x@example.com", "echo evil >> .git/config"},
			{"git clean", "echo mine > new; mkdir n; echo evil > n/.envrc", "echo hers > new; git clean -fdq -e wait; echo hers > n", "echo mine >> new"},
			{"a commit", "echo evil >> src/a; git add src/a; git commit -qm evil", "echo new > src/a; git commit -qam mine", "git commit -q --amend -m evil; git reset -q --hard HEAD"},
			{"the directory around it", "echo evil >> conf/x", "mv conf old; mkdir conf; echo new | tee conf/x > conf/.env", "echo evil >> conf/x; cat conf/.env > mine"},
			{"moved, and then replaced", "echo evil >> conf/x; exec 9>>src/a", "mv conf conf2; mv .env .env.local; mv src/a src/b; " + save("conf2/.env", ".env.local", "src/b"), "echo evil >&9; echo evil >> conf2/x; echo evil > src/a"},
			{"removed, and made again", "echo evil >> conf/x; rm src/a", "rm .env conf/.env conf/x src/a; echo new | tee .env conf/.env conf/x > src/a", "rm -f conf/x; echo evil > conf/x"},
			{"removed", "echo evil >> conf/x; echo evil > conf/new", "rm -r conf", "echo evil >> conf/x"},
			{"a file in the place of a directory", "echo evil > conf/new; echo evil >> conf/x", "rm -r conf; echo hers > conf", "echo evil > conf/newer"},
			{"a link in the place of a directory", "echo evil > conf/new; echo evil >> conf/x", "mv conf c2; ln -s ../other conf", "echo evil > conf/newer; echo evil > conf/file"},
			{"the same new name", "echo mine > fresh; mkdir nd; echo mine > nd/f", "echo hers > fresh; mkdir nd; echo hers > nd/f", "echo mine >> fresh"},
			{"made to run", "chmod 755 src/a", "echo new > src/a", "chmod 777 src/a"},
			{"a directory in a removed one", "rm -rf tools", "echo new > tools/new; mkdir tools/sub2; echo new > tools/sub2/f", "rm -rf tools"},
			{"a directory in a moved one", "mkdir n; mv tools n/tools", "echo new > tools/new; echo new > tools/hook", "echo evil >> n/tools/hook"},
		} {
			if g.skips(i, 2) {
				continue
			}
			g.tryBeside(c)
		}
	})
}

// TestOldLedElsewhere: while a program runs, a person leads git and others to files that
// the program has written to. What it wrote is not what they find there.
func TestOldLedElsewhere(t *testing.T) {
	link := func(from, to string) string {
		return "mkdir -p $(dirname " + from + "); ln -s " + to + " new.l; mv -T new.l " + from
	}
	hook := "echo evil > tools/hook"
	onGround(t, besideGround, nil, func(g *ground) {
		for i, c := range []beside{
			{"a hook by a link", hook, link(".git/hooks/pre-commit", "../../tools/hook"), hook}, {"a hook by a new link in a new directory", hook, "rm -r .git/hooks; " + link(".git/hooks/pre-commit", "../../tools/hook"), hook},
			{"a link deep in an obeyed directory", hook, link(".husky/_/pre-commit", "../../tools/hook"), hook}, {"a link in a new directory of an obeyed one", hook, link(".husky/new/pre-commit", "../../tools/hook"), hook},
			{"a link for a file that is obeyed", "echo evil > conf/x", link(".mcp.json", "conf/x"), "echo evil > conf/x"}, {"a directory of hooks", hook, "git config core.hooksPath tools", hook},
			{"a directory of hooks that is missing", "mkdir hooks2; echo evil > hooks2/pre-commit", "git config core.hooksPath hooks2", "echo evil > hooks2/pre-push"}, {"a file of settings", "echo evil > conf/x", "git config include.path ../conf/x", "echo evil > conf/x"},
			{"a program", hook, "git config core.fsmonitor tools/hook", hook}, {"settings written in place", hook, `printf '[core]\n\thooksPath = tools\n' >> .git/config`, hook},
			{"settings of the person at home", hook, `mkdir -p ../home/.config/git; printf '[core]\n\thooksPath = tools\n' > ../home/.config/git/config`, hook + `; : `},
			{"who stands in the directory", "cd tools/sub; echo evil > ../hook", link(".git/hooks/pre-commit", "../../tools/hook"), "echo evil > ../hook"}, {"the directory looks like a repository", "mkdir tools/objects tools/refs; echo x >tools/HEAD; " + hook, link(".git/hooks/pre-commit", "../../tools/hook"), hook},
			{"another repository names it first", "git init -q a; git -C a config core.hooksPath $PWD/tools; " + hook, link(".git/hooks/pre-commit", "../../tools/hook"), hook}, {"another name", "ln tools/hook mine", "git config core.hooksPath tools", "echo evil >> mine"},
			{"the file is open", "exec 9>>tools/hook; echo evil >&9", link(".git/hooks/pre-commit", "../../tools/hook"), "echo evil >&9"}, {"who stands in the directory of hooks", "cd tools/sub; echo evil > x", "git config core.hooksPath tools", "echo evil > ../hook"},
			{"a nested repository", hook, "git init -q tools2; ln -s ../../../tools/hook tools2/.git/hooks-x; mkdir -p tools2/.git/hooks; ln -s ../../../tools/hook tools2/.git/hooks/pre-commit", hook}, {"an editor of a part", "echo evil > conf/x", "mkdir -p src/.vscode; ln -s ../../conf/x src/.vscode/tasks.json", "echo evil > conf/x"},
			{"a file in the directory is mapped", `python3 -c 'import mmap, time; f = open("tools/hook", "r+"); m = mmap.mmap(f.fileno(), 0); m[0:4] = b"evil"; open("mapped", "w"); time.sleep(1000)' & p=$!; while [ ! -e mapped ]; do sleep 0.01; done`, "git config core.hooksPath tools", "kill $p"},
		} {
			if g.skips(i, 2) {
				continue
			}
			g.tryBeside(c)
		}
		if err := os.RemoveAll(filepath.Join(g.base, "home", ".config")); err != nil {
			t.Error(err)
		}
	})
}
