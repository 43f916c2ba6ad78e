package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// reasons is a person who says no, and keeps why it was asked.
type reasons struct{ said []string }

func (p *reasons) Approve(_ context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	var all []string
	for _, v := range q.Reasons {
		all = append(all, v.Reason)
	}
	p.said = append(p.said, strings.Join(all, "; "))
	return toolcrib.Answer{Decision: toolcrib.Deny, By: "test"}, nil
}

// TestSkillNamesItsTools: while a session follows a skill that names the tools it needs,
// these are used as before, and every other is asked about with the name of the skill,
// or refused; other sessions and other people are not concerned, and neither is this one
// once the skill is ended. Naming a tool allows nothing.
func TestSkillNamesItsTools(t *testing.T) {
	for _, mode := range []string{"ask", "strict"} {
		t.Run(mode, func(t *testing.T) {
			skills := t.TempDir()
			text := "---\nname: history\ndescription: Tells what happened.\nallowed-tools: Read, Bash(git:*), file_write\n---\nLook.\n"
			if err := os.Mkdir(filepath.Join(skills, "history"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(skills, "history", "SKILL.md"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			a, dir := workshop(t, func(c *settings.Config) {
				c.Toolboxes.Skill.Paths, c.Toolboxes.Skill.Allowed = []string{skills}, mode
				c.Permissions.Deny = []string{"write_file(./kept/**)"}
			})
			asked := &reasons{}
			a.Crib.Approver = asked
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			mine := toolcrib.Caller{Subject: "ann", Session: "one"}
			call := func(c toolcrib.Caller, tool string, input any) error {
				t.Helper()
				data, err := json.Marshal(input)
				if err != nil {
					t.Fatal(err)
				}
				_, err = a.Crib.Call(t.Context(), toolcrib.Call{Tool: tool, Input: data, Caller: c})
				return err
			}
			edit := map[string]any{"path": "a.txt", "old_text": "hello", "new_text": "hello"}
			command := func(line string) map[string]any { return map[string]any{"command": line} }
			if err := call(mine, "edit_file", edit); err != nil {
				t.Fatalf("before: %v", err)
			}
			if err := call(mine, "use_skill", map[string]any{"name": "history"}); err != nil {
				t.Fatal(err)
			}
			for tool, input := range map[string]any{
				"read_file": map[string]any{"path": "a.txt"}, "search_files": map[string]any{"pattern": "hello"},
				"run_command": command("git status"), "write_file": map[string]any{"path": "b.txt", "content": "x"},
				"list_skills": map[string]any{}, "read_skill_file": map[string]any{"skill": "history", "path": "SKILL.md"},
			} {
				if err := call(mine, tool, input); err != nil || asked.said != nil {
					t.Errorf("%s, which it names: %v, asked %q", tool, err, asked.said)
				}
			}
			if err := call(mine, "write_file", map[string]any{"path": "kept/c.txt", "content": "x"}); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
				t.Errorf("what a rule denies: %v", err)
			}
			for _, c := range []struct {
				tool  string
				input any
			}{
				{"edit_file", edit}, {"run_command", command("git status; ls")}, {"run_command", command("ls")}, {"run_command", command("git status && $(echo ls)")}, {"get_current_datetime", map[string]any{}},
			} {
				asked.said = nil
				err := call(mine, c.tool, c.input)
				if toolcrib.CodeOf(err) != toolcrib.CodeDenied {
					t.Errorf("%s %v: %v", c.tool, c.input, err)
				}
				told := strings.Join(asked.said, "")
				if mode == "strict" {
					if asked.said != nil {
						t.Errorf("somebody was asked: %q", asked.said)
					}
					told = err.Error()
				}
				if !strings.Contains(told, "the skill history, which is in use, names other tools: Read, Bash(git:*), file_write") {
					t.Errorf("%s %v: told %q", c.tool, c.input, told)
				}
			}
			asked.said = nil
			for _, other := range []toolcrib.Caller{{Subject: "ann", Session: "two"}, {Subject: "bob", Session: "one"}, {Subject: "ann", Session: "one", Organisation: "acme"}} {
				if err := call(other, "edit_file", edit); err != nil || asked.said != nil {
					t.Errorf("%+v: %v, %q", other, err, asked.said)
				}
			}
			if err := call(mine, "use_skill", map[string]any{"name": "history", "active": false}); err != nil {
				t.Error(err)
			}
			if err := call(mine, "edit_file", edit); err != nil || asked.said != nil {
				t.Errorf("after its end: %v, %q", err, asked.said)
			}
		})
	}
}
