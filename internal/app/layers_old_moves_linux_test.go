package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// mapping has a file mapped, and its name gone.
const mapping = `python3 -c '
import mmap, os, time
os.link("tools/hook", "x"); f = open("x", "r+"); m = mmap.mmap(f.fileno(), 0); f.close(); os.remove("x"); open("mapped", "w")
while not os.path.exists("go"): time.sleep(0.01)
m[0:4] = b"evil"' & while [ ! -e mapped ]; do sleep 0.01; done`

// TestOldArrivals: what a person puts where others obey it, or moves elsewhere, is out of
// reach of a program that has it open, stands there, or has another name for it.
func TestOldArrivals(t *testing.T) {
	deep := "mkdir -p " + strings.Repeat("d/", 140) + "; cd " + strings.Repeat("d/", 140) + "; "
	const writeOpen = "echo evil >&9; echo evil >> mine; echo evil > hook; echo evil > new"
	move := func(from, to string) string {
		return "mkdir -p $(dirname " + to + "); [ ! -d " + to + " ] || rm -r " + to + "; mv -T " + from + " " + to
	}
	onGround(t, besideGround, nil, func(g *ground) {
		var cases []beside
		for _, c := range [][3]string{ // what the program does, and what a person moves, to where
			{"exec 9>>tools/hook", "tools/hook", ".git/hooks/pre-commit"}, {"exec 9<tools/hook", "tools/hook", ".vscode/tasks.json"}, {"exec 9>>tools/hook", "tools/hook", ".vscode/sub/x"}, {"ln tools/hook mine", "tools/hook", ".git/hooks/pre-commit"},
			{"ln tools/hook mine", "tools", ".husky"}, {deep + "ln $OLDPWD/tools/hook mine", "tools/hook", ".git/hooks/pre-commit"}, {deep + "ln $OLDPWD/tools/hook mine", "tools/hook", ".mcp.json"}, {"cd tools", "tools", ".vscode/new"}, {"cd tools/sub", "tools", ".vscode/sub/new"},
			{"exec 9>>tools/hook", "tools", ".vscode/new"}, {"exec 9<tools", "tools", ".vscode/new"}, {"cd tools", "tools", ".git/hooks"}, {"exec 9>>tools/hook", "tools", ".git/hooks"}, {"ln tools/hook x; exec 9>>x; rm x", "tools", ".vscode"}, {"ln tools/hook x; exec 9>>x", "tools", ".vscode/new"},
			{mapping, "tools", ".vscode"}, {"cp $(command -v sleep) tools/sleep; tools/sleep 1000 &", "tools/hook", ".git/hooks/pre-commit"}, {"exec 9>>tools/hook", "tools/hook", ".git/config"}, {"exec 9<tools/hook", "tools/hook", ".aws/config"}, {"cd tools", "tools", ".aws/sub/new"},
			{"ln tools/hook mine", "tools/hook", ".aws/sub/x"}, {"exec 9<.vscode/sub/y", ".vscode/sub", ".git/hooks/sub"}, {"exec 9>>src/a", "src/a", ".env"}, {"python3 -c 'import ctypes; ctypes.CDLL(None).prctl(4, 0)'; exec 9<src/a", "src/a", ".env"},
			// Out of the project, or to another place in it.
			{"cd dist", "dist", "../other/x"}, {"cd dist/sub; echo evil > y", "dist", "../other/x"}, {"exec 9>>dist/run", "dist/run", "../other/x"}, {"exec 9<top", "top", "../other/x"}, {"exec 9>>dist/run; echo evil >&9", "dist", "../other/x"}, {"cd conf; echo evil > y", "conf", "../other/x"},
			{"exec 9>>conf/x; ln conf/x conf/y", "conf/x", "../other/x"}, {"cd dist; exec 9>>run", "dist", "src/dist"}, {"exec 9>>conf/x", "conf/x", "src/c"},
			{"exec 9>>src/a", "src/a", "../home/.bashrc"}, {"ln src/a mine", "src/a", "../home/.ssh/id_work"}, {"ln src/a mine", "src/a", "../home/.claude/settings.json"},
		} {
			cases = append(cases, beside{c[1] + " to " + c[2] + " after " + c[0][:min(len(c[0]), 30)], c[0], move(c[1], c[2]), writeOpen + "; echo evil >> " + c[1] + "/y; for j in $(jobs -p); do kill $j; done"})
		}
		for i, c := range cases {
			if g.skips(i, 2) {
				continue
			}
			if !strings.Contains(c.name, " to ../") {
				g.tryBeside(c)
				continue
			}
			before := g.before
			c.name = "out of it: " + c.name
			c.person += "; (cd ../home; tar cf ../person.tar .); (cd ../other; tar cf ../person2.tar .)"
			g.tryBeside(c)
			// What the person has outside by now is as it was when it came there.
			g.shell(g.base, "mkdir p p2; tar xf person.tar -C p; tar xf person2.tar -C p2; diff -r p home; diff -r p2 other; rm -rf p p2 person*.tar other/x home/.ssh/id_work home/.claude; echo 'true' > home/.bashrc; chmod 644 home/.bashrc")
			if g.before = g.look(); g.before != before {
				t.Fatalf("it is not as before:\n%s", differ(before, g.before))
			}
		}
	})
}

