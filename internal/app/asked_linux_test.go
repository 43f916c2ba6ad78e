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

// TestPlacesThatAreAskedAboutWhenWritten: a rule that names only a tool that writes asks
// about whatever a command does to the place, in every mode that asks about nothing else.
func TestPlacesThatAreAskedAboutWhenWritten(t *testing.T) {
	for _, rule := range []string{"write_file(./infra/prod/**)", "edit_file(./infra/prod/**)"} {
		for _, mode := range []string{"yolo", "auto-edit"} {
			a, dir := workshop(t, func(c *settings.Config) {
				c.Mode, c.Permissions = mode, policy.Permissions{Ask: []string{rule}}
			})
			asked := &person{says: toolcrib.Deny}
			a.Crib.Approver = asked
			file := filepath.Join(dir, "infra", "prod", "a.yml")
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, command := range []string{"rm -rf infra", "rm infra/prod/a.yml", "mv infra i2", "sed -i s/mine/x/ infra/prod/a.yml", "echo x > infra/prod/new", "chmod 600 infra/prod/a.yml", "cd infra && cp prod/a.yml b && mv b prod/a.yml; rm prod/a.yml"} {
				before := asked.asked
				if out, err := runCommand(t.Context(), a, command, 20); err != nil || asked.asked != before+1 {
					t.Errorf("%s, %s: %s: %+v, %v, asked %d times", rule, mode, command, out, err, asked.asked-before)
				}
				if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
					t.Fatalf("%s, %s: %s: %q, %v", rule, mode, command, text, err)
				}
				if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
					t.Fatalf("%s, %s: %s: %v, %v", rule, mode, command, entries, err)
				}
			}
		}
	}
}
