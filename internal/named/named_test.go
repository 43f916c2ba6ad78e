package named_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolcrib/toolcrib/internal/named"
)

// TestProject: what settings have others run is found, and nothing else that they
// name.
func TestProject(t *testing.T) {
	top, home := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		".claude/settings.json": `{"hooks": {"PostToolUse": [{"matcher": "src/a.py", "hooks": [{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/scripts/fmt.sh --x"}]}]},
			"permissions": {"allow": ["Bash(scripts/other.sh)"]}, "statusLine": {"type": "command", "command": "bash scripts/status"}, "apiKeyHelper": "scripts/key.sh"}`,
		".mcp.json":                       `{"mcpServers": {"x": {"command": "python3", "args": ["mcp/srv.py", "Makefile", "--db", "data/app.db"], "env": {"F": "src/a.py"}}}}`,
		".vscode/tasks.json":              "{ // on opening\n\"tasks\": [{\"label\": \"src/a.py\", \"command\": \"${workspaceFolder}/scripts/watch.sh\", \"runOptions\": {\"runOn\": \"folderOpen\"},},]}",
		".vscode/settings.json":           `{"files.exclude": {"src/a.py": true}, "python.envFile": "src/a.py", "x.lintCommand": "scripts/lint.sh", "python.testing.pytestArgs": ["src/a.py"], "make.extraArgs": ["-f", "Makefile"]}`,
		".devcontainer/devcontainer.json": `{"initializeCommand": ["sh", "scripts/init.sh"], "postCreateCommand": "scripts/other.sh"}`,
		".codex/config.toml":              "notify = [\n  \"python3\",\n  \"scripts/note.py\",\n]\nmodel = \"src/a.py\"\n[mcp_servers.x]\ncommand = 'scripts/srv'\n",
		".envrc":                          "# . scripts/other.sh\nD=scripts\n. ./scripts/env.sh\nsource_env_if_exists more/env\nwatch_file src/a.py\nPATH_add bin\n[ -f x ] && . \"${D}/fmt2.sh\"\n",
		".husky/pre-commit":               "npm test -- src/a.py\nnode scripts/check.js src/a.py\n",
	} {
		write(t, filepath.Join(top, name), text, 0o644)
	}
	want := []string{"mcp/srv.py", "more/env", "scripts/check.js", "scripts/env.sh", "scripts/fmt.sh", "scripts/fmt2.sh", "scripts/init.sh", "scripts/key.sh", "scripts/lint.sh", "scripts/note.py", "scripts/srv", "scripts/status", "scripts/watch.sh"}
	for _, name := range append([]string{"Makefile", "src/a.py", "data/app.db", "scripts/other.sh", "bin/x"}, want...) {
		write(t, filepath.Join(top, name), "#", 0o644)
	}
	f := &named.Finder{Home: home}
	for range 2 {
		var got []string
		for _, file := range f.Project(top) {
			rel, err := filepath.Rel(top, file)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	write(t, filepath.Join(home, ".bashrc"), "export DOT="+top+"\n# a\nif [ -f x ]; then\n  . "+top+"/scripts/env.sh\nfi\n[ -r y ] && source \"$DOT/scripts/other.sh\"\ncat "+top+"/src/a.py\n", 0o644)
	write(t, filepath.Join(home, ".claude.json"), `{"history": ["`+strings.Repeat("x", 1<<20)+`"], "mcpServers": {"mine": {"command": "node", "args": ["`+top+`/mcp/srv.py", "`+top+`/data/app.db"]}}}`, 0o600)
	write(t, filepath.Join(home, ".claude", "settings.json"), `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "`+top+`/scripts/fmt.sh"}]}]}}`, 0o600)
	if diff := cmp.Diff([]string{filepath.Join(top, "mcp", "srv.py"), filepath.Join(top, "scripts", "env.sh"), filepath.Join(top, "scripts", "fmt.sh"), filepath.Join(top, "scripts", "other.sh")}, f.AtHome()); diff != "" {
		t.Error(diff)
	}
}

// TestDirenv: what direnv evaluates at the next prompt is found.
func TestDirenv(t *testing.T) {
	for text, want := range map[string][]string{
		"use nix": {"shell.nix", "default.nix"}, "use nix nix/dev.nix": {"shell.nix", "default.nix", "nix/dev.nix"},
		"use flake": {"flake.nix", "flake.lock", "shell.nix"}, "use flake ./nix#dev --impure": {"flake.nix", "flake.lock", "shell.nix", "nix/flake.nix"}, "use flake github:a/b": {"flake.nix", "flake.lock", "shell.nix"},
		"use devenv": {"devenv.nix"}, "if has nix; then use flake; fi": {"flake.nix", "flake.lock", "shell.nix"},
		`eval "$(devbox generate direnv --print-envrc)"`: {"devbox.json"},
		`eval "$(cat scripts/env.sh)"`:                   {"scripts/env.sh"}, "direnv_load ./scripts/env.sh dump": {"scripts/env.sh"}, "source $(expand_path scripts/env.sh)": {"scripts/env.sh"},
		"layout python\nexport A=1\nPATH_add bin\nwatch_file package.json # use nix": nil,
	} {
		top := t.TempDir()
		for _, name := range []string{"shell.nix", "default.nix", "nix/dev.nix", "nix/flake.nix", "flake.nix", "flake.lock", "devenv.nix", "devbox.json", "scripts/env.sh", "package.json"} {
			write(t, filepath.Join(top, name), "x", 0o644)
		}
		write(t, filepath.Join(top, ".envrc"), text, 0o644)
		var got []string
		for _, file := range (&named.Finder{Home: t.TempDir()}).Project(top) {
			rel, err := filepath.Rel(top, file)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestForms: a server is found however its settings name it, and what programs
// work on is not.
func TestForms(t *testing.T) {
	server := func(text string) map[string]string {
		return map[string]string{".mcp.json": `{"mcpServers": {"x": {` + text + `}}}`}
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"uv":                {server(`"command": "uv", "args": ["--directory", "b", "run", "main.py"]`), "b/main.py"},
		"a directory":       {server(`"command": "node", "args": ["index.js"], "cwd": "c"`), "c/index.js"},
		"a module":          {server(`"command": "python3", "args": ["-m", "f.srv"]`), "f/srv.py"},
		"options":           {server(`"command": "node", "args": ["x"], "env": {"NODE_OPTIONS": "--require ./k/pre.js"}`), "k/pre.js"},
		"what is in it":     {server(`"command": "node", "args": ["c"]`), "c/index.js"},
		"without an ending": {server(`"command": "node", "args": ["mm/srv"]`), "mm/srv.js"},
		"other agents":      {map[string]string{"opencode.json": `{"mcp": {"x": {"command": ["node", "mm/srv.js"]}}}`}, "mm/srv.js"},
		"hooks":             {map[string]string{"lefthook.yml": "pre-commit:\n  commands:\n    a:\n      run: sh mm/h.sh {staged_files}\n"}, "mm/h.sh"},
		"hooks by entry":    {map[string]string{".pre-commit-config.yaml": "repos:\n- repo: local\n  hooks:\n  - id: x\n    entry: mm/h.sh\n    language: script\n"}, "mm/h.sh"},
		"of itself":         {map[string]string{".husky/pre-commit": "\"$(dirname \"$0\")/../mm/h.sh\"\n"}, "mm/h.sh"},
		"from the top":      {map[string]string{".husky/pre-commit": "cd \"$(git rev-parse --show-toplevel)/mm\" && ./h.sh\n"}, "mm/h.sh"},
		"mise":              {map[string]string{"mise.toml": "[hooks]\nenter = \"mm/h.sh\"\n"}, "mm/h.sh"},
		"over a link":       {server(`"command": "node", "args": ["LINK/mm/srv.js"]`), "mm/srv.js"},
		"a formatter":       {map[string]string{".claude/settings.json": `{"hooks": {"Stop": [{"hooks": [{"command": "npx prettier --write c"}, {"command": "npm test"}]}]}}`}, ""},
		"files":             {server(`"command": "npx", "args": ["-y", "server-filesystem", "c"]`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			top, link := filepath.Join(base, "top"), filepath.Join(base, "link")
			for _, file := range []string{"b/main.py", "c/index.js", "f/srv.py", "k/pre.js", "mm/srv.js", "mm/h.sh", "test.js"} {
				write(t, filepath.Join(top, file), "x", 0o755)
			}
			if err := os.Symlink("top", link); err != nil {
				t.Skip("no links here: ", err)
			}
			for file, text := range c.files {
				write(t, filepath.Join(top, file), strings.ReplaceAll(text, "LINK", link), 0o644)
			}
			var want []string
			if c.want != "" {
				want = []string{filepath.Join(top, filepath.FromSlash(c.want))}
			}
			if diff := cmp.Diff(want, (&named.Finder{}).Project(top), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestScript: what a script runs is found, not what it looks at or works on:
// whoever finds package.json read-only because a hook tests for it is rightly
// annoyed.
func TestScript(t *testing.T) {
	for text, want := range map[string][]string{
		"if [ -f package.json ]; then npm test; fi":                nil,
		"[[ -f requirements.txt ]] && layout python":               nil,
		"if [ -f flake.nix ]; then use flake; fi":                  nil,
		"if ! git diff --quiet package-lock.json; then ./x.sh; fi": {"./x.sh"},
		"test -f go.mod && go vet ./...":                           nil,
		"bash -eu scripts/check.sh package.json":                   {"scripts/check.sh"},
		"node -r ./hook.cjs app.js package.json":                   {"./hook.cjs", "app.js"},
		"node --import=./hook.mjs app.js":                          {"./hook.mjs", "app.js"},
		"sudo -u me ./a.sh; env -i A=1 B=x/y sh ./b.sh":            {"./a.sh", "./b.sh"},
		"S=scripts/env.sh\nsource \"$S\"":                          {"scripts/env.sh"},
		"A=1 ./a.sh package.json":                                  {"./a.sh"},
		"eval \"$(./env.sh)\"\nx=`./y.sh`":                         {"./env.sh", "./y.sh"},
		"pnpm exec tsx scripts/a.ts b.ts":                          {"scripts/a.ts"},
		"bind r source-file conf/tmux.conf":                        {"conf/tmux.conf"},
		"deno run -A tools/x.ts y.ts":                              {"tools/x.ts"},
		"prettier --check package.json Makefile":                   nil,
		"while true; do ./loop.sh; done":                           {"./loop.sh"},
		"command -v node >/dev/null || exit":                       nil,
	} {
		if diff := cmp.Diff(want, named.Script(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func FuzzTexts(f *testing.F) {
	f.Add(`{"a": ["b\"", /* x */ {"command": "c`)
	f.Add("x = ['a', \"b\"]\n[t]")
	f.Add(". \"${A}/x\" && sh -c 'y'; A=/b")
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func(string) []string{named.JSON, named.TOML, named.Script} {
			for _, line := range read(text) {
				if len(line) > 1<<20+len(text) {
					t.Errorf("%q of %q", line, text)
				}
			}
		}
	})
}
