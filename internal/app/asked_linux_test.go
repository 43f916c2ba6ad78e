package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestPlacesThatAreAskedAbout: whichever way a command finds a place that a rule
// asks about, it writes there only if a person was asked.
func TestPlacesThatAreAskedAbout(t *testing.T) {
	a, dir := workshop(t, func(c *settings.Config) {
		c.Permissions = policy.Permissions{Ask: []string{"write_file(./infra/prod/**)", "read_file(./private/**)"}}
	})
	asked := &person{says: toolcrib.Deny}
	a.Crib.Approver = asked
	file := filepath.Join(dir, "infra", "prod", "a.yml")
	for name, text := range map[string]string{file: "mine", filepath.Join(dir, "private", "k"): "mine", filepath.Join(dir, "build.sh"): "echo built > out; cat infra/prod/a.yml out"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{
		"p=prod; echo z > infra/$p/a.yml", "mkdir -p x && cd x && touch ../infra/prod/w", "rm -rf infra", "mv infra i2; touch i2/prod/w",
		`python3 -c "import os; os.chdir('infra'); open('prod/a.yml', 'w')"`, `find . -path '*/prod/*' -type f -delete`, "cat *riv*/k; grep -r mine .", "for d in */; do ls $d; cat ${d}k; done",
	} {
		before := asked.asked
		out, err := runCommand(t.Context(), a, command, 20)
		if err != nil && asked.asked == before {
			t.Errorf("%s: %v", command, err)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
			t.Fatalf("%s: %q, %v\n%+v", command, text, err, out)
		}
		if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
			t.Fatalf("%s: %v, %v", command, entries, err)
		}
	}
	if out, err := runCommand(t.Context(), a, "sh build.sh", 20); err != nil || out.ExitCode != 0 || out.Stdout != "minebuilt\n" {
		t.Errorf("what nobody asks about: %+v, %v", out, err)
	}
	asked.says, asked.asked = toolcrib.Allow, 0
	if out, err := runCommand(t.Context(), a, "echo new > infra/prod/a.yml", 20); err != nil || out.ExitCode != 0 || asked.asked != 1 {
		t.Errorf("after a yes: %+v, %v, asked %d times", out, err, asked.asked)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "new\n" {
		t.Errorf("after a yes: %q, %v", text, err)
	}
}
