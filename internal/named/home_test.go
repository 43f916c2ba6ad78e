//go:build !windows

package named_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/named"
)

// TestAtHome is the attack on a script of the project that something at home runs
// by itself: @ stands for the project, and each text has it held.
func TestAtHome(t *testing.T) {
	for i, c := range []struct{ file, text, held string }{
		{".bashrc", `PROMPT_COMMAND='@/m/x.sh'`, "m/x.sh"},
		{".bashrc", `export A=1 EDITOR="@/m/x.sh --wait"`, "m/x.sh"},
		{".bashrc", `export BASH_ENV=@/m/env`, "m/env"},
		{".bashrc", `trap @/m/x.sh DEBUG`, "m/x.sh"},
		{".bashrc", `complete -C @/m/x.sh kk`, "m/x.sh"},
		{".bashrc", `alias git=@/m/x.sh`, "m/x.sh"},
		{".bashrc", `alias mine=@/m/x.sh`, ""}, // she runs it for what it is
		{".bashrc", `source <(cat @/m/x.sh)`, "m/x.sh"},
		{".bashrc", `export BUILT=@/m/x.sh`, ""},
		{".bashrc", `cat @/m/x.sh`, ""},
		{".bashrc", `for f in @/m/d/*.sh; do . "$f"; done`, "m/d m/d/a.sh"},
		{".bashrc.d/x", `. @/m/x.sh`, "m/x.sh"},
		{".zshrc", `fpath=(@/m/d $fpath)`, "m/d"},
		{".config/fish/conf.d/x.fish", `set -gx EDITOR @/m/x.sh`, "m/x.sh"},
		{".config/environment.d/x.conf", `GIT_SSH_COMMAND=@/m/x.sh`, "m/x.sh"},
		{".ssh/config", "Include @/m/ssh.conf\n", "m/ssh.conf"},
		{".ssh/config", "Host x\n ProxyCommand @/m/x.sh %h\n", "m/x.sh"},
		{".ssh/config", "Match host x exec \"@/m/x.sh\"\n", "m/x.sh"},
		{".ssh/config", "Host x\n LocalCommand \"@/m/my dir/x.sh\"\n", "m/my dir/x.sh"},
		{".config/systemd/user/a.service", "[Service]\nExecStart=-@/m/x.sh --now\nStandardOutput=append:@/m/log.txt\n", "m/x.sh"},
		{".config/systemd/user/a.service", "[Service]\nWorkingDirectory=@/m\nExecStart=/usr/bin/python3 ./d/a.py\n", "m/d/a.py"},
		{".config/autostart/a.desktop", "[Desktop Entry]\nExec=sh -c \"cd @/m && ./x.sh\"\n", "m/x.sh"},
		{".local/share/dbus-1/services/a.service", "[D-BUS Service]\nExec=@/m/x.sh\n", "m/x.sh"},
		{".crontab", "*/5 * * * * @/m/x.sh >> @/m/log.txt\n", "m/x.sh"},
		{".inputrc", "$include @/m/ssh.conf\n", "m/ssh.conf"},
		{".npmrc", "script-shell=@/m/x.sh\n", "m/x.sh"},
		{".emacs", `(load "@/m/em")`, "m/em.el"},
		{".config/nvim/init.lua", `dofile("@/m/d/a.lua")`, "m/d/a.lua"},
		{".tmux.conf", `set -g status-right "#(@/m/x.sh)"`, "m/x.sh"},
		{".config/starship.toml", "[custom.x]\ncommand = \"@/m/x.sh\"\n", "m/x.sh"},
		{".config/Code/User/settings.json", `{"python.defaultInterpreterPath": "@/m/x.sh"}`, "m/x.sh"},
		{".config/Code/User/settings.json", `{"python.defaultInterpreterPath": "@/.venv/bin/python"}`, ""},
		{".config/systemd/user/a.service", "[Service]\nExecStart=@/target/release/server --db @/db.sqlite\n", ""}, // builds and programs write these
		{".gdbinit", "file @/build/app\nsource @/m/d/a.py\n", "m/d/a.py"},
		{".config/nvim/init.lua", `vim.g.python3_host_prog = "@/.venv/bin/python"; map("n", ":e @/notes.md")`, ""},
		{".emacs", `(setq org-agenda-files '("@/todo.org"))`, ""},
		{".sqliterc", ".open @/db.sqlite\n", ""},
		{".crontab", "0 * * * * cd @ && node dist/index.js && node m/local.js\n", "m/local.js"},
		{".bashrc", `export NODE_OPTIONS="--require @/node_modules/a/b.js"`, ""},
		{".claude.json", `{"projects": {"@": {"history": [], "mcpServers": {"b": {"command": "node", "args": ["m/local.js"]}}}}}`, "m/local.js"},
		{".claude.json", `{"projects": {"@/m": {"mcpServers": {"b": {"command": "node", "args": ["local.js"]}}}}}`, "m/local.js"},
		{".claude.json", `{"projects": {"/elsewhere": {"mcpServers": {"b": {"command": "node", "args": ["m/local.js"]}}}}}`, ""},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			home, top := t.TempDir(), filepath.Join(t.TempDir(), "build", "p") // where it lies says nothing
			for _, name := range []string{"m/x.sh", "m/env", "m/d/a.sh", "m/d/a.py", "m/d/a.lua", "m/ssh.conf", "m/em.el", "m/local.js", "m/log.txt", "m/my dir/x.sh", ".venv/bin/python", "target/release/server", "db.sqlite", "build/app", "notes.md", "todo.org", "dist/index.js", "node_modules/a/b.js"} {
				write(t, filepath.Join(top, name), "x", 0o755&^(0o111*mode(name)))
			}
			write(t, filepath.Join(home, c.file), strings.ReplaceAll(c.text, "@", top), 0o600)
			f := &named.Finder{Home: home, Projects: []string{top}, Machine: func(name string) bool { return name == "git" }}
			for range 2 { // from memory
				got := []string{}
				for _, path := range f.AtHome() {
					rel, err := filepath.Rel(top, path)
					if err != nil {
						t.Fatal(err)
					}
					if filepath.IsLocal(rel) {
						got = append(got, filepath.ToSlash(rel))
					}
				}
				if diff := cmp.Diff(c.held, strings.Join(got, " ")); diff != "" {
					t.Error(c.file, c.text, diff)
				}
			}
		})
	}
}

