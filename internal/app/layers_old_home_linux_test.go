package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestOldHome: what the home of a person leads to by links and settings, or what was moved
// there, is neither read nor changed by way of the project.
func TestOldHome(t *testing.T) {
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\n" + maskedText + "\n-----END OPENSSH PRIVATE KEY-----\n"
	onGround(t, func(g *ground) {
		g.put(map[string]string{
			"my.inc": "x", "hooks/pre-commit": "x", "tools/clean": "x", "src/b": "b", "ssh/cfg": maskedText, "fish/conf/a": maskedText, "fish/b": "x", "hosts/h": maskedText, "k8s/config": maskedText, "k8s/job.yaml": "x", "dot/gcloud/a": maskedText, "dot/other": "x", "outside/config": "x",
			"cloud/a": "x", "store/cr": maskedText, "store/k": maskedText, "bashrc": "x", "settings": "x", "key": key, "dots/vimrc": "x",
			"../home/.config/git/config": "[core]\n\thooksPath = " + g.dir + "/hooks\n\tpager = " + g.dir + "/tools/clean\n[include]\n\tpath = " + g.dir + "/my.inc\n[include]\n\tpath = " + g.dir + "/missing.inc\n",
		})
		g.link(map[string]string{
			"../home/.ssh/config": "../../work/ssh/cfg", "../home/.config/fish/conf.d": g.dir + "/fish/conf", "../home/.config/gh/hosts.yml": g.dir + "/cur/h", "cur": "hosts", ".kube": "k8s", ".config": "dot", ".docker": "../outside", ".aws": "cloud", "cloud/credentials": "../store/cr", "../home/.zshrc": "../work/dots/vimrc",
			"../home/.aws/credentials": g.dir + "/store/k",
		})
		// What lay in the project once has a name there still.
		g.shell(g.dir, "mkdir b; for f in bashrc settings key; do ln $f b/$f; done; mkdir -p ../home/.claude; mv bashrc ../home/.bash_profile; mv settings ../home/.claude/settings.json; mv key ../home/.ssh/id_work")
		g.again = "ln -f home/.bash_profile work/b/bashrc; ln -f home/.claude/settings.json work/b/settings; ln -f home/.ssh/id_work work/b/key"
	}, nil, func(g *ground) {
		g.watch("my.inc", "missing.inc", "hooks", "tools/clean", "ssh/cfg", "fish/conf", "hosts", "cur", "k8s/config", "store", "cloud/credentials", ".kube", ".aws", ".config", "b", "dots/vimrc")
		for i, lines := range [][]string{
			{"echo evil >> my.inc"}, {"echo evil > missing.inc"}, {"echo evil > hooks/pre-commit"}, {"echo evil > hooks/new"}, {"echo evil > tools/clean"}, {"mv hooks h; mkdir hooks; echo evil > hooks/pre-commit"}, {"mv tools t; cp -r t tools; echo evil > tools/clean"}, {"echo evil > dots/vimrc"}, {"mv dots d; mkdir dots; echo evil > dots/vimrc"},
			{"cat ssh/cfg fish/conf/* hosts/h cur/h k8s/config .kube/config dot/gcloud/a store/* cloud/credentials b/*; grep -r . .; tar cf - . | tr -d '\\0'"}, {"rm cur; ln -s fish cur", "cat hosts/h"}, {"rm .kube", "cat k8s/config"}, {"mv .kube kube; ln -s dot .kube", "cat k8s/config"}, {"rm .aws .config", "cat store/cr dot/gcloud/a"},
			{"rm cloud/credentials; mv cloud c", "cat store/cr"}, {"mv k8s k; cat k/config; mv dot d; cat d/gcloud/a; mv fish f; cat f/conf/a; mv store s; cat s/*; mv ssh s2; cat s2/cfg", "cat k/config d/gcloud/a f/conf/a s/k s2/cfg"}, {"echo evil >> b/bashrc; chmod 777 b/bashrc"}, {"echo evil >> b/settings"}, {"cat b/key; cp b/key k; cat k; ln b/key k2; cat k2", "cat b/key k k2"},
			{"mv b c; echo evil >> c/bashrc; cat c/key", "cat c/key; echo evil >> c/settings"}, {"mkdir c; mv b/bashrc c/; echo evil > c/bashrc"},
		} {
			if g.skips(i, 1) {
				continue
			}
			g.try(strings.Join(lines, " | "), lines...)
		}
	})
}

