package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// layerProject is a workshop whose commands work on layers, with a few files.
func layerProject(t *testing.T, change func(*settings.Config)) (*App, string) {
	t.Helper()
	a, dir := workshop(t, func(c *settings.Config) {
		c.Mode, c.Sandbox.Layers = "default", true
		if change != nil {
			change(c)
		}
	})
	for name, text := range map[string]string{"a": "one\n", "src/x.go": "package x\n", ".env": "PASSWORD=hunter2-swordfish\n", "conf/.env": "PASSWORD=other-swordfish\n", ".git/HEAD": "ref: refs/heads/main\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return a, dir
}

// inventory is what a directory holds, to be compared.
func inventory(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		out.WriteString(rel + " " + info.Mode().String())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out.WriteString(" " + strconv.Quote(string(text))) // one line for each file
		}
		out.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// lineOn runs a line, and gives what it printed with what the caller is told of its
// changes.
func lineOn(t *testing.T, a *App, line string) (out ran, told string, err error) {
	t.Helper()
	input, err := json.Marshal(map[string]any{"command": line, "timeout": 30})
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "run_command", Input: input, Caller: toolcrib.Caller{Subject: "test"}})
	if err != nil {
		return out, "", err
	}
	for _, c := range r.Content {
		if c.Notice {
			told += c.Text
		}
	}
	return out, told, json.Unmarshal(r.Value, &out)
}

// TestLinesOnLayersNeedNoRule: in the default mode a line that no rule is about runs
// unasked, sees the files, and changes nothing as long as nobody has said yes.
func TestLinesOnLayersNeedNoRule(t *testing.T) {
	a, dir := layerProject(t, nil)
	before := inventory(t, dir)
	out, told, err := lineOn(t, a, `f() { eval "cat $1"; }; f a`)
	if err != nil || out.Stdout != "one\n" || told != "" {
		t.Errorf("%+v, %q, %v", out, told, err)
	}
	for _, line := range []string{
		`echo two > a`, `rm -rf src a`, `mkdir n; echo 1 > n/1`, `chmod 700 src`, `mv a b`, `rm -rf conf`, `mv conf elsewhere`, `rm -rf .git`, `ln -sf /usr/bin/env src/a`,
		`echo x > .envrc`, `mkdir -p .vscode; echo '{}' > .vscode/tasks.json`, `mkdir -p .git/hooks; echo id > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit`,
		`find . -delete`, `for f in *; do : > "$f"; done`, `cp -r src src2 && rm -r src`,
	} {
		out, told, err := lineOn(t, a, line)
		if err != nil {
			t.Errorf("%q did not run: %v", line, err)
		} else if !strings.HasPrefix(told, "Nothing that the command changed was applied: ") && !strings.HasPrefix(told, "These new files were not kept: ") && (out.ExitCode == 0 || told != "") {
			t.Errorf("%q: told %q", line, told)
		}
		if now := inventory(t, dir); now != before {
			t.Fatalf("%q changed the project:\n%s\nbefore:\n%s", line, now, before)
		}
	}
	if _, _, err := lineOn(t, a, `cat .env conf/.env; cp .env copy; cat copy`); err != nil {
		t.Error(err)
	}
	if out, _, _ := lineOn(t, a, `cat .env conf/.env; cp .env copy; cat copy; ln .env l; cat l; tar cf - . | tr -d '\0'`); strings.Contains(out.Stdout+out.Stderr, "swordfish") {
		t.Errorf("a protected text was read: %s", out.Stdout)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "state", "layers", "*", "lock")); err != nil || len(left) > 0 {
		t.Errorf("%d layers are left: %v", len(left), err)
	}
}

