//go:build amd64 || arm64

package linux

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// speech is what a program says while it runs.
type speech struct {
	mu   sync.Mutex
	text bytes.Buffer
	end  func() toolcrib.Exit
	over chan struct{} // closed when the program has ended
}

func (s *speech) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *speech) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// longJob runs a script in the background until the test ends.
func longJob(t *testing.T, s *Sandbox, root, script string) (said *speech, end func() toolcrib.Exit) {
	t.Helper()
	return longJobIn(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, script)
}

// longJobIn is longJob with any grant.
func longJobIn(t *testing.T, s *Sandbox, grant toolcrib.Grant, script string) (said *speech, end func() toolcrib.Exit) {
	t.Helper()
	grant.Time = 2 * time.Minute
	said = &speech{over: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan toolcrib.Exit, 1)
	go func() {
		cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: said, Stderr: said}
		exit, err := s.Run(ctx, cmd, grant)
		if err != nil && ctx.Err() == nil {
			t.Error(err)
		}
		done <- exit
		close(said.over)
	}()
	end = sync.OnceValue(func() toolcrib.Exit { cancel(); return <-done })
	said.end = end
	t.Cleanup(func() { end() })
	return said, end
}

// rounds waits until a program has said one and the same thing some times in a
// row. It may say something else before: for a moment a file lies open.
func (s *speech) rounds(t *testing.T, what string) {
	t.Helper()
	if !s.comes(t, what) {
		t.Fatalf("the program had a file open: %+v", s.end())
	}
}

