//go:build unix

package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// skillHouse is a person with a skill of their own, in a project that brings one, too.
type skillHouse struct {
	*App
	dir, home string
}

const warned = "[untrusted: skill/"

func openSkillHouse(t *testing.T, prepare func(dir, home string), change func(*settings.Config)) skillHouse {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := skillHouse{dir: filepath.Join(base, "work"), home: filepath.Join(base, "home")}
	writeSkill(t, filepath.Join(h.home, ".claude", "skills", "mine", "SKILL.md"), "mine", "My own.")
	writeSkill(t, filepath.Join(h.dir, ".claude", "skills", "theirs", "SKILL.md"), "theirs", "Of the project.")
	if prepare != nil {
		prepare(h.dir, h.home)
	}
	cfg := settings.Defaults()
	cfg.Mode, cfg.Toolboxes.Skill.Project = "yolo", true
	if change != nil {
		change(&cfg)
	}
	h.App, err = Open(t.Context(), cfg, Needs{State: filepath.Join(base, "state"), Dir: h.dir, Home: h.home, Config: filepath.Join(base, "config")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

// say gives all the text that a model is given by a call.
func (h skillHouse) say(t *testing.T, caller toolcrib.Caller, tool string, input map[string]string) string {
	t.Helper()
	if input == nil {
		input = map[string]string{}
	}
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Crib.Call(t.Context(), toolcrib.Call{Tool: tool, Input: data, Caller: caller})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return r.String()
}

// ways gives the text of a skill by every way that leads to a model.
func (h skillHouse) ways(t *testing.T, name string) map[string]string {
	t.Helper()
	agenticx := toolcrib.Caller{Subject: "ann", Session: "x", Dialect: dialect.AgenticX}
	out := map[string]string{
		"use_skill":          h.say(t, session("n"), "use_skill", map[string]string{"name": name}),
		"read_skill_file":    h.say(t, session("n"), "read_skill_file", map[string]string{"skill": name, "path": "SKILL.md"}),
		"agenticx skill_use": h.say(t, agenticx, "skill_use", map[string]string{"name": name}),
	}
	s := sdkSession(t, h.App, session("m"))
	prompt, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name, Arguments: map[string]string{"task": "the task at hand"}})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := prompt.Messages[0].Content.(*mcp.TextContent)
	if all, _ := json.Marshal(prompt); first == nil || !strings.Contains(string(all), "the task at hand") {
		t.Fatalf("the prompt has no text, or no task: %s", all)
	}
	out["prompt"] = first.Text
	resource, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "skill://" + name + "/SKILL.md"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range resource.Contents {
		out["resource"] += c.Text + "\n"
	}
	for way, text := range out {
		if !strings.Contains(text, "Do it well.") {
			t.Errorf("%s has no instructions: %q", way, text)
		}
	}
	return out
}

func (h skillHouse) wantTrusted(t *testing.T, name string, trusted bool) {
	t.Helper()
	for way, text := range h.ways(t, name) {
		if marked := strings.HasPrefix(text, warned); marked == trusted {
			t.Errorf("%s of the skill %s: marked %v, want %v: %.300q", way, name, marked, !trusted, text)
		}
		if trusted && strings.Contains(text, "not instructions") {
			t.Errorf("%s of the skill %s is called no instructions: %.300q", way, name, text)
		}
	}
}

// TestSkillIsTrustedByItsOrigin: the skill that a person wrote is instructions, and the one
// of a project is marked, by every way that leads to a model.
func TestSkillIsTrustedByItsOrigin(t *testing.T) {
	h := openSkillHouse(t, nil, nil)
	h.wantTrusted(t, "mine", true)
	h.wantTrusted(t, "theirs", false)
	for _, dialect := range []struct{ name, tool string }{{"", "list_skills"}, {dialect.AgenticX, "skill_list"}} {
		if text := h.say(t, toolcrib.Caller{Subject: "ann", Dialect: dialect.name}, dialect.tool, nil); !strings.HasPrefix(text, warned) {
			t.Errorf("%s has words of the project without a mark: %q", dialect.tool, text)
		}
	}
}

// TestOwnSkillsAreListedWithoutMark: where every skill is the person's, so is the list.
func TestOwnSkillsAreListedWithoutMark(t *testing.T) {
	h := openSkillHouse(t, nil, func(c *settings.Config) { c.Toolboxes.Skill.Project = false })
	if text := h.say(t, session("l"), "list_skills", nil); strings.Contains(text, "untrusted") {
		t.Errorf("the list is marked: %q", text)
	}
}

// TestReadingASkillIsNotPrivate: the flow guard counts a skill of the person as nothing,
// and one of others as words of others.
func TestReadingASkillIsNotPrivate(t *testing.T) {
	h := openSkillHouse(t, nil, nil)
	for name, want := range map[string]policy.Labels{"mine": 0, "theirs": policy.LabelUntrusted} {
		for _, tool := range []string{"use_skill", "read_skill_file", "skill_prompt"} {
			caller := session(name + tool)
			input := map[string]string{"skill": name}
			switch tool {
			case "use_skill":
				input = map[string]string{"name": name}
			case "read_skill_file":
				input["path"] = "SKILL.md"
			}
			h.say(t, caller, tool, input)
			if got, _, _ := h.Notebook.Flow.Session(caller); got != want {
				t.Errorf("%s of %s: the conversation has read %s, want %s", tool, name, got, want)
			}
		}
	}
}

// TestForgedSkillsAreMarked: nothing that a project or a tool can write becomes a skill of the
// person, whatever it is called and wherever links lead.
func TestForgedSkillsAreMarked(t *testing.T) {
	in := func(base string) string { return filepath.Join(base, ".agents", "skills", "forged", "SKILL.md") }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		prepare func(dir, home string)
		change  func(c *settings.Config, dir, home string)
	}{
		"a project's skill with the name of the person's": {prepare: func(dir, home string) {
			writeSkill(t, in(dir), "forged", "d")
			writeSkill(t, in(home), "forged", "d")
		}},
		"the person's folder is a link into the project": {prepare: func(dir, home string) {
			writeSkill(t, filepath.Join(dir, "docs", "forged", "SKILL.md"), "forged", "d")
			must(os.MkdirAll(filepath.Join(home, ".agents"), 0o755))
			must(os.Symlink(filepath.Join(dir, "docs"), filepath.Join(home, ".agents", "skills")))
		}},
		"a file of the project by another name": {prepare: func(dir, home string) {
			writeSkill(t, filepath.Join(dir, "docs", "x.md"), "forged", "d")
			must(os.MkdirAll(filepath.Dir(in(home)), 0o755))
			must(os.Link(filepath.Join(dir, "docs", "x.md"), in(home)))
		}},
		"tools may write the person's folder": {
			prepare: func(_, home string) { writeSkill(t, in(home), "forged", "d") },
			change: func(c *settings.Config, _, home string) {
				c.Grant.Write = append(c.Grant.Write, filepath.Join(home, ".agents"))
			},
		},
		"every account may write the file": {prepare: func(_, home string) {
			writeSkill(t, in(home), "forged", "d")
			must(os.Chmod(in(home), 0o666))
		}},
		"every account may write the folder": {prepare: func(_, home string) {
			writeSkill(t, in(home), "forged", "d")
			must(os.Chmod(filepath.Dir(in(home)), 0o777))
		}},
		"a folder of the project that the settings name": {
			prepare: func(dir, _ string) { writeSkill(t, filepath.Join(dir, "docs", "forged", "SKILL.md"), "forged", "d") },
			change: func(c *settings.Config, dir, _ string) {
				c.Grant.Write, c.Grant.Read, c.Toolboxes.Skill.Paths = nil, []string{"."}, []string{filepath.Join(dir, "docs")}
			},
		},
		"a path in the settings that begins in the project": {
			prepare: func(dir, _ string) { writeSkill(t, filepath.Join(dir, "docs", "forged", "SKILL.md"), "forged", "d") },
			change: func(c *settings.Config, _, _ string) {
				c.Grant.Write, c.Grant.Read, c.Toolboxes.Skill.Paths = nil, []string{"."}, []string{"docs"}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var dir, home string
			h := openSkillHouse(t, func(d, h string) { dir, home = d, h; tt.prepare(d, h) }, func(c *settings.Config) {
				if tt.change != nil {
					tt.change(c, dir, home)
				}
			})
			h.wantTrusted(t, "forged", false)
		})
	}
}