// TestModesApplyWhatWriteFileMay: auto-edit and a rule about the command apply its
// ordinary changes, and neither what others obey nor what is protected.
func TestModesApplyWhatWriteFileMay(t *testing.T) {
	for name, change := range map[string]func(*settings.Config){
		"auto-edit": func(c *settings.Config) { c.Mode = "auto-edit" },
		"a rule":    func(c *settings.Config) { c.Permissions.Allow = []string{"run_command(sh do.sh)"} },
	} {
		t.Run(name, func(t *testing.T) {
			a, dir := layerProject(t, func(c *settings.Config) {
				change(c)
				c.Permissions.Deny = []string{"write_file(./held/**)", "delete_file(./src/**)"}
			})
			run := func(script string) string {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, "do.sh"), []byte(script+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				out, told, err := lineOn(t, a, `sh do.sh`)
				if err != nil || out.ExitCode != 0 {
					t.Fatalf("%q: %+v, %v", script, out, err)
				}
				return told
			}
			if told := run(`echo two > a; mkdir -p n/m; echo 1 > n/m/1; chmod 755 do.sh`); told != "" {
				t.Errorf("told %q", told)
			}
			text, err := os.ReadFile(filepath.Join(dir, "a"))
			if _, errNew := os.Stat(filepath.Join(dir, "n", "m", "1")); err != nil || errNew != nil || string(text) != "two\n" {
				t.Errorf("it was not applied: %q, %v, %v", text, err, errNew)
			}
			// A denied change that is not new has nothing applied, and one that has to be
			// asked likewise, where nobody is there.
			for script, why := range map[string]string{
				`echo 3 > a; rm src/x.go`:                                    "src/x.go",
				`echo 3 > a; mv src/x.go y`:                                  "src/x.go",
				`echo 3 > a; mkdir -p .vscode; echo {} > .vscode/tasks.json`: ".vscode",
			} {
				if told := run(script); !strings.HasPrefix(told, "Nothing") || !strings.Contains(told, why) {
					t.Errorf("%q: told %q", script, told)
				}
				if text, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(text) != "two\n" {
					t.Errorf("%q: a part was applied: %q, %v", script, text, err)
				}
			}
			// New files that are denied are left out.
			for script, path := range map[string]string{
				`echo 5 > a; echo id > .env.local`:           ".env.local",
				`echo 5 > a; mkdir -p held; echo 1 > held/1`: "held/1",
			} {
				if told := run(script); !strings.HasPrefix(told, "These new files") || !strings.Contains(told, path) {
					t.Errorf("%q: told %q", script, told)
				}
				if _, err := os.Lstat(filepath.Join(dir, path)); !os.IsNotExist(err) {
					t.Errorf("%q: a denied file was kept: %v", script, err)
				}
				if text, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(text) != "5\n" {
					t.Errorf("%q: the rest was not applied: %q, %v", script, text, err)
				}
			}
		})
	}
}

// TestPlanRunsCommandsAndDropsChanges: tests and builds run in the mode plan, and leave
// nothing behind.
func TestPlanRunsCommandsAndDropsChanges(t *testing.T) {
	a, dir := layerProject(t, func(c *settings.Config) {
		c.Mode = "plan"
		c.Permissions.Deny = []string{"run_command(sh *.sh)"}
		c.Permissions.Allow = []string{"write_file(./src/**)"}
	})
	before := inventory(t, dir)
	for line, want := range map[string]string{
		`echo x > n; cat n`:                  "x\n",
		`echo two > a; cat a`:                "two\n",
		`rm -r src; ls`:                      "a\nconf\n",
		`echo y > src/y; cat src/y`:          "y\n",
		`eval "cat a"`:                       "one\n",
		`cat .env 2>/dev/null || echo no`:    "no\n",
		`test -n "$http_proxy" || echo none`: "none\n",
	} {
		out, told, err := lineOn(t, a, line)
		if err != nil || out.Stdout != want {
			t.Errorf("%q: %+v, %v", line, out, err)
		}
		if changes := strings.ContainsAny(line, ">") && !strings.Contains(line, "/dev/null") || strings.HasPrefix(line, "rm"); changes != strings.Contains(told, "the mode is plan") {
			t.Errorf("%q: told %q", line, told)
		}
		if now := inventory(t, dir); now != before {
			t.Fatalf("%q changed the project:\n%s", line, now)
		}
	}
	if _, _, err := lineOn(t, a, `sh x.sh`); err == nil {
		t.Error("a line that a rule denies ran")
	}
}

// asker answers every question alike, and keeps it.
type asker struct {
	mu     sync.Mutex
	answer toolcrib.Decision
	seen   []toolcrib.Question
}

func (s *asker) Approve(_ context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, q)
	return toolcrib.Answer{Decision: s.answer, By: "test"}, nil
}

// TestOneQuestionAfterTheRun: what has to be asked is one question, about what was
// really changed.
func TestOneQuestionAfterTheRun(t *testing.T) {
	a, dir := layerProject(t, nil)
	s := &asker{answer: toolcrib.Allow}
	a.Crib.Approver = s
	if _, told, err := lineOn(t, a, `echo two > a; mkdir n; echo 1 > n/1; rm src/x.go`); err != nil || told != "" {
		t.Fatalf("%q, %v", told, err)
	}
	if len(s.seen) != 1 || !strings.Contains(s.seen[0].Preview, "-one\n+two\n") || !strings.Contains(s.seen[0].Preview, "deleted "+filepath.Join(dir, "src", "x.go")) {
		t.Errorf("asked %+v", s.seen)
	}
	text, err := os.ReadFile(filepath.Join(dir, "a"))
	if _, gone := os.Stat(filepath.Join(dir, "src", "x.go")); err != nil || string(text) != "two\n" || !os.IsNotExist(gone) {
		t.Errorf("it was not applied: %q, %v, %v", text, err, gone)
	}
	s.answer = toolcrib.Deny
	before := inventory(t, dir)
	if _, told, err := lineOn(t, a, `echo three > a`); err != nil || !strings.Contains(told, "a person said no") {
		t.Errorf("%q, %v", told, err)
	}
	if now := inventory(t, dir); now != before {
		t.Errorf("it was applied:\n%s", now)
	}
}

