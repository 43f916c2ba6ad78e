package skills

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/settings"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func plain(name, more string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + "\n" + more + "---\nBody\n"
}

// TestStandardPlaces: every place where programs keep skills is looked at, the project's
// before the person's and the near ones before the far ones.
func TestStandardPlaces(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "work", "repo")
	here := filepath.Join(project, "sub", "deep")
	write(t, filepath.Join(project, ".git", "HEAD"), "ref: x\n")
	write(t, filepath.Join(here, "x"), "")
	for dir, names := range map[string][]string{
		filepath.Join(here, ".agents", "skills"):                     {"both", "here"},
		filepath.Join(project, ".agent", "skills"):                   {"both", "root", "mine"},
		filepath.Join(home, "work", ".agents", "skills"):             {"beyond"},
		filepath.Join(home, ".claude", "skills"):                     {"mine", "claude"},
		filepath.Join(home, ".agent", "skills"):                      {"agent"},
		filepath.Join(home, ".agenticx", "skills"):                   {"agx"},
		filepath.Join(home, ".agenticx", "skills", "bundles", "kit"): {"packed"},
	} {
		for _, name := range names {
			write(t, filepath.Join(dir, name, "SKILL.md"), plain(name, ""))
		}
	}
	cfg := settings.Defaults()
	cfg.Toolboxes.Skill.Project = true
	box, err := Open(t.Context(), cfg, Needs{Dir: here, Home: home})
	if err != nil {
		t.Fatal(err)
	}
	seen, err := box.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range seen.Skills {
		rel, err := filepath.Rel(home, filepath.Dir(filepath.Dir(s.Path)))
		if err != nil {
			t.Fatal(err)
		}
		got[s.Name] = s.Scope + " " + filepath.ToSlash(rel)
	}
	want := map[string]string{
		"both": "project work/repo/sub/deep/.agents/skills", "here": "project work/repo/sub/deep/.agents/skills",
		"root": "project work/repo/.agent/skills", "mine": "project work/repo/.agent/skills",
		"claude": "user .claude/skills", "agent": "user .agent/skills", "agx": "user .agenticx/skills", "packed": "user .agenticx/skills/bundles/kit",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(seen.Skipped) != 2 {
		t.Errorf("collisions are told: %v", seen.Skipped)
	}
}

// TestGatesAreAsked: gates ask this machine, and not what a project put beside them.
func TestGatesAreAsked(t *testing.T) {
	home, bin := t.TempDir(), t.TempDir()
	write(t, filepath.Join(bin, "rare"), "#!/bin/sh\n")
	gate := func(text string) string { return "metadata:\n  agenticx:\n    gate: {" + text + "}\n" }
	for name, text := range map[string]string{
		"yes": "requires_bins: [rare], requires_env: [KEY], requires_config: [mode]", "no-bin": "requires_bins: [absent]",
		"path": "requires_bins: [" + filepath.ToSlash(filepath.Join(bin, "rare")) + "]", "up": "requires_bins: [../rare]",
		"no-env": "requires_env: [OTHER]", "no-config": "requires_config: [agents]",
	} {
		write(t, filepath.Join(home, ".agents", "skills", name, "SKILL.md"), plain(name, gate(text)))
	}
	box, err := Open(t.Context(), settings.Defaults(), Needs{Home: home, Path: "relative" + string(os.PathListSeparator) + bin, Getenv: func(name string) string {
		return map[string]string{"KEY": "1"}[name]
	}})
	if err != nil {
		t.Fatal(err)
	}
	seen, err := box.Look(t.Context())
	if err != nil || len(seen.Skills) != 1 || seen.Skills[0].Name != "yes" || len(seen.Gated) != 5 {
		t.Errorf("%+v, %v", seen, err)
	}
}