// TestNamedFolderIsThePersons: a folder outside of the project that the settings name is as
// much the person's as those in the home directory.
func TestNamedFolderIsThePersons(t *testing.T) {
	named := t.TempDir()
	writeSkill(t, filepath.Join(named, "kept", "SKILL.md"), "kept", "d")
	h := openSkillHouse(t, nil, func(c *settings.Config) { c.Toolboxes.Skill.Paths = []string{named} })
	h.wantTrusted(t, "kept", true)
}

// TestFurtherFilesAreJudgedByThemselves: a file in the folder of a person's skill that others may
// write is marked, although the skill is not.
func TestFurtherFilesAreJudgedByThemselves(t *testing.T) {
	h := openSkillHouse(t, func(_, home string) {
		for name, mode := range map[string]os.FileMode{"own.md": 0o644, "open.md": 0o666} {
			file := filepath.Join(home, ".claude", "skills", "mine", name)
			if err := os.WriteFile(file, []byte("More."), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(file, mode); err != nil {
				t.Fatal(err)
			}
		}
	}, nil)
	for name, want := range map[string]bool{"own.md": false, "open.md": true} {
		text := h.say(t, session("f"), "read_skill_file", map[string]string{"skill": "mine", "path": name})
		if strings.HasPrefix(text, warned) != want {
			t.Errorf("%s: marked %v, want %v: %q", name, !want, want, text)
		}
	}
}