// TestOldTreesBeside: work trees, clones and submodules that a person makes while a program
// runs are hers, and the program changes nothing in them.
func TestOldTreesBeside(t *testing.T) {
	const evil = "for d in tree clone sub wt; do mkdir -p $d/.vscode; echo evil | tee $d/.claude/settings.json $d/.mcp.json $d/.git $d/src/a $d/new > $d/.vscode/tasks.json; git -C $d config core.fsmonitor evil; done 2>/dev/null"
	onGround(t, besideGround, nil, func(g *ground) {
		g.shell(g.base, "git init -q lib; cd lib; echo x > file; git add .; git commit -qm x")
		for i, c := range []beside{
			{"a work tree", "mkdir evil; echo 'gitdir: ../.git/worktrees/tree' > evil/.git", "git worktree add -q tree -b mine", evil}, {"a clone", "mkdir clone; echo evil > clone/.envrc", "rmdir clone 2>/dev/null; git clone -q . clone", evil},
			{"a submodule", ":", "git submodule --quiet add " + g.base + "/lib sub", evil}, {"all of them", evil, "git submodule --quiet add " + g.base + "/lib sub; git worktree add -q wt; git clone -q . clone", evil},
			{"a repository", "mkdir clone; git init -q clone; git -C clone config core.fsmonitor evil", "git init -q clone; git -C clone config user.name a", "git -C clone config core.pager evil"},
			{"linked to a store", "echo evil >> src/a", "ln ../other/file tmp; mv tmp .mcp.json; ln ../other/file tmp; mv tmp src/a; ln ../other/file .git/hooks/pre-commit", "for f in .mcp.json src/a .git/hooks/pre-commit; do echo evil >> $f; chmod 777 $f; done"},
		} {
			if g.skips(i, 1) {
				continue
			}
			g.tryBeside(c)
		}
	})
}

// TestOldGrantMoved: where a person gives the granted directory another name, and puts
// another one in its place, a program that runs changes neither.
func TestOldGrantMoved(t *testing.T) {
	for _, person := range []string{"mv work work2", "mv work work2; mkdir work; echo hers > work/a; echo hers > work/wait", "mv work work2; ln -s other work", "mv work work2; cp -a work2 work; echo hers > work/a"} {
		onGround(t, func(g *ground) { g.put(map[string]string{"wait": "wait\n"}) }, nil, func(g *ground) {
			done := make(chan string, 1)
			go func() {
				done <- g.run(person, "", g.words("echo mine > a; echo mine > new; mkdir n; echo evil > n/.envrc; git init -q sub; git -C sub config core.fsmonitor 'touch MARK; false'; : > began; until grep -q go wait; do sleep 0.01; done"))
			}()
			if told := g.until(done, func() bool {
				began, err := filepath.Glob(filepath.Join(g.base, "state", "layers", "*", "*", "upper", "began"))
				return err == nil && len(began) > 0
			}); told != "" {
				g.t.Fatal(told)
			}
			g.shell(g.base, person)
			g.shell(g.base, "echo go > work2/wait")
			look := func() string {
				text := inventory(g.t, filepath.Join(g.base, "work2")) + g.outsideNow() + entry(filepath.Join(g.base, "work"), "work")
				if has(g.base, "work") {
					text += inventory(g.t, filepath.Join(g.base, "work"))
				}
				return text
			}
			was := look()
			told := <-done
			if now := look(); now != was {
				g.t.Errorf("%s: something changed:\n%s\n%s", person, differ(was, now), told)
			}
		})
	}
}

// TestOldRaces: while directories are moved to and fro and builds make and remove files, a
// program reads nothing that is protected, and what is moved stays whole.
func TestOldRaces(t *testing.T) {
	onGround(t, func(g *ground) {
		g.put(map[string]string{"conf/.env": "PASSWORD=" + maskedText + "\n", "q/x": "x\n"})
	}, nil, func(g *ground) {
		ctx, stop := context.WithCancel(t.Context())
		var movers sync.WaitGroup
		for _, moves := range [][][2]string{{{"conf", "c2"}, {"c2", "conf"}}, {{"q", "q2"}, {"src", "q"}, {"q", "src"}, {"q2", "q"}}} {
			movers.Go(func() {
				for ctx.Err() == nil {
					for _, m := range moves {
						_ = os.Rename(filepath.Join(g.dir, m[0]), filepath.Join(g.dir, m[1])) // a full round comes back to the start
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		for i := range 4 {
			g.run("a race", "", "for i in $(seq 15); do cat conf/.env c2/.env; mv conf c3; echo evil >> src/x.go; rm -rf q; done 2>/dev/null; echo "+strings.Repeat("x", i))
		}
		stop()
		movers.Wait()
		if text, err := os.ReadFile(filepath.Join(g.dir, "conf", ".env")); err != nil || string(text) != "PASSWORD="+maskedText+"\n" {
			t.Errorf("%q, %v", text, err)
		}
	})
}
