package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestSkillsAndAgentsOverMCP: skills are resources and the instructions of
// agents are prompts; reading them is recorded, and who does not have the tool
// that reads them is not shown them.
func TestSkillsAndAgentsOverMCP(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".agents", "skills", "baking")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: baking\ndescription: How to bake bread.\n---\nMix flour and water.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// One that is called as a file of the other.
	odd := filepath.Join(home, ".agents", "skills", "odd")
	if err := os.MkdirAll(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(odd, "SKILL.md"), []byte("---\nname: baking/odd\ndescription: Something else.\n---\nEat glue.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := settings.Defaults()
	cfg.Agents = map[string]settings.Agent{"writer": {Instructions: "Write short sentences."}, "silent": {}, "narrow": {Profile: "few"}}
	cfg.Profiles = map[string]settings.Profile{"few": {Include: []string{"evaluate_expression"}}}
	a, err := Open(t.Context(), cfg, Needs{State: filepath.Join(home, "state"), Dir: t.TempDir(), Home: home})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	s := sdkClient(t, a, "")
	resources, err := s.ListResources(t.Context(), nil)
	if err != nil || len(resources.Resources) != 2 || resources.Resources[1].URI != "skill://baking/SKILL.md" || resources.Resources[0].URI != "skill://baking%2Fodd/SKILL.md" {
		t.Fatalf("%+v, %v", resources, err)
	}
	read, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "skill://baking/SKILL.md"})
	if err != nil || len(read.Contents) != 1 || !strings.Contains(read.Contents[0].Text, "Mix flour") || read.Contents[0].URI != "skill://baking/SKILL.md" {
		t.Errorf("%+v, %v", read, err)
	}
	read, err = s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "skill://baking%2Fodd/SKILL.md"})
	if err != nil || len(read.Contents) != 1 || !strings.Contains(read.Contents[0].Text, "Eat glue") {
		t.Errorf("%+v, %v", read, err)
	}
	if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "skill://baking/../../../../etc/passwd"}); err == nil {
		t.Error("it read a file outside the skill")
	}
	prompts, err := s.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) != 1 || prompts.Prompts[0].Name != "writer" {
		t.Fatalf("%+v, %v", prompts, err)
	}
	prompt, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "writer"})
	if err != nil || len(prompt.Messages) != 1 {
		t.Fatalf("%+v, %v", prompt, err)
	}
	if text, err := json.Marshal(prompt.Messages[0].Content); err != nil || !strings.Contains(string(text), "Write short sentences.") {
		t.Errorf("%s, %v", text, err)
	}
	narrow := sdkClient(t, a, "narrow")
	if r, err := narrow.ListResources(t.Context(), nil); err == nil && len(r.Resources) > 0 {
		t.Errorf("shown to one who cannot read them: %+v", r)
	}
	if r, err := narrow.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "skill://baking/SKILL.md"}); err == nil {
		t.Errorf("read by one who cannot: %+v", r)
	}
	if r, err := narrow.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "writer"}); err == nil {
		t.Errorf("got by one who cannot: %+v", r)
	}
}

// pipe is a stream with two ends.
type pipe struct {
	ours, theirs *os.File
}

func pipes(t *testing.T) (in, out pipe) {
	t.Helper()
	var err error
	if in.theirs, in.ours, err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	if out.ours, out.theirs, err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	return in, out
}
