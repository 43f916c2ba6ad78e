package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

const home, work = "/home/ann", "/home/ann/proj"

// machine is a made-up computer, so that verdicts do not depend on what is
// installed where the test runs.
type machine struct {
	missing map[string]bool // programs that are not there
	links   map[string]string
	modes   map[string]fs.FileMode
	files   map[string]string
}

func newMachine() *machine {
	return &machine{
		missing: map[string]bool{"notfound": true, "evil": true},
		links: map[string]string{
			"/bin/sh": "/usr/bin/dash", "/usr/bin/awk": "/usr/bin/mawk", "/usr/bin/which": "/usr/bin/which.debianutils",
			"/usr/bin/npm": "/usr/lib/node_modules/npm/bin/npm-cli.js", "/usr/bin/evil-link": "/tmp/evil/ls",
			"/usr/bin/linked-out": "/home/ann/proj/tool", work + "/link-out": "/etc",
		},
		modes: map[string]fs.FileMode{"/usr/bin/world-writable": 0o777, "/usr/bin": 0o755},
		files: map[string]string{},
	}
}

func (m *machine) look(name string) (string, error) {
	if m.missing[name] || strings.Contains(name, "/") || name == "" || strings.ContainsAny(name, " $") {
		return "", fs.ErrNotExist
	}
	if name == "go" {
		return "/usr/local/go/bin/go", nil
	}
	if name == "writable-dir" {
		return "/usr/local/bin/writable-dir", nil
	}
	return "/usr/bin/" + name, nil
}

func (m *machine) evalSymlinks(p string) (string, error) {
	p = path.Clean(p)
	for from, to := range m.links {
		if p == from {
			return to, nil
		}
		if rest, ok := strings.CutPrefix(p, from+"/"); ok {
			return path.Join(to, rest), nil
		}
	}
	if rest, ok := strings.CutPrefix(p, "/bin/"); ok {
		return "/usr/bin/" + rest, nil
	}
	return p, nil
}

func (m *machine) stat(p string) (fs.FileInfo, error) {
	mode := fs.FileMode(0o755)
	if got, ok := m.modes[p]; ok {
		mode = got
	}
	switch p {
	case "/usr/bin", "/bin", "/usr/local/bin", "/usr/local/go/bin", "/usr/lib/node_modules/npm/bin":
		mode |= fs.ModeDir
		if p == "/usr/local/bin" {
			mode |= 0o002
		}
	}
	return fakeInfo{path.Base(p), mode}, nil
}

// lstat tells of the files and links that the machine has.
func (m *machine) lstat(p string) (fs.FileInfo, error) {
	if _, ok := m.links[p]; ok {
		return fakeInfo{path.Base(p), fs.ModeSymlink | 0o777}, nil
	}
	if _, err := m.readFile(p); errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return fakeInfo{path.Base(p), 0o644}, nil
}

func (m *machine) readFile(p string) ([]byte, error) {
	if text, ok := m.files[p]; ok {
		return []byte(text), nil
	}
	for name := range m.files {
		if strings.HasPrefix(name, p+"/") {
			return nil, fmt.Errorf("%s is a directory", p)
		}
	}
	return nil, fs.ErrNotExist
}

type fakeInfo struct {
	name string
	mode fs.FileMode
}

func (i fakeInfo) Name() string       { return i.name }
func (i fakeInfo) Size() int64        { return 1 }
func (i fakeInfo) Mode() fs.FileMode  { return i.mode }
func (i fakeInfo) ModTime() time.Time { return time.Time{} }
func (i fakeInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fakeInfo) Sys() any           { return nil }

func (m *machine) options() ShellOptions {
	return ShellOptions{Dir: work, Look: m.look, EvalSymlinks: m.evalSymlinks, Stat: m.stat, Lstat: m.lstat}
}

// realisticRules is what a developer's allow-list looks like, as open as the
// grammar lets it be.
func realisticRules(t testing.TB) []Rule {
	t.Helper()
	rules, err := ParseRules([]string{
		"git status *", "git log *", "git diff *", "git show *", "git branch *", "git tag *", "git remote *", "git config *", "git grep *", "git blame *", "git add *", "git commit *",
		"ls *", "cat *", "grep *", "rg *", "fd *", "find *", "sed *", "awk *", "head *", "tail *", "wc *", "sort *", "uniq *", "cut *", "jq *", "diff *", "file *", "tree *", "du *", "stat *",
		"go test *", "go build *", "go vet *", "go list *", "go version", "npm test", "npm test *", "npm run *", "yarn test *", "pnpm test *", "cargo test *", "pytest *", "make *", "mytool *", "gofmt *", "date *", "ps *",
	})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func (m *machine) shell(t testing.TB) *Shell {
	t.Helper()
	return &Shell{
		AllowShell: true, Bounded: true, Rules: realisticRules(t), Options: m.options(), ReadFile: m.readFile,
		Glob: func(string) ([]string, error) { return nil, nil },
	}
}

func judgeCommand(t testing.TB, s *Shell, command string) *toolcrib.Verdict {
	t.Helper()
	return judgeTool(t, s, "run_command", map[string]string{"command": command})
}

func judgeTool(t testing.TB, s *Shell, tool string, in map[string]string) *toolcrib.Verdict {
	t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.Judge(context.Background(), toolcrib.Review{Spec: toolcrib.Spec{Name: "x", Native: tool, Box: "shell"}, Input: input})
	if err != nil {
		t.Fatalf("judging %q: %v", in["command"], err)
	}
	return v
}

type entry struct {
	file, why, command string
	line               int
}

// battery reads commands from testdata/shell: one a line, ## says why.
func battery(t testing.TB, names ...string) []entry {
	t.Helper()
	var out []entry
	for _, name := range names {
		data, err := os.ReadFile("testdata/shell/" + name)
		if err != nil {
			t.Fatal(err)
		}
		why, n := "", 0
		for text := range strings.SplitSeq(string(data), "\n") {
			n++
			switch {
			case text == "":
			case strings.HasPrefix(text, "## "):
				why = text[3:]
			case strings.HasPrefix(text, "# "):
			case strings.HasPrefix(text, "go:"):
				s, err := strconv.Unquote(text[3:])
				if err != nil {
					t.Fatalf("%s:%d: %v", name, n, err)
				}
				out = append(out, entry{name, why, s, n})
			default:
				out = append(out, entry{name, why, text, n})
			}
		}
	}
	seen := map[string]string{}
	for _, e := range out {
		at := fmt.Sprintf("%s:%d", e.file, e.line)
		if before, ok := seen[e.command]; ok {
			t.Errorf("%s: %q is already at %s", at, e.command, before)
		}
		seen[e.command] = at
	}
	return out
}
