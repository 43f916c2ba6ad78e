package host_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// TestSkillOverTheSocket: the tool of a skill is the recorded one, however it is
// asked for, and without a model it fails as the recorded one does.
func TestSkillOverTheSocket(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "SKILL.md")
	if err := os.WriteFile(file, []byte("---\nname: web-search\ndescription: Search the web: use for facts\n---\nSearch.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	box, err := skill.Open(t.Context(), skill.Config{Places: []skill.Place{{Path: file, File: true}}}, skill.Needs{
		Open: func(skill.Place) (*files.Handle, error) {
			return files.New([]files.Dir{{Path: root}}, files.Options{})
		},
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	skills, err := box.Skills(t.Context())
	if err != nil || len(skills) != 1 {
		t.Fatal(skills, err)
	}
	r := furnish(t, setup{more: []toolcrib.Toolbox{box}})
	adapters, left := dialect.OVOSSkills([]dialect.Skill{{Name: skills[0].Name, Description: skills[0].Description}}, box.Runs(), nil)
	r.shelving.Adapters = append(r.shelving.Adapters, adapters...)
	if _, faults := r.load(t.Context()); faults != nil || left != nil {
		t.Fatal(faults, left)
	}
	url, _ := serve(t, r.config())
	s := ready(t, url)

	text, err := os.ReadFile("../dialect/testdata/ovos_skill_tool.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded []map[string]any
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	want := recorded[0]
	want["toolbox_id"] = "ovos-skill-md-toolbox"
	for way, got := range map[string]any{
		"get":    s.ask("ovos.tools.get", `{"name":"web_search"}`).Data,
		"list":   named(s.ask("ovos.tools.list", `{}`).Data["tools"], "web_search"),
		"reload": named(s.ask("ovos.tools.reload", `{}`).Data["tools"], "web_search"),
	} {
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Errorf("%s (-recorded +ours):\n%s", way, diff)
		}
	}
	const id = "ovos-skill-md-toolbox"
	for _, r := range []row{
		{Toolbox: id, Name: "web_search", Kwargs: json.RawMessage(`{"task":"x"}`), Error: "RuntimeError: Tool execution failed for 'web_search' in ToolBox '" + id + "'"},
		{Toolbox: id, Name: "web_search", Kwargs: json.RawMessage(`{"task":"x","context":"y","more":1}`), Error: "RuntimeError: Tool execution failed for 'web_search' in ToolBox '" + id + "'"},
		{Toolbox: id, Name: "web_search", Kwargs: json.RawMessage(`{}`), Error: "ValueError: Tool input validation failed for 'web_search' in ToolBox '" + id + "'"},
		{Toolbox: id, Name: "web_search", Kwargs: json.RawMessage(`{"task":"x","context":5}`), Error: "ValueError: Tool input validation failed for 'web_search' in ToolBox '" + id + "'"},
	} {
		s.check(r, persona(r), "ovos.persona.tools.call", "ovos.tools.invoke")
	}
}

// named finds a tool in a list.
func named(list any, name string) any {
	for _, c := range list.([]any) {
		if c, ok := c.(map[string]any); ok && c["name"] == name {
			return c
		}
	}
	return nil
}
