package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestDotfilesAreObeyed: a project holds the dotfiles that links at home lead to.
// What programs obey through them is asked about and read-only for commands, and
// what is protected there is out of reach, settings of Toolcrib with it. Ordinary
// work goes on.
func TestDotfilesAreObeyed(t *testing.T) {
	a, dir := outsideShop(t, func(cfg *settings.Config, dir, base string) {
		cfg.Permissions.Allow = append(cfg.Permissions.Allow, "write_file(nvim/init.lua)")
		for home, to := range map[string]string{
			".claude/settings.json": "claude/s.json", ".bashrc.d/a": "bash/a", ".config/nvim/init.lua": "nvim/init.lua", ".config/Code/User/snippets": "code/snippets", ".config/zed/new.json": "cur/new.json",
			".ssh/config": "ssh/cfg", ".config/toolcrib/config.yaml": "tc/settings.yaml", ".local/bin/tool": "build/tool", ".local/bin/ls": "build/ls", ".claude/CLAUDE.md": "CLAUDE.md", ".vim/pack": "",
			".config/toolcrib/plugins/p": "plugin/p", ".config/autostart": "auto",
		} {
			if to != "" && to != "cur/new.json" && to != "auto" && to != "code/snippets" {
				plant(t, filepath.Join(dir, to), "before\n")
			}
			link := filepath.Join(base, "home", home)
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(dir, to), link); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(dir, "one"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("one", filepath.Join(dir, "cur")); err != nil {
			t.Fatal(err)
		}
	})
	write := func(name string) error {
		_, err := callText(t, a, "write_file", fmt.Sprintf(`{"path":%q,"content":"evil"}`, name))
		return err
	}
	for name, why := range map[string]string{
		"claude/s.json": "obeys it", "bash/a": "obeys it", "code/snippets/x": "obeys it", "cur/new.json": "obeys it", "one/new.json": "obeys it", "build/ls": "obeys it", "ssh/cfg": "protected", "tc/settings.yaml": "protected", "auto/x": "protected",
	} {
		if err := write(name); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: write_file in yolo: %v", name, err)
		}
		got := run(t, a, "mkdir -p auto code/snippets; echo evil > "+name+"; mv $(dirname "+name+") away; rm -f cur")
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil && strings.Contains(string(text), "evil") {
			t.Errorf("%s: a command wrote it: %+v", name, got)
		}
	}
	if got := run(t, a, "cat claude/s.json; cat ssh/cfg tc/settings.yaml"); got.Stdout != "before\n" {
		t.Errorf("read by a command: %+v", got)
	}
	for _, name := range []string{"nvim/init.lua", "build/tool", "CLAUDE.md", "main.go", "plugin/other"} {
		if err := write(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := run(t, a, "for f in build/tool CLAUDE.md main.go bash/new; do echo fine > $f; done && cat bash/new"); got.Stdout != "fine\n" {
		t.Errorf("ordinary work: %+v", got)
	}
}