// comes is rounds for a program that opens files all the time. It may have one
// open at the very moment in which it is covered, and is ended then.
func (s *speech) comes(t *testing.T, what string) bool {
	t.Helper()
	from := len(s.String())
	for range 3000 { // the machine may be busy
		lines := strings.Split(s.String()[from:], "\n")
		if lines = lines[:len(lines)-1]; len(lines) > 4 && !slices.ContainsFunc(lines[len(lines)-4:], func(l string) bool { return l != what }) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	if s.end != nil {
		exit := s.end()
		if slices.ContainsFunc(exit.Notes, func(n string) bool {
			return strings.Contains(n, ": "+errOpened.Error()) && !strings.Contains(n, "cannot be seen")
		}) {
			return false
		}
		t.Logf("it ended with %+v", exit)
	}
	t.Fatalf("the program never came to %q; it said %.400q at the end", what, s.String()[max(from, len(s.String())-400):])
	return false
}

// TestReplacedWhileRunning: what a person replaces, moves or removes while a
// program runs is covered again, and the program lives on.
func TestReplacedWhileRunning(t *testing.T) {
	const watcher = `while :; do
		s=shut
		for f in .env conf/.env conf2/.env .env.local; do (: <$f) 2>/dev/null && s="$s $f"; done
		for f in .envrc .mcp.json .git/config; do (echo evil >>$f) 2>/dev/null && s="$s wrote-$f"; done
		mkdir .vscode 2>/dev/null && s="$s made" && echo evil >.vscode/tasks.json
		echo "$s"; sleep 0.01
	done`
	save := func(t *testing.T, root, name, text string) { // as sed -i and most editors do
		t.Helper()
		put(t, root, map[string]string{name + ".tmp": text})
		if err := os.Rename(filepath.Join(root, name+".tmp"), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	late := false
	run := func(t *testing.T, root string, args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), args[0], args[1:]...)
		c.Dir, c.Env = root, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C")
		out, err := c.CombinedOutput()
		// On a busy machine git may be so slow that a directory lies already where the
		// file is missing, and is in its way.
		if err != nil && strings.Contains(string(out), "would be overwritten") {
			late = true
			return
		}
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	attempt := func(t *testing.T, act func(t *testing.T, root string)) bool {
		t.Helper()
		shield := obeyedShield(t, filepath.Join(t.TempDir(), "holds"))
		shield.WriteGit = true
		s := open(t, Config{Shield: shield})
		root := tempProject(t)
		put(t, root, map[string]string{".env": "old", "conf/.env": "old", "src/a": "a", ".envrc": "old", ".mcp.json": "{}", ".gitignore": ".env\n*~\n"})
		run(t, root, "git", "init", "-q", "-b", "main")
		run(t, root, "git", "config", "user.name", "a")
		run(t, root, "git", "config", "user.email", "a@example.com")
		for _, branch := range []string{"main", "other", "without"} {
			if branch != "main" {
				run(t, root, "git", "checkout", "-qb", branch)
				put(t, root, map[string]string{".envrc": branch, ".mcp.json": branch})
			}
			if branch == "without" {
				run(t, root, "git", "rm", "-qf", ".envrc", ".mcp.json")
			} else {
				run(t, root, "git", "add", ".envrc", ".mcp.json", "src", ".gitignore")
			}
			run(t, root, "git", "commit", "-qm", branch)
		}
		run(t, root, "git", "checkout", "-q", "main")
		said, end := longJob(t, s, root, watcher)
		said.rounds(t, "shut")
		late = false
		act(t, root)
		if late || !said.comes(t, "shut") {
			return false
		}
		before := len(said.String())
		for _, name := range []string{".env", ".envrc", "conf/.env"} { // nothing is open by now
			if info, err := os.Stat(filepath.Join(root, name)); err == nil && info.Mode().IsRegular() {
				put(t, root, map[string]string{name: "later"})
			}
		}
		said.rounds(t, "shut")
		if late := said.String()[before:]; strings.Contains(late, ".env") || strings.Contains(late, "wrote") || strings.Contains(late, "made") {
			t.Errorf("afterwards: %q", late)
		}
		if exit := end(); slices.ContainsFunc(exit.Notes, func(n string) bool { return !strings.Contains(n, "If it was not you") }) {
			t.Errorf("%q", exit.Notes)
		}
		return true
	}
	for _, c := range []struct {
		name string
		act  func(t *testing.T, root string)
	}{
		{"a new file in its place", func(t *testing.T, root string) { save(t, root, ".env", "new"); save(t, root, "conf/.env", "new") }},
		{"what is obeyed", func(t *testing.T, root string) { save(t, root, ".envrc", "new"); save(t, root, ".mcp.json", "new") }},
		{"as vim saves", func(t *testing.T, root string) {
			for _, name := range []string{".env", ".envrc", "conf/.env"} {
				name = filepath.Join(root, name)
				if err := os.Rename(name, name+"~"); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte("new"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{"git checkout", func(t *testing.T, root string) { run(t, root, "git", "checkout", "-q", "other") }},
		{"git checkout of one without it", func(t *testing.T, root string) { run(t, root, "git", "checkout", "-q", "without") }},
		{"and back", func(t *testing.T, root string) {
			run(t, root, "git", "checkout", "-q", "without")
			run(t, root, "git", "checkout", "-q", "other")
		}},
		{"git config", func(t *testing.T, root string) { run(t, root, "git", "config", "user.email", "x@example.com") }},
		{"git clean", func(t *testing.T, root string) { run(t, root, "git", "clean", "-fdq") }},
		{"the directory around it", func(t *testing.T, root string) {
			if err := os.Rename(filepath.Join(root, "conf"), filepath.Join(root, "old")); err != nil {
				t.Fatal(err)
			}
			put(t, root, map[string]string{"conf/.env": "new"})
		}},
		{"moved, and then replaced", func(t *testing.T, root string) {
			for _, name := range []string{"conf", ".env"} {
				if err := os.Rename(filepath.Join(root, name), filepath.Join(root, map[string]string{"conf": "conf2", ".env": ".env.local"}[name])); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(2 * settleGrace) // all is covered by now
			save(t, root, "conf2/.env", "new")
			save(t, root, ".env.local", "new")
		}},
		{"moved and replaced at once", func(t *testing.T, root string) {
			if err := os.Rename(filepath.Join(root, "conf"), filepath.Join(root, "conf2")); err != nil {
				t.Fatal(err)
			}
			save(t, root, "conf2/.env", "new")
		}},
		{"removed, and made again later", func(t *testing.T, root string) {
			for _, name := range []string{".env", "conf/.env"} {
				if err := os.Remove(filepath.Join(root, name)); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(2 * settleGrace) // the program goes on without it
			put(t, root, map[string]string{".env": "new", "conf/.env": "new"})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath("git"); err != nil {
				t.Skip("there is no git on this machine")
			}
			for range 5 {
				if attempt(t, c.act) {
					return
				}
			}
			t.Error("each time the program had a file open, or git was late")
		})
	}
}

// TestCloseWhileCovering: a sandbox that is closed while something is covered
// anew ends at once.
func TestCloseWhileCovering(t *testing.T) {
	for range 8 {
		s, err := Open(t.Context(), Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
		if toolcrib.CodeOf(err) == toolcrib.CodeUnavailable {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		root := tempProject(t)
		put(t, root, map[string]string{".env": "old"})
		said := &speech{}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "while :; do echo shut; sleep 0.01; done"}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: said}
			_, _ = s.Run(t.Context(), cmd, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: time.Minute}) // it is closed
		}()
		said.rounds(t, "shut")
		put(t, root, map[string]string{"tmp": "new"})
		if err := os.Rename(filepath.Join(root, "tmp"), filepath.Join(root, ".env")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(10 * time.Millisecond)) // any moment of it
		began := time.Now()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-ended
		if took := time.Since(began); took > killGrace-time.Second {
			t.Errorf("it took %s", took)
		}
	}
}

// TestGrantMovedWhileRunning: a program whose granted directory gets another name
// is ended. What is looked for by the old name is not what it sees.
func TestGrantMovedWhileRunning(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
	mark := filepath.Join(t.TempDir(), "mark")
	root := filepath.Join(tempProject(t), "project")
	put(t, root, map[string]string{".env": "old"})
	said := &speech{}
	ended := make(chan toolcrib.Exit, 1)
	go func() {
		script := "git init -q sub; git -C sub config core.fsmonitor 'touch " + mark + "; false'; while :; do echo shut; sleep 0.01; done"
		cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin", "HOME=/tmp"}, Stdout: said}
		exit, err := s.Run(t.Context(), cmd, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: 2 * time.Minute})
		if err != nil {
			t.Error(err)
		}
		ended <- exit
	}()
	said.rounds(t, "shut")
	if err := os.Rename(root, root+"2"); err != nil {
		t.Fatal(err)
	}
	if exit := <-ended; exit.Signal == "" || len(exit.Notes) == 0 || !strings.Contains(exit.Notes[0], root) {
		t.Errorf("%+v", exit)
	}
	// And what it made is judged there, and its placeholders are gone.
	c := exec.CommandContext(t.Context(), "git", "status")
	c.Dir = filepath.Join(root+"2", "sub")
	_ = c.Run() // there is no repository any more
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
	left, err := os.ReadDir(root + "2")
	if err != nil || len(left) != 2 {
		t.Errorf("%v stay, error %v", left, err)
	}
}

// TestLossesLeakNothing: covering again and again opens nothing that stays open.
func TestLossesLeakNothing(t *testing.T) {
	s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
	root := tempProject(t)
	put(t, root, map[string]string{".env": "old"})
	said, _ := longJob(t, s, root, "while :; do echo shut; sleep 0.01; done")
	said.rounds(t, "shut")
	before := entries(t, "/proc/self/fd")
	for range 20 {
		put(t, root, map[string]string{"tmp": "new"})
		if err := os.Rename(filepath.Join(root, "tmp"), filepath.Join(root, ".env")); err != nil {
			t.Fatal(err)
		}
		said.rounds(t, "shut")
	}
	if after := entries(t, "/proc/self/fd"); after > before+8 {
		t.Errorf("%d files were open, then %d", before, after)
	}
}

// TestOpenedBeforeItIsCovered: who has a file open, or on its way in a socket,
// when it takes the place of a protected one is ended; who gave it another name
// finds that covered.
func TestOpenedBeforeItIsCovered(t *testing.T) {
	for _, c := range []struct {
		name, script string
		lives        bool
	}{
		{"for reading", `exec 9<tmp`, false},
		{"for writing", `exec 9<>tmp`, false},
		{"in the background", `(exec 9<tmp; echo has; sleep 1000) & sleep 1000`, false},
		{"mapped", `python3 -c '
import mmap, os, time
f = os.open("tmp", os.O_RDONLY); m = mmap.mmap(f, 0, mmap.MAP_SHARED, mmap.PROT_READ); os.close(f)
print("has", flush=True); time.sleep(1000)' & sleep 1000`, false},
		{"in a socket", `python3 -c '
import socket, os, time
a, b = socket.socketpair(); f = os.open("tmp", os.O_RDONLY); socket.send_fds(a, [b"x"], [f]); os.close(f)
print("has", flush=True); time.sleep(1000)' & sleep 1000`, false},
		{"not seen", `python3 -c '
import ctypes, os, time
ctypes.CDLL(None).prctl(4, 0); f = os.open("tmp", os.O_RDONLY)
print("has", flush=True); time.sleep(1000)' & sleep 1000`, false},
		{"for reading what is only obeyed", `exec 9<tree/tasks.json`, false},
		{"a directory in it", `cd tree/sub`, false},
		{"by one that has ended", `{ python3 -c '
import os, time
f = os.open("tmp", os.O_RDONLY)
child = os.fork()
if child == 0: os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
os.close(f); open("forked", "w"); time.sleep(1000)' & }; until [ -e forked ]; do sleep 0.01; done`, true}, // and nobody waits for it
		{"another name", `ln tmp mine`, true},
		{"nothing", `:`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			needsPython(t, c.script)
			s := open(t, Config{Shield: obeyedShield(t, filepath.Join(t.TempDir(), "holds"))})
			root := tempProject(t)
			put(t, root, map[string]string{".env": "old", "tmp": "new", "tree/tasks.json": "{}", "tree/sub/x": "x"})
			said := &speech{}
			ended := make(chan toolcrib.Exit, 1)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				// What is there is not opened before it is covered.
				script := c.script + "; echo has; while :; do if [ -s mine ]; then echo open; else cat mine 2>/dev/null || echo shut; fi; sleep 0.01; done"
				cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: said, Stderr: said}
				exit, _ := s.Run(ctx, cmd, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}, Time: 2 * time.Minute}) // it is ended
				ended <- exit
			}()
			for range 3000 {
				if strings.Contains(said.String(), "has") {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if err := os.Rename(filepath.Join(root, "tmp"), filepath.Join(root, ".env")); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(c.script, "tree") { // where a placeholder lies, which a directory may replace
				if err := unix.Rename(filepath.Join(root, "tree"), filepath.Join(root, ".vscode")); err != nil {
					t.Fatal(err)
				}
			}
			if c.lives {
				said.rounds(t, "shut")
				cancel()
			}
			exit := <-ended
			cancel()
			if c.lives == slices.ContainsFunc(exit.Notes, func(n string) bool { return strings.Contains(n, "open") }) {
				t.Errorf("%+v; it said %.300q", exit, said)
			}
		})
	}
}