// TestOldApprovedWrite: a program that runs while a person allows a write to what others
// obey cannot change what is written, neither by the file's own name nor by one that it has
// for a moment.
func TestOldApprovedWrite(t *testing.T) {
	onGround(t, func(g *ground) { g.put(map[string]string{".mcp.json": "{}", "wait": "wait\n"}) }, nil, func(g *ground) {
		g.a.Crib.Approver = approverFunc(func(_ context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
			if q.Spec.Name == "write_file" || q.Spec.Name == "delete_file" {
				return toolcrib.Answer{Decision: toolcrib.Allow, By: "test"}, nil
			}
			return toolcrib.Answer{}, &toolcrib.Error{Code: toolcrib.CodeTimeout, Message: "nobody answered in time"}
		})
		done := make(chan string, 1)
		go func() {
			done <- g.run("beside a write", "", "exec 2>/dev/null; : > began; until grep -q go wait; do echo evil >> .mcp.json; for f in .toolcrib-*; do exec 3<>$f && echo evil >&3; done; mkdir -p .vscode; echo evil > .vscode/tasks.json; sleep 0.01; done")
		}()
		if told := g.until(done, func() bool {
			began, err := filepath.Glob(filepath.Join(g.base, "state", "layers", "*", "*", "upper", "began"))
			return err == nil && len(began) > 0
		}); told != "" {
			t.Fatal(told)
		}
		for i := range 10 {
			for path, text := range map[string]string{".mcp.json": fmt.Sprint("approved ", i), ".vscode/tasks.json": fmt.Sprint("mine ", i)} {
				input := fmt.Sprintf(`{"path":%q,"content":%q}`, filepath.Join(g.dir, path), text)
				if _, err := g.a.Crib.Call(t.Context(), toolcrib.Call{Tool: "write_file", Input: []byte(input), Caller: toolcrib.Caller{Subject: "test"}}); err != nil {
					g.t.Fatal(err)
				}
				holds(g.t, filepath.Join(g.dir, path), text)
			}
		}
		if err := os.WriteFile(filepath.Join(g.dir, "wait"), []byte("go\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if told := <-done; !strings.Contains(told, "told Nothing") {
			g.t.Errorf("told %s", told)
		}
		holds(g.t, filepath.Join(g.dir, ".mcp.json"), "approved 9")
		holds(g.t, filepath.Join(g.dir, ".vscode", "tasks.json"), "mine 9")
	})
}

// TestOldManyAtOnce: many commands at once, some of which run out of time with children
// that do not want to die, leave no layer, and change nothing that nobody allowed.
func TestOldManyAtOnce(t *testing.T) {
	onGround(t, nil, nil, func(g *ground) {
		g.a.Crib.Approver = nil
		var all sync.WaitGroup
		for i := range 24 {
			all.Go(func() {
				script, most := "! mkdir .vscode; echo evil | tee .vscode/tasks.json .envrc > a; mkdir deep; git init -q sub; exit 7", 60
				if i%8 == 0 {
					script, most = "echo evil > .envrc; trap '' TERM HUP; setsid sh -c 'trap \"\" TERM; sleep 1000' & while :; do echo evil >> a; sleep 0.1; done", 2
				}
				out, err := runCommand(t.Context(), g.a, script, most)
				if err != nil || out.TimedOut != (i%8 == 0) {
					g.t.Errorf("%d: %+v, %v", i, out, err)
				}
			})
		}
		all.Wait()
		g.judge("many at once", "")
		left, err := filepath.Glob(filepath.Join(g.base, "state", "layers", "*", "lock"))
		for _, l := range left {
			if !strings.Contains(l, "/applied-") {
				g.t.Errorf("the layer %s is left, %v", l, err)
			}
		}
	})
}

// TestOldAfterDeath: what a program did is dropped if Toolcrib is killed before it ends, and
// the program ends with it.
func TestOldAfterDeath(t *testing.T) {
	open := func(base string) (*App, error) {
		cfg := settings.Defaults()
		cfg.Toolboxes.Shell.AllowShell, cfg.Sandbox.Layers, cfg.Mode = true, true, "auto-edit"
		return Open(t.Context(), cfg, Needs{State: filepath.Join(base, "state"), Dir: filepath.Join(base, "work"), Home: filepath.Join(base, "home"), Private: []string{filepath.Join(base, "state")}})
	}
	if base := os.Getenv("OLD_DEATH_TEST"); base != "" {
		a, err := open(base)
		if err != nil {
			t.Fatal(err)
		}
		_, err = runCommand(t.Context(), a, swap+"evil sub; git init -q good; echo evil > a; rm -r src; : > made; while :; do echo x >> beat; sleep 0.01; done", 600)
		t.Fatal(err) // we are killed
	}
	onGround(t, nil, nil, func(g *ground) {
		c := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestOldAfterDeath$")
		c.Env = append(os.Environ(), "OLD_DEATH_TEST="+g.base)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		gone := make(chan string, 1)
		go func() { gone <- fmt.Sprint(c.Wait()) }()
		var beats []string
		if told := g.until(gone, func() bool {
			beats, _ = filepath.Glob(filepath.Join(g.base, "state", "layers", "*", "*", "upper", "beat"))
			return len(beats) > 0
		}); told != "" {
			t.Fatal(told)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-gone
		again, err := open(g.base) // which drops what is left
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := again.Close(context.Background()); err != nil {
				g.t.Error(err)
			}
		}()
		if now := inventory(g.t, g.dir); now != g.whole {
			g.t.Errorf("something was applied:\n%s", differ(g.whole, now))
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) { // the program may still be about to end
			if _, err := os.Lstat(beats[0]); errors.Is(err, os.ErrNotExist) {
				return
			}
			if time.Now().After(end) {
				g.t.Fatal("the layer is left")
			}
			if _, err := open(g.base); err != nil {
				t.Fatal(err)
			}
		}
	})
}
