package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrittenAnew: where a person wrote another server of the same name, or made our entry
// their own, that stays; and what the file held before, whose secrets go from the vault,
// is not lost.
func TestWrittenAnew(t *testing.T) {
	dir := few(t)
	cursor, claude := filepath.Join(dir, ".cursor", "mcp.json"), filepath.Join(dir, ".claude.json")
	was, err := os.ReadFile(cursor)
	if err != nil {
		t.Fatal(err)
	}
	s := machine(dir, testKey)
	run(t, s)
	const mine = `{"mcpServers": {"github": {"command": "mine", "args": ["later"]}, "toolcrib": {"command": "/opt/wrapper"}}}`
	if !strings.Contains(string(was), `"github"`) || !strings.Contains(string(was), "ghp_") {
		t.Fatalf("the file is of no use here:\n%s", was)
	}
	writeFile(t, cursor, mine)
	if err := os.Remove(claude); err != nil {
		t.Fatal(err)
	}
	u := undo(t, s)
	now, err := os.ReadFile(cursor)
	if err != nil || !strings.Contains(string(now), `"later"`) || !strings.Contains(string(now), "/opt/wrapper") {
		t.Errorf("a person's work is lost: %v\n%s", err, now)
	}
	kept, err := os.ReadFile(cursor + ".before-setup")
	if err != nil || string(kept) != string(was) {
		t.Errorf("what was there before is lost: %v\n%s", err, kept)
	}
	info, err := os.Stat(claude + ".before-setup")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if said := strings.Join(u.Kept, "\n"); !strings.Contains(said, "mcp.json.before-setup") || !strings.Contains(said, ".claude.json.before-setup") || !strings.Contains(said, "toolcrib was changed since") {
		t.Errorf("it is not told: %s", said)
	}
	if left := secrets(t, s); len(left) > 0 {
		t.Errorf("%q", left)
	}
}

// TestOtherSettings: this very program with the settings of somebody else is not taken for
// the one that governs.
func TestOtherSettings(t *testing.T) {
	for name, entry := range map[string]string{
		"a file":     `{"command": "/opt/toolcrib", "args": ["mcp", "--config", "/tmp/open.yaml"]}`,
		"a setting":  `{"command": "/opt/toolcrib", "args": ["mcp", "--set", "mode=yolo"]}`,
		"a home":     `{"command": "/opt/toolcrib", "args": ["mcp"], "env": {"TOOLCRIB_HOME": "/tmp/open"}}`,
		"a preload":  `{"command": "/opt/toolcrib", "args": ["mcp"], "env": {"LD_PRELOAD": "/tmp/x.so"}}`,
		"after mine": `{"command": "/opt/toolcrib", "args": ["mcp", "--agent", "a", "--set", "mode=yolo"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, ".cursor", "mcp.json")
			writeFile(t, file, `{"mcpServers": {"work": `+entry+`}}`)
			s := machine(dir, testKey)
			r := run(t, s)
			now, err := os.ReadFile(file)
			if err != nil || strings.Contains(string(now), "work") || len(r.Round) > 0 {
				t.Errorf("%v, %q\n%s", err, r.Round, now)
			}
		})
	}
	t.Run("an agent", func(t *testing.T) {
		dir := t.TempDir()
		file := filepath.Join(dir, ".cursor", "mcp.json")
		const own = `{"mcpServers": {"toolcrib": {"command": "/opt/toolcrib", "args": ["mcp", "--agent", "reader"]}}}`
		writeFile(t, file, own)
		run(t, machine(dir, testKey))
		if now, err := os.ReadFile(file); err != nil || string(now) != own {
			t.Errorf("%v\n%s", err, now)
		}
	})
}
