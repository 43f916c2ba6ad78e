package skill

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestSkillPrompt: the prompt of a skill has its text, its files and the task, and the session follows the skill then.
func TestSkillPrompt(t *testing.T) {
	root := plant(t, map[string]string{"pdf/SKILL.md": skillText("pdf", "Work with PDF files.", "Use a library."), "pdf/forms.md": "Forms."})
	own := at("user", root)
	own.Origin = Person
	box := open(t, Config{Places: []Place{own}, Screens: "mcp-shelf"}, Needs{
		Scratch: func(toolcrib.Caller, string) (string, error) { return "/scratch/1", nil },
		Foreign: func(string, fs.FileInfo) error { return nil },
	})
	out, failed := call[promptOut](t, box, "skill_prompt", map[string]string{"skill": "pdf", "task": "Fill in the form."})
	if failed != "" || out.Description != "Work with PDF files." || len(out.Messages) != 1 || out.Messages[0].Role != "user" {
		t.Fatalf("%+v, %s", out, failed)
	}
	for _, part := range []string{"the skill pdf", "Use a library.", "forms.md", "/scratch/1", "The task: Fill in the form."} {
		if !strings.Contains(out.Messages[0].Content.Text, part) {
			t.Errorf("it lacks %q: %s", part, out.Messages[0].Content.Text)
		}
	}
	if got := box.Active(toolcrib.Caller{Subject: "ann"}); len(got) != 1 || got[0].Name != "pdf" {
		t.Errorf("followed: %v", got)
	}
	if out, failed = call[promptOut](t, box, "skill_prompt", map[string]string{"skill": "pdf"}); failed != "" || strings.Contains(out.Messages[0].Content.Text, "The task") {
		t.Errorf("%+v, %s", out, failed)
	}
	// Beside words of others the task stands apart, so that no mark of theirs is about it.
	foreign := open(t, Config{Places: []Place{at("user", root)}, Screens: "mcp-shelf"}, Needs{})
	out, failed = call[promptOut](t, foreign, "skill_prompt", map[string]string{"skill": "pdf", "task": "Fill in the form."})
	if failed != "" || len(out.Messages) != 2 || strings.Contains(out.Messages[0].Content.Text, "Follow") || out.Messages[1].Content.Text != "The task: Fill in the form.\n" || out.Meta.Trusted {
		t.Errorf("%+v, %s", out, failed)
	}
	if _, failed = call[promptOut](t, box, "skill_prompt", map[string]string{"skill": "none"}); !strings.Contains(failed, "there is no skill") {
		t.Error(failed)
	}
	tools, err := open(t, Config{Places: []Place{at("user", root)}}, Needs{}).Tools(t.Context())
	for _, tool := range tools {
		if tool.Name == "skill_prompt" || err != nil {
			t.Errorf("there is one without screens, %v", err)
		}
	}
}
