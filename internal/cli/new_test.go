package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/scaffold"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// TestTemplates: what is written has no mistake and gives no cause for a warning,
// whatever the tool is called.
func TestTemplates(t *testing.T) {
	t.Parallel()
	for name, lang := range scaffold.Languages() {
		for _, tool := range []string{"x", "word-count", "Word_Count9"} {
			file := filepath.Join(t.TempDir(), strings.ReplaceAll(lang.File, "*", tool))
			if err := writeNewTool(file, tool, lang); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(content), "{{") {
				t.Errorf("%s: a placeholder is left", name)
			}
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			got, faults := toolfile.Parse(file, content)
			if faults = append(faults, scriptFaults(got, info.Mode())...); len(faults) > 0 {
				t.Errorf("%s: %v", name, faults)
			}
			if name != "go" && (got.Kind == toolfile.None || got.Name != tool || got.Effects == 0) {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

// TestGoTemplateBuilds: the plugin that is written is compiled as it is, and has its tool.
func TestGoTemplateBuilds(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := writeNewTool(source, "words-in", scaffold.Languages()["go"]); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "internal", "cli", "newtool", "main.go"): source}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-overlay", list, "-o", filepath.Join(home, "plugins", "words-in"), "./internal/cli/newtool")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, errs, status := runCLI(t, home, "hub", "test", "words-in")
	if status != 0 || !strings.Contains(out, "words-in works") || !strings.Contains(out, " 1 tool,") {
		t.Errorf("%d %s\n%s", status, out, errs)
	}
}

// TestNewToolThroughLink: the .toolcrib of a project may be a link to anywhere, and is not written through.
func TestNewToolThroughLink(t *testing.T) {
	t.Parallel()
	project, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(project, ".toolcrib")); err != nil {
		t.Fatal(err)
	}
	c := &command{dir: project}
	if dir, err := c.newProjectTools(); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("%s, %v", dir, err)
	}
}

func TestBeyondProject(t *testing.T) {
	t.Parallel()
	got := beyondProject(toolfile.File{Read: []string{".", "src", "~", "~/x", "../other"}, Write: []string{"/srv", "src/../.."}})
	if strings.Join(got, " ") != "~ ~/x ../other /srv src/../.." {
		t.Errorf("%q", got)
	}
}
