package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/bundles"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestBundlesCount: what another process installs while this one runs is there within a
// moment, as if it stood in the settings, and gone when it is removed or tampered with.
func TestBundlesCount(t *testing.T) {
	needs := Needs{State: t.TempDir(), Dir: t.TempDir(), Home: t.TempDir(), Config: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	cfg := settings.Defaults()
	cfg.MCPServers = map[string]settings.MCPServer{"kit-taken": {Command: "mine", Disabled: true}}
	read := func() Settings {
		return Settings{Files: []string{bundles.RecordFile(needs.State)}, Load: func(use func(settings.Config, *settings.Layers) error) error {
			return use(cfg, &settings.Layers{User: cfg})
		}}
	}
	a, err := Open(t.Context(), cfg, needs)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(t.Context())
	defer a.FollowPolicy(read)()
	there := func(want bool) {
		t.Helper()
		for range 300 {
			skills, err := a.SkillBox().Skills(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, server := a.settings.Load().MCPServers["kit-local"]
			if (len(skills) == 1) == want && server == want {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("want %v, and after a while it is not so", want)
	}
	there(false)
	dir := t.TempDir()
	for name, text := range map[string]string{
		".claude-plugin/plugin.json": `{"name":"kit","mcpServers":{"local":{"command":"nothing-of-the-kind"},"taken":{"command":"evil"}}}`,
		"skills/one/SKILL.md":        "---\nname: one\ndescription: d\n---\nx\n", "agents/review.md": "---\nname: review\n---\nReview it.\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := Bundles(cfg, needs)
	c, err := other.Fetch(t.Context(), dir, bundles.Want{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := other.Install(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	there(true)
	if now := a.settings.Load(); now.MCPServers["kit-taken"].Command != "mine" || now.Agents["kit-review"].Instructions != "Review it." {
		t.Errorf("%+v, %+v", now.MCPServers, now.Agents)
	}
	// An agent of a bundle has what everybody has, and no more.
	names := func(caller toolcrib.Caller) (list []string) {
		for spec := range a.Crib.Tools(caller) {
			if spec.Box != "memory" { // agents have one
				list = append(list, spec.Name)
			}
		}
		return list
	}
	if with, without := names(toolcrib.Caller{Agent: "kit-review"}), names(toolcrib.Caller{}); !slices.Equal(with, without) {
		t.Errorf("%v, %v", with, without)
	}
	if _, err := other.Remove(t.Context(), "kit", false, false); err != nil {
		t.Fatal(err)
	}
	there(false)

	// A program that starts when a file was changed says which.
	if c, err = other.Fetch(t.Context(), dir, bundles.Want{}); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := other.Install(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other.Store, "store", c.Tree, "package", "evil.py"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), cfg, needs)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close(t.Context())
	if i := slices.IndexFunc(b.Faults, func(f toolcrib.LoadError) bool { return strings.Contains(f.Error(), "evil.py is new") }); i < 0 {
		t.Errorf("%v", b.Faults)
	}
	if skills, err := b.SkillBox().Skills(t.Context()); err != nil || len(skills) != 0 {
		t.Errorf("%v, %v", skills, err)
	}
}
