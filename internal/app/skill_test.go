package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/ovos"
)

func writeSkill(t *testing.T, path, name, description string) {
	t.Helper()
	text := "---\nname: " + name + "\ndescription: " + description + "\n---\nDo it well.\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// skillApp is a crib with a box of skills, as far as this part goes.
func skillApp(t *testing.T, cfg settings.SkillBox, dir, home string) *App {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	reach, err := reach.Of(settings.Grant{Write: []string{dir}}, reach.Start{Dir: dir, Home: home, State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	a := &App{reach: reach, Crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Log: log}}
	a.policy.home = home
	all := settings.Defaults()
	all.Toolboxes.Skill = cfg
	box, err := a.openSkill(t.Context(), all, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.shelving = toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}, Adapters: dialect.Adapters(dialect.Options{})}
	return a
}

// onBus gives the names of all tools as a voice assistant sees them.
func onBus(a *App) []string {
	shelves := toolcrib.Crib{Catalog: a.Crib.Catalog}
	var names []string
	for spec := range shelves.Tools(toolcrib.Caller{Dialect: dialect.OVOS}) {
		names = append(names, spec.Box+"/"+spec.Name)
	}
	return names
}

// TestSkillsGetTools: each has one on the bus, under a name that no tool has.
func TestSkillsGetTools(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	writeSkill(t, filepath.Join(home, ".agents", "skills", "a", "SKILL.md"), "Tell-Time", "Tells: the time")
	writeSkill(t, filepath.Join(home, ".claude", "skills", "b", "SKILL.md"), "write file", "d")
	writeSkill(t, filepath.Join(home, ".claude", "skills", "c", "SKILL.md"), "echo", "d")
	writeSkill(t, filepath.Join(home, ".claude", "skills", "u", "SKILL.md"), "use-skill", "d")
	writeSkill(t, filepath.Join(dir, ".agents", "skills", "p", "SKILL.md"), "project's own", "d")
	cfg := settings.DefaultSkillBox()
	a := skillApp(t, cfg, dir, home)
	type nothing struct{}
	echo := toolcrib.NewBox("parrot", toolcrib.Define(toolcrib.Spec{Name: "echo", Description: "d", Effects: toolcrib.Pure},
		func(context.Context, *toolcrib.Env, nothing) (nothing, error) { return nothing{}, nil }))
	a.shelving.Boxes = append(a.shelving.Boxes, echo)
	want := []string{"parrot/echo", "skill/list_skills", "skill/read_skill_file", "skill/skill_echo", "skill/skill_prompt", "skill/skill_use_skill", "skill/skill_write_file", "skill/tell_time"}
	for range 2 {
		if _, faults := a.reloadOwn(t.Context()); faults != nil {
			t.Error(faults)
		}
		if diff := cmp.Diff(want, onBus(a)); diff != "" {
			t.Error(diff)
		}
	}
	// A reload finds what is new and forgets what is gone.
	writeSkill(t, filepath.Join(home, ".agents", "skills", "n", "SKILL.md"), "new", "d")
	if err := os.RemoveAll(filepath.Join(home, ".claude")); err != nil {
		t.Fatal(err)
	}
	diff, faults := a.reloadOwn(t.Context())
	if faults != nil || len(diff.Changed) != 1 {
		t.Errorf("%v, %v", diff, faults)
	}
	if diff := cmp.Diff([]string{"parrot/echo", "skill/list_skills", "skill/new", "skill/read_skill_file", "skill/skill_prompt", "skill/tell_time"}, onBus(a)); diff != "" {
		t.Error(diff)
	}
	cfg.Project = true
	a = skillApp(t, cfg, dir, home)
	a.reloadOwn(t.Context())
	if names := strings.Join(onBus(a), " "); !strings.Contains(names, "skill/project_s_own") {
		t.Errorf("with those of the project: %s", names)
	}
}

// TestProjectCannotChooseAPlace: a link in a project, where its skills would
// be, does not have another directory read.
func TestProjectCannotChooseAPlace(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	writeSkill(t, filepath.Join(elsewhere, "s", "SKILL.md"), "private", "d")
	if err := os.Mkdir(filepath.Join(dir, ".agents"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, ".agents", "skills")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	a := skillApp(t, settings.SkillBox{Project: true}, dir, "")
	a.reloadOwn(t.Context())
	if names := onBus(a); names != nil {
		t.Errorf("there are %q", names)
	}
	// The same place named by the person is theirs to name.
	a = skillApp(t, settings.SkillBox{Paths: []string{filepath.Join(dir, ".agents", "skills")}}, dir, "")
	a.reloadOwn(t.Context())
	if names := strings.Join(onBus(a), " "); !strings.Contains(names, "skill/private") {
		t.Errorf("there are %q", names)
	}
}

// TestSkillOnTheBus: a voice assistant finds a skill and is told, as by its own
// host, that nobody carries it out.
func TestSkillOnTheBus(t *testing.T) {
	home := t.TempDir()
	writeSkill(t, filepath.Join(home, "tell", "SKILL.md"), "tell-time", "Tells: the time")
	cfg := ownBus()
	a := openBusApp(t, cfg, Needs{})
	all := settings.Defaults()
	all.Toolboxes.Skill = settings.SkillBox{Paths: []string{filepath.Join(home, "tell", "SKILL.md")}}
	box, err := a.openSkill(t.Context(), all, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.shelving.Boxes = append(slices.DeleteFunc(a.shelving.Boxes, func(b toolcrib.Toolbox) bool { return b.Name() == box.Name() }), box)
	c := join(t, ovos.ClientConfig{URL: hostBus(t, a, cfg)}, "ovos-skill-md-toolbox")
	found, err := c.Toolbox(t.Context(), "ovos-skill-md-toolbox")
	if err != nil {
		t.Fatal(err)
	}
	told := ""
	for _, tool := range found.Tools {
		if tool.Name == "tell_time" {
			told = tool.Description
		}
	}
	if told != "Tells: the time" {
		t.Errorf("there are %+v", found.Tools)
	}
	_, err = c.Call(t.Context(), "ovos-skill-md-toolbox", "tell_time", map[string]any{"task": "now"})
	e, ok := errors.AsType[*ovos.CallError](err)
	if !ok || e.Message != "RuntimeError: Tool execution failed for 'tell_time' in ToolBox 'ovos-skill-md-toolbox'" || !strings.Contains(e.Detail, "no model is set up") {
		t.Errorf("it was answered with %v", err)
	}
	_, err = c.Call(t.Context(), "ovos-skill-md-toolbox", "tell_time", map[string]any{})
	if e, ok := errors.AsType[*ovos.CallError](err); !ok || e.Message != "ValueError: Tool input validation failed for 'tell_time' in ToolBox 'ovos-skill-md-toolbox'" {
		t.Errorf("without a task: %v", err)
	}
}
