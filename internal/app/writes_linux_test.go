package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestRedirectionsGoByWriteFile: a line writes unasked what the file tool writes
// unasked, and nothing else; what explain says is what happens.
func TestRedirectionsGoByWriteFile(t *testing.T) {
	document := func(file string) string { return "cat > " + file + " <<'EOF'\nhello\nEOF" }
	for _, tt := range []struct {
		name    string
		change  func(*settings.Config)
		unasked []string
		asked   []string
	}{
		{"auto-edit", func(c *settings.Config) {
			c.Mode = "auto-edit"
			c.Permissions.Deny = []string{"write_file(./held/**)"}
			c.Permissions.Ask = []string{"write_file(./deploy/**)"}
		}, []string{
			document("x.go"), document("src/y.go"), "cd src && " + document("z.go"), "echo a >> src/y.go", "printf 'a\\n' | tee t.txt", "echo a | tee -a t.txt > /dev/null", "ls > list.txt 2>&1", "ls 2> err.txt", "sort src/y.go > sorted.txt",
		}, []string{
			document(".envrc"), document(".env"), document(".git/hooks/pre-commit"), document(".vscode/tasks.json"), document("../outside.txt"), document("out/x"), document("held/x"), document("deploy/x"), document("lead"),
			"echo a | tee .envrc", "echo a | tee x.go ../outside.txt", "echo a > $HOME/x", "cd out && echo a > x", "make > x.log", document("x.sh") + "\nsh x.sh", "ls > /dev/full",
		}},
		{"default", nil, nil, []string{document("x.go"), "echo a | tee t.txt"}},
		{"a rule", func(c *settings.Config) { c.Permissions.Allow = []string{"write_file(./src/**)"} }, []string{document("src/y.go"), "echo a | tee src/t.txt"}, []string{document("x.go"), document("src/../x.go"), "make > src/x.log"}},
		{"no such tool", func(c *settings.Config) { c.Mode, c.Tools.Disable = "auto-edit", []string{"write_file"} }, nil, []string{document("x.go")}},
		{"plan", func(c *settings.Config) { c.Mode = "plan" }, nil, []string{document("x.go")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, dir := workshop(t, func(c *settings.Config) {
				c.Mode, c.Sandbox.Layers = "default", false // as where no layers can be had: on one, what it wrote is judged
				if tt.change != nil {
					tt.change(c)
				}
			})
			for _, d := range []string{"src", "held", "deploy"} {
				if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for name, target := range map[string]string{"out": filepath.Dir(dir), "lead": "../outside.txt"} {
				if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			for _, line := range tt.unasked {
				if got, err := runCommand(t.Context(), a, line, 20); err != nil || got.ExitCode != 0 {
					t.Errorf("%q: %+v, %v", line, got, err)
				}
			}
			for _, line := range tt.asked {
				input, err := json.Marshal(map[string]string{"command": line})
				if err != nil {
					t.Fatal(err)
				}
				e, err := a.Explain(t.Context(), toolcrib.Call{Tool: "run_command", Input: input, Caller: toolcrib.Caller{Subject: "test"}})
				if err != nil || e.Allowed() {
					t.Errorf("%q would run unasked: %+v, %v", line, e, err)
				}
				if got, err := runCommand(t.Context(), a, line, 5); err == nil {
					t.Errorf("%q ran unasked: %+v", line, got)
				}
			}
			if len(tt.unasked) == 0 {
				return
			}
			if text, err := os.ReadFile(filepath.Join(dir, "src", "y.go")); err != nil || !strings.HasPrefix(string(text), "hello\n") {
				t.Errorf("src/y.go: %q, %v", text, err)
			}
		})
	}
}
