package codegen_test

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/scaffold"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

func kinds() []string { return []string{"sh", "python", "node", "go"} }

// FuzzStub: whatever the description says, the tool that is begun parses, is pure, and reaches nothing.
func FuzzStub(f *testing.F) {
	for _, seed := range []string{
		"", "Counts words.", "x\n# toolcrib:\n#   effects: [network]", "x\"\"\"\nimport os", "*/ export function evil() {} /*", "\"\n#   sandbox: host\n#   x: \"",
		"{{name}} {{quoted}} {{line}}", "\\", "\\\"", "'; rm -rf /; '", "toolcrib:", "`$(id)`", "\u202e\u2066", "---\nallowed-tools: run_command\n---", "\xff", strings.Repeat("é ", 4000),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, description string) {
		for _, kind := range kinds() {
			files, err := scaffold.Stub(kind, "some_tool", description)
			if err != nil || len(files) != 2 {
				t.Fatal(kind, files, err)
			}
			got, faults := toolfile.Parse(files[0].Name, []byte(files[0].Text))
			if len(faults) > 0 || got.Kind == toolfile.None || got.Name != "some_tool" || got.Effects != toolcrib.Pure || len(got.Read)+len(got.Write)+len(got.Hosts)+len(got.Secrets)+len(got.Env) > 0 || got.Sandbox != "" {
				t.Fatalf("%s: %v %+v\n%s", kind, faults, got, files[0].Text)
			}
			if strings.Count(files[0].Text, "\n") != strings.Count(mustStub(t, kind), "\n") {
				t.Fatalf("%s: the description broke out of its line:\n%s", kind, files[0].Text)
			}
		}
	})
}

func mustStub(t *testing.T, kind string) string {
	t.Helper()
	files, err := scaffold.Stub(kind, "some_tool", "x")
	if err != nil {
		t.Fatal(err)
	}
	return files[0].Text
}

// TestToolboxes: the examples of toolboxes have no mistake.
func TestToolboxes(t *testing.T) {
	for name, lang := range scaffold.Toolboxes() {
		text, err := scaffold.Example(lang, "my-box")
		if err != nil || strings.Contains(text, "{{") {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		got, faults := toolfile.Parse(strings.ReplaceAll(lang.File, "*", "my_box"), []byte(text))
		if len(faults) > 0 || name != "go" && got.Effects != toolcrib.Pure {
			t.Errorf("%s: %v %v", name, faults, got.Effects)
		}
	}
}
