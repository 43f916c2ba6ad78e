package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestConnectOverLinks is the attack of a clone whose files for clients are links:
// connect --project writes nothing outside of it, and says why.
func TestConnectOverLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right of their own there")
	}
	victim := filepath.Join(t.TempDir(), "victim.json")
	link := func(t *testing.T, to, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(t *testing.T, s *site, args ...string) {
		t.Helper()
		if err := os.WriteFile(victim, []byte(`{"a":1}`), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, more := range [][]string{nil, {"--dry-run"}, {"--undo"}} {
			out, err := s.command(append(args, more...)...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "leads out of the project") || strings.Contains(string(out), `"a"`) {
				t.Errorf("%v: %v: %s", more, err, out)
			}
		}
		if text, err := os.ReadFile(victim); err != nil || string(text) != `{"a":1}` {
			t.Errorf("%v: %s", err, text)
		}
		if list, err := os.ReadDir(filepath.Dir(victim)); err != nil || len(list) != 1 {
			t.Errorf("%v: %v", err, list)
		}
	}
	t.Run("a file", func(t *testing.T) {
		s := newSite(t)
		link(t, victim, filepath.Join(s.dir, ".mcp.json"))
		refused(t, s, "connect", "claude-code", "--project")
	})
	t.Run("a directory", func(t *testing.T) {
		s := newSite(t)
		link(t, filepath.Dir(victim), filepath.Join(s.dir, ".cursor"))
		refused(t, s, "connect", "cursor", "--project")
	})
	t.Run("over another", func(t *testing.T) {
		s := newSite(t)
		link(t, filepath.Dir(victim), filepath.Join(s.dir, "x"))
		link(t, "x/new.json", filepath.Join(s.dir, ".mcp.json"))
		refused(t, s, "connect", "claude-code", "--project")
	})
	t.Run("inside", func(t *testing.T) {
		s := newSite(t)
		link(t, "conf/mcp.json", filepath.Join(s.dir, ".mcp.json"))
		s.toolcrib("connect", "claude-code", "--project")
		if text := s.read("conf/mcp.json"); !strings.Contains(text, "toolcrib") {
			t.Error(text)
		}
		if to, err := os.Readlink(filepath.Join(s.dir, ".mcp.json")); err != nil || to != "conf/mcp.json" {
			t.Error(to, err)
		}
	})
	t.Run("a token", func(t *testing.T) {
		s := newSite(t)
		home, repo := filepath.Dir(homeOf(s)), t.TempDir()
		for _, dir := range []string{".git", "cursor"} {
			if err := os.Mkdir(filepath.Join(repo, dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(repo, "cursor", "mcp.json")
		if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		link(t, file, filepath.Join(home, ".cursor", "mcp.json"))
		out, err := s.command("connect", "cursor", "--http").CombinedOutput()
		if text, _ := os.ReadFile(file); err == nil || !strings.Contains(string(out), "in the repository") || string(text) != "{}" {
			t.Errorf("%v: %s; %s", err, out, text)
		}
		s.toolcrib("connect", "cursor")
		if text, _ := os.ReadFile(file); !strings.Contains(string(text), "toolcrib") {
			t.Errorf("%s", text)
		}
	})
}
