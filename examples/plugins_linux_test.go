package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// plugins makes the folder of plugins of a session.
func (s *session) plugins(t *testing.T) string {
	t.Helper()
	for _, e := range s.env {
		if home, ok := strings.CutPrefix(e, "TOOLCRIB_HOME="); ok {
			dir := filepath.Join(home, "plugins")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			return dir
		}
	}
	t.Fatal("the session has no home")
	return ""
}

// TestPluginInGo builds the example, puts it into the folder and calls it through the
// program: what it prints and how its call ends is as the page says.
func TestPluginInGo(t *testing.T) {
	s := newSession(t)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(s.plugins(t), "dice"), "./plugin")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := s.shell(t, "toolcrib hub test dice"); !strings.Contains(got, "dice works: protocol 2026-07-28, 1 tool,") {
		t.Error(got)
	}
	if got := s.shell(t, "toolcrib plugins"); !strings.Contains(got, "dice  1      dice  listed") {
		t.Error(got)
	}
	if got := s.shell(t, "toolcrib hub classify dice --set roll=pure && toolcrib call dice__roll sides=2 dice=4 2>&1"); !strings.Contains(got, `"rolls":[`) || !strings.Contains(got, `"sum":`) {
		t.Error(got)
	}
	if got := s.shell(t, "toolcrib call dice__roll sides=1; echo status $?"); !strings.Contains(got, "sides: must be at least 2") || !strings.Contains(got, "status 1") {
		t.Error(got)
	}
	if got := s.shell(t, "toolcrib plugins check --call roll --arg dice=9 dice; echo status $?"); strings.Count(got, "✓") != 19 || !strings.Contains(got, "status 0") {
		t.Error(got)
	}
	if got := s.shell(t, "toolcrib plugins check --json dice; echo status $?"); !strings.Contains(got, `"state":"skipped"`) || !strings.Contains(got, "status 0") {
		t.Error(got)
	}
}

// TestPluginOnThePage: the plugin that the page shows is the one that is run.
func TestPluginOnThePage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("plugin", "words.pl"))
	if err != nil {
		t.Fatal(err)
	}
	shown := ""
	for _, b := range blocks("docs/plugins.md", pages(t)["docs/plugins.md"]) {
		if b.lang == "perl" {
			shown = strings.Join(b.lines, "\n") + "\n"
		}
	}
	if shown != string(text) {
		t.Errorf("docs/plugins.md shows\n%s\nand not examples/plugin/words.pl", shown)
	}
	s := newSession(t)
	if err := os.WriteFile(filepath.Join(s.plugins(t), "words.pl"), text, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := s.shell(t, "toolcrib --set permissions.allow=words__count_words call words__count_words text='to be or not' -o text"); !strings.Contains(got, "4") {
		t.Error(got)
	}
	if got := s.shell(t, "toolcrib --set permissions.allow=words__count_words call words__count_words --json '{}'; echo status $?"); !strings.Contains(got, "text is missing") || !strings.Contains(got, "status 1") {
		t.Error(got)
	}
}
