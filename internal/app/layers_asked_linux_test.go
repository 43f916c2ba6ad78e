package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// workplace is a project with a repository and what everyday lines speak of.
func workplace(t *testing.T, mode string) (*App, string, *asker) {
	t.Helper()
	a, dir := layerProject(t, func(c *settings.Config) { c.Mode = mode })
	for name, text := range map[string]string{
		"README.md": "# demo\n\nold text\n", "CHANGELOG.md": "# changes\n", "VERSION": "1.0.0\n", ".gitignore": "node_modules\ndist\nbuild\n*.log\n", "notes.txt": "one\ntwo\n", "config.yaml": "name: demo\nport: 80\n",
		"package.json": "{\"name\":\"demo\",\"version\":\"1.0.0\"}\n", "go.mod": "module demo\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n", "Makefile": "all:\n\techo built > built\ntest:\n\ttrue\n",
		"src/a.ts": "export const a = 1;\n", "src/index.ts": "export const i = 1;\n", "src/main.py": "print(1)\n", "src/util.go": "package src\n", "docs/a.md": "# a\n", "docs/notes.md": "# n\n",
		"internal/server/handler.go": "package server\n", "backend/app/models.py": "x = 1\n", "frontend/src/App.tsx": "x\n", "tests/test_a.py": "def test_a(): pass\n", "scripts/run.sh": "#!/bin/sh\necho run\n",
		"pkg/cache/cache.go": "package cache\n", "cmd/demo/main.go": "package main\n\nfunc main() {}\n", "testdata/in.txt": "a\nb\n", "fixtures/a.json": "{}\n", "lib/util.py": "x = 1\n", "old.txt": "old\n", "a.txt": "a\n", "b.txt": "b\n",
		"build/out.o": "o\n", "dist/app.js": "x\n", "app.log": "log\n", "config/app.yaml": "a: 1\n", "web/index.html": "<p>\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gitHere(t, dir, "init", "-q", "-b", "main")
	gitHere(t, dir, "config", "user.name", "Ada")
	gitHere(t, dir, "config", "user.email", "ada@example.org")
	gitHere(t, dir, "add", "-A")
	gitHere(t, dir, "commit", "-q", "-m", "first")
	s := &asker{answer: toolcrib.Allow}
	a.Crib.Approver = s
	return a, dir, s
}

// TestQuestionsAfterTheRun runs everyday lines for real, without any rule and with a person
// who says yes. In the default mode one that leaves nothing changed is never asked about,
// and any other exactly once, when it has ended; in auto-edit nearly none is.
func TestQuestionsAfterTheRun(t *testing.T) {
	every := map[string]int{"everyday.txt": 19, "agents.txt": 31, "work_writes.txt": 4}
	if os.Getenv("TOOLCRIB_ALL_LINES") != "" {
		every = map[string]int{"everyday.txt": 1, "agents.txt": 1, "work_writes.txt": 1, "work_builds.txt": 1}
	}
	var lines []shelltest.Entry
	for file, n := range every {
		for i, e := range shelltest.Battery(t, file) {
			if i%n == 0 {
				lines = append(lines, e)
			}
		}
	}
	for _, mode := range []string{"default", "auto-edit"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			a, dir, s := workplace(t, mode)
			quiet, changed, unasked, once := 0, 0, 0, 0
			for _, e := range lines {
				before, asked := inventory(t, dir), len(s.seen)
				out, err := runCommand(t.Context(), a, strings.ReplaceAll(e.Command, shelltest.Work, dir), 4)
				left, asked := inventory(t, dir) != before, len(s.seen)-asked
				switch {
				case err != nil || out.TimedOut:
					t.Logf("%s:%d: %q did not run to its end: %v", e.File, e.Line, e.Command, err)
					continue
				case left:
					changed++
				default:
					quiet++
				}
				switch {
				case asked == 0 && (mode != "default" || !left):
					unasked++
				case asked == 1 && left:
					once++
				default:
					t.Logf("%s:%d: %q: %d questions, changed: %v", e.File, e.Line, e.Command, asked, left)
				}
			}
			t.Logf("%d lines left nothing changed and %d did: %d unasked, %d one question", quiet, changed, unasked, once)
			switch all := quiet + changed; {
			case quiet < 20 || changed < 10:
				t.Error("too few to say anything")
			case mode == "default" && (100*unasked < 97*quiet || 100*once < 97*changed):
				t.Error("default: not everything that changes nothing is unasked, and all else asked about once")
			case mode != "default" && 100*unasked < 97*all:
				t.Error("auto-edit: too much is asked about")
			}
		})
	}
}
