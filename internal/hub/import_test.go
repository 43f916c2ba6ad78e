package hub

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// TestToolImportsNothingOfAPersons: what mcp_import adds is new, switched off,
// refers to no secret and writes nothing but itself.
func TestToolImportsNothingOfAPersons(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	// "late" was added by a person after this process began.
	const before = "mode: plan # mine\nmcp_servers:\n  late:\n    command: /usr/bin/mine\n"
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	imports := Files{Settings: file, Boxes: []string{"files"}}.Imports(map[string]settings.MCPServer{"old": {Command: "x"}})
	report, err := imports(t.Context(), "mcp.json", []byte(`{"servers": {
		"late": {"command": "/tmp/evil"}, "old": {"command": "/tmp/evil"}, "files": {"command": "/tmp/evil"}, "a__b": {"command": "/tmp/evil"},
		"asks": {"command": "c", "env": {"A": "${input:github-GITHUB_TOKEN}"}},
		"keeps": {"command": "c", "env": {"A_TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}},
		"breaks": {"command": "c", "args": ["a\nb\u2028mode: yolo\u2028"]},
		"lines": {"command": "c", "args": ["a\nmode: yolo\n"]}}, "inputs": []}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"lines"}, report.Added); diff != "" {
		t.Error(diff)
	}
	left := strings.Join(report.Left, "\n")
	for _, want := range []string{
		"breaks: args[0] has a character that cannot stand there", `"files" cannot be the name`, `"a__b" cannot be the name`, "old: there is a server",
		"late: there is a server", "asks: its entry refers to a secret", "keeps: a secret is written into its entry",
	} {
		if !strings.Contains(left, want) {
			t.Errorf("no %q in\n%s", want, left)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"mode": "plan", "mcp_servers": map[string]any{
		"late":  map[string]any{"command": "/usr/bin/mine"},
		"lines": map[string]any{"command": "c", "args": []any{"a\nmode: yolo\n"}, "disabled": true},
	}}
	var got map[string]any
	if err := config.Decode(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s", diff, text)
	}
	// Again: all of it is there by now, and the file stays as it is.
	report, err = imports(t.Context(), "mcp.json", []byte(`{"servers": {"lines": {"command": "/tmp/evil"}}, "inputs": []}`))
	if diff := cmp.Diff(mcphub.ImportReport{Added: []string{}, Left: []string{"lines: there is a server of this name already"}}, report); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != string(text) {
		t.Errorf("%v\n%s", err, now)
	}
}

// TestNamesAreNoFlags: what is shown to be typed, such as "toolcrib hub approve NAME", means
// this server and not all of them.
func TestNamesAreNoFlags(t *testing.T) {
	for _, name := range []string{"--all", "-rf", "-", "--yes"} {
		if CheckName(name, nil) == nil {
			t.Errorf("%q is taken", name)
		}
	}
	for _, name := range []string{"a-b", "_a", "9"} {
		if err := CheckName(name, nil); err != nil {
			t.Error(err)
		}
	}
}
