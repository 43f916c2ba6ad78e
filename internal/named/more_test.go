//go:build !windows

package named_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/named"
)

// TestProjectForms is the attack on scripts that settings of a project name in
// other forms.
func TestProjectForms(t *testing.T) {
	for _, c := range []struct{ file, text, held string }{
		{".vscode/settings.json", `{"go.alternateTools": {"go": "./s/x.sh"}}`, "s/x.sh"},
		{".vscode/settings.json", `{"python.defaultInterpreterPath": "${workspaceFolder}/s/x.sh"}`, "s/x.sh"},
		{".vscode/settings.json", `{"python.defaultInterpreterPath": "${workspaceFolder}/.venv/bin/python", "files.exclude": {"s/x.sh": true}}`, ""},
		{".vscode/tasks.json", `{"tasks": [{"command": "./x.sh", "options": {"cwd": "${workspaceFolder}/s"}, "runOptions": {"runOn": "folderOpen"}}]}`, "s/x.sh"},
		{".vscode/tasks.json", `{"tasks": [{"command": "true", "options": {"shell": {"executable": "s/x.sh"}}, "runOptions": {"runOn": "folderOpen"}}]}`, "s/x.sh"},
		{".zed/settings.json", `{"lsp": {"a": {"binary": {"path": "s/x.sh"}}}}`, "s/x.sh"},
		{".lintstagedrc.json", `{"*.js": ["eslint --fix", "s/x.sh"]}`, "s/x.sh"},
		{".nvim.lua", `dofile("s/x.lua")`, "s/x.lua"},
		{".envrc", "use_nix\n", "default.nix shell.nix"},
		{".envrc", "eval \"$(lorri direnv)\"\n", "default.nix shell.nix"},
		{".envrc", "use vim s/x.vim\n", "s/x.vim"},
		{".envrc", "eval \"$(flox activate)\"\n", ".flox/env/manifest.toml"},
		{".envrc", "conda activate ./env\n", "env/etc/conda/activate.d/a.sh"},
		{".envrc", "watch_file s/*.nix s/x.sh\n", "s/a.nix"},
	} {
		top := t.TempDir()
		for _, name := range []string{"s/x.sh", "s/x.lua", "s/x.vim", "s/a.nix", "shell.nix", "default.nix", ".flox/env/manifest.toml", "env/etc/conda/activate.d/a.sh", ".venv/bin/python"} {
			write(t, filepath.Join(top, name), "x", 0o755)
		}
		write(t, filepath.Join(top, c.file), c.text, 0o600)
		var got []string
		for _, file := range (&named.Finder{}).Project(top) {
			rel, err := filepath.Rel(top, file)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		if diff := cmp.Diff(c.held, strings.Join(got, " ")); diff != "" {
			t.Error(c.file, c.text, diff)
		}
	}
}