// mode is one for what nobody runs.
func mode(name string) os.FileMode {
	if strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".conf") {
		return 1
	}
	return 0
}

// TestPathAtHome: what start files put before the machine's programs is known.
func TestPathAtHome(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".profile"), "PATH=/p/bin:~/b:$PATH # /no/1\n", 0o600)
	write(t, filepath.Join(home, ".config", "fish", "config.fish"), "fish_add_path /p/fish\ncd /no/2\n", 0o600)
	f := &named.Finder{Home: home}
	if diff := cmp.Diff(slices.Sorted(slices.Values([]string{filepath.Join(home, "b"), "/p/bin", "/p/fish"})), f.PathAtHome()); diff != "" {
		t.Error(diff)
	}
}

// TestMissing: what direnv would take up if somebody made it.
func TestMissing(t *testing.T) {
	top := t.TempDir()
	write(t, filepath.Join(top, ".envrc"), "use nix\ndotenv_if_exists conf/local\nnpm ci\n", 0o600)
	write(t, filepath.Join(top, "default.nix"), "x", 0o600)
	f := &named.Finder{}
	if diff := cmp.Diff([]string{filepath.Join(top, "conf", "local"), filepath.Join(top, "shell.nix")}, slices.Sorted(slices.Values(f.Missing(top)))); diff != "" {
		t.Error(diff)
	}
}

// TestClaudeServers: servers are found in a file of many megabytes, wherever they
// stand in it, and what was only said of them is not.
func TestClaudeServers(t *testing.T) {
	for _, before := range []int{0, 1, 256<<10 - 40, 256<<10 - 20, 256<<10 - 1, 256 << 10, 5 << 20} {
		file := filepath.Join(t.TempDir(), ".claude.json")
		said := `"say \"mcpServers\": {\"no\": {\"command\": \"x\"}} and \"/p\": {\"mcpServers\": {\"no\": 1}}"`
		text := fmt.Sprintf(`{"h": [%q, %s], "mcpServers" : {"a": {"command": "one"}}, "projects": {"/p/q": {"history": [%s], "mcpServers": {"b": {"command": "two"}}}, "/pq": {"mcpServers": {"c": {}}}, "/p": {"mcpServers": {}}}, "x": "/p", "y": ["mcpServers"]}`,
			strings.Repeat("h", before), said, said)
		write(t, file, text, 0o600)
		list, err := named.ClaudeServers(file, []string{"/p"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range list {
			got = append(got, s.Project+" "+string(s.Text))
		}
		want := []string{` {"mcpServers":{"a": {"command": "one"}}}`, `/p/q {"mcpServers":{"b": {"command": "two"}}}`, ` {"mcpServers":{"b": {"command": "two"}}}`, ` {"mcpServers":{"c": {}}}`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(before, diff)
		}
	}
}

// FuzzHome: readers of what lies at home come to an end, whatever they read.
func FuzzHome(f *testing.F) {
	for _, text := range []string{"PROMPT_COMMAND='/p/x'", "for f in /p/*; do . $f; done", `{"projects": {"/p": {"mcpServers": {"a": {}}}}}`, `"mcpServers":{"\"mcpServers":`, "cd /p && ./x", "alias git=/p/x", "\"/p/a b\"", "Include ~/x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		home := t.TempDir()
		for _, name := range []string{".bashrc", ".ssh/config", ".claude.json", ".vimrc"} {
			write(t, filepath.Join(home, name), text, 0o600)
		}
		finder := &named.Finder{Home: home, Projects: []string{"/p", home}}
		for _, path := range append(finder.AtHome(), finder.PathAtHome()...) {
			if !filepath.IsAbs(path) {
				t.Errorf("%q of %q", path, text)
			}
		}
	})
}