// TestHostsOnLayersAreAskedFor: a line without a rule has no network, is told how to ask
// for it, and gets the granted hosts with a yes.
func TestHostsOnLayersAreAskedFor(t *testing.T) {
	a, _ := layerProject(t, func(c *settings.Config) { c.Grant.Hosts = []string{"pypi.org"} })
	s := &asker{answer: toolcrib.Allow}
	a.Crib.Approver = s
	call := func(line string, network bool) ran {
		t.Helper()
		input, err := json.Marshal(map[string]any{"command": line, "timeout": 30, "network": network})
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "run_command", Input: input, Caller: toolcrib.Caller{Subject: "test"}})
		if err != nil {
			t.Fatal(err)
		}
		var out ran
		if err := json.Unmarshal(r.Value, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	line := `python3 -c 'import socket; socket.gethostbyname("pypi.org")'; echo "proxy:$HTTPS_PROXY"; exit 1`
	if out := call(line, false); out.Stdout != "proxy:\n" || len(s.seen) > 0 || !strings.Contains(strings.Join(out.Notes, "\n"), "run it again with network: true") {
		t.Errorf("without a yes: %+v, asked %d times", out, len(s.seen))
	}
	if out := call(line, true); !strings.HasPrefix(out.Stdout, "proxy:http://127.0.0.1:") || len(s.seen) != 1 {
		t.Errorf("with a yes: %+v, asked %d times", out, len(s.seen))
	}
	s.answer = toolcrib.Deny
	input := json.RawMessage(`{"command":"true","network":true}`)
	if _, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "run_command", Input: input, Caller: toolcrib.Caller{Subject: "test"}}); err != nil {
		t.Errorf("a line that only reads asks for no host: %v", err)
	}
	input = json.RawMessage(`{"command":"sh x.sh","network":true}`)
	if _, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "run_command", Input: input, Caller: toolcrib.Caller{Subject: "test"}}); err == nil {
		t.Error("it ran after a no")
	}
}

// TestNamesThatAreNoTextAreJudged: what a command does to a file whose name is no text is
// applied to that file, and judged by the rest of its path. A new name of that kind is
// refused, as it is of the tools for files.
func TestNamesThatAreNoTextAreJudged(t *testing.T) {
	a, dir := layerProject(t, func(c *settings.Config) {
		c.Mode = "auto-edit"
		c.Permissions.Deny = []string{"write_file(./src/**)"}
	})
	odd := "d\xff"
	for _, name := range []string{odd + "/" + odd, odd + "/gone" + odd, "src/" + odd, odd + "/.env"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("1\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if told := sees(t, a, "one", `d=$(printf 'd\377'); echo 2 > "$d/$d"; rm "$d/gone$d"`, ""); told != "" {
		t.Errorf("told %q", told)
	}
	holds(t, filepath.Join(dir, odd, odd), "2\n")
	if _, err := os.Lstat(filepath.Join(dir, odd, "gone"+odd)); !os.IsNotExist(err) {
		t.Errorf("it was not deleted: %v", err)
	}
	before := inventory(t, dir)
	for line, why := range map[string]string{
		`echo 3 > "$d/$d"; echo 3 > "src/$d"`:     "a rule denies it",
		`echo 3 > "new$d"`:                        "plain text",
		`mv "$d/$d" "$d/new$d"`:                   "plain text",
		`echo 3 > "$d/$d"; mv "$d/$d" "$d/new$d"`: "plain text",
		`mkdir "$d/.vscode"; echo {} > "$d/.vscode/tasks.json"; echo 3 > "$d/$d"`: ".vscode",
	} {
		if told := sees(t, a, "one", `d=$(printf 'd\377'); `+line, ""); !strings.Contains(told, why) {
			t.Errorf("%s: told %q", line, told)
		}
		if now := inventory(t, dir); now != before {
			t.Fatalf("%s: now\n%s\nbefore\n%s", line, now, before)
		}
	}
}
