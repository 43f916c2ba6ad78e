// Package named finds the files of a project that others run because a text
// names them: settings of agents and editors, what direnv and hooks run, and
// what shells read when they start. Those texts are protected themselves; whoever
// could write the scripts that they name would not need to write them. It
// imports only the reader of command lines. Its one invariant: it gives files that
// exist, never a directory, so that nothing but a script is ever held.
package named

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// The bounds on what is read and found.
const (
	maxText   = 256 << 10
	maxClient = 4 << 20 // one keeps its whole history there
	maxFiles  = 64      // of one text, and of texts in one directory
)

// Finder finds them, and remembers what it read as long as a text does not
// change. It is safe for use by many at once.
type Finder struct {
	Home string // what ~ means

	mu   sync.Mutex
	seen map[string]text
}

// text is what was read of one file.
type text struct {
	size  int64
	at    time.Time
	info  fs.FileInfo
	lines []string
}

// Project lists what the texts at the top of a project name, in that project.
func (f *Finder) Project(top string) []string {
	var out []string
	there, err := filepath.EvalSymlinks(top)
	if err != nil {
		return nil
	}
	for _, s := range sources(top) {
		for _, file := range f.read(filepath.Join(top, s.name), top, s) {
			if rel, err := filepath.Rel(top, file); err == nil && filepath.IsLocal(rel) {
				out = append(out, file)
				continue
			}
			// It may be named over a link that leads here.
			if at, err := filepath.EvalSymlinks(file); err == nil {
				if rel, err := filepath.Rel(there, at); err == nil && filepath.IsLocal(rel) {
					out = append(out, filepath.Join(top, rel))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AtHome lists what start files of shells and editors read and what settings of
// agents and editors run, wherever that is.
func (f *Finder) AtHome() []string {
	if f.Home == "" {
		return nil
	}
	var out []string
	for _, s := range atHome() {
		out = append(out, f.read(filepath.Join(f.Home, filepath.FromSlash(s.name)), f.Home, s)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func atHome() (list []source) {
	for _, name := range []string{".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".xprofile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".config/zsh/.zshrc", ".config/zsh/.zshenv", ".vimrc",
		".config/nvim/init.vim", ".tmux.conf", ".config/tmux/tmux.conf", ".config/fish/config.fish", ".config/direnv/direnvrc"} {
		list = append(list, source{name: name, lines: Script, certain: true})
	}
	for _, name := range []string{".claude.json", ".claude/settings.json", ".claude/settings.local.json", ".cursor/mcp.json", ".cursor/hooks.json", ".gemini/settings.json", ".codeium/windsurf/mcp_config.json", ".config/Claude/claude_desktop_config.json",
		"Library/Application Support/Claude/claude_desktop_config.json", ".config/Code/User/mcp.json", ".config/Code/User/settings.json", ".config/zed/settings.json", ".config/opencode/opencode.json", ".copilot/mcp-config.json"} {
		list = append(list, source{name: name, lines: JSON, most: maxClient})
	}
	return append(list, source{name: ".config/Code/User/tasks.json", lines: tasks}, source{name: ".codex/config.toml", lines: TOML})
}

// source is a text and how it is read.
type source struct {
	name  string
	lines func(text string) []string
	// certain: each of the lines is run or read. Otherwise some are arguments, and
	// only what looks like a program is meant: others are what it works on.
	certain bool
	most    int64 // how long it may be; zero: maxText
}

func sources(top string) []source {
	list := []source{
		{name: ".claude/settings.json", lines: JSON}, {name: ".claude/settings.local.json", lines: JSON}, {name: ".mcp.json", lines: JSON}, {name: ".cursor/mcp.json", lines: JSON}, {name: ".cursor/hooks.json", lines: JSON}, {name: ".gemini/settings.json", lines: JSON},
		{name: ".codex/config.toml", lines: TOML}, {name: ".vscode/mcp.json", lines: JSON}, {name: ".vscode/settings.json", lines: JSON}, {name: ".vscode/tasks.json", lines: tasks}, {name: ".zed/settings.json", lines: JSON}, {name: ".devcontainer.json", lines: container},
		{name: ".devcontainer/devcontainer.json", lines: container}, {name: ".envrc", lines: direnv, certain: true},
		{name: "opencode.json", lines: JSON}, {name: "opencode.jsonc", lines: JSON}, {name: ".opencode/opencode.json", lines: JSON}, {name: "crush.json", lines: JSON}, {name: ".crush.json", lines: JSON}, {name: ".kiro/settings/mcp.json", lines: JSON}, {name: ".roo/mcp.json", lines: JSON},
		{name: ".amazonq/mcp.json", lines: JSON}, {name: ".codex/hooks.json", lines: JSON}, {name: "lefthook.yml", lines: yaml}, {name: ".lefthook.yml", lines: yaml}, {name: "lefthook.yaml", lines: yaml}, {name: ".pre-commit-config.yaml", lines: yaml},
		{name: "mise.toml", lines: mise}, {name: ".mise.toml", lines: mise},
	}
	for _, e := range entries(filepath.Join(top, ".github", "hooks")) {
		if e.Type().IsRegular() && filepath.Ext(e.Name()) == ".json" {
			list = append(list, source{name: filepath.Join(".github", "hooks", e.Name()), lines: JSON})
		}
	}
	for _, e := range entries(filepath.Join(top, ".devcontainer")) {
		if e.IsDir() {
			list = append(list, source{name: filepath.Join(".devcontainer", e.Name(), "devcontainer.json"), lines: container})
		}
	}
	for _, e := range entries(filepath.Join(top, ".husky")) {
		if e.Type().IsRegular() {
			list = append(list, source{name: filepath.Join(".husky", e.Name()), lines: Script, certain: true})
		}
	}
	return list
}

func entries(dir string) []fs.DirEntry {
	list, err := plainfile.ReadDir(dir)
	if err != nil {
		return nil // there is none
	}
	return list[:min(len(list), maxFiles)]
}

// read gives the files that a text names from a directory.
func (f *Finder) read(file, dir string, s source) []string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > cmp.Or(s.most, maxText) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	old, known := f.seen[file]
	if !known || old.size != info.Size() || !old.at.Equal(info.ModTime()) || !os.SameFile(old.info, info) {
		content, err := plainfile.Read(file, cmp.Or(s.most, maxText))
		if err != nil {
			return nil
		}
		if f.seen == nil || len(f.seen) >= 1024 {
			f.seen = map[string]text{}
		}
		old = text{size: info.Size(), at: info.ModTime(), info: info, lines: s.lines(placed(string(content), file, dir))}
		f.seen[file] = old
	}
	if len(old.lines) == 0 {
		return nil
	}
	there := func(path string) ([]byte, error) { // it is not read
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return nil, errors.Join(err, fs.ErrNotExist)
		}
		return nil, nil
	}
	dirs := bases(dir, old.lines)
	paths := meant(dirs, old.lines)
	for _, base := range dirs {
		paths = append(paths, (gitconfig.Source{Read: there, Home: f.Home}).Named(base, old.lines)...)
	}
	slices.Sort(paths)
	var out []string
	for _, path := range slices.Compact(paths) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || path == file {
			continue
		}
		if runs := s.certain || info.Mode()&0o111 != 0 || filepath.Ext(path) == "" && !isRecipe(path) || IsCode(path); runs && len(out) < maxFiles {
			out = append(out, path)
		}
	}
	return out
}

// isRecipe knows the files without an ending that programs work on.
func isRecipe(path string) bool {
	return slices.Contains([]string{"makefile", "gnumakefile", "dockerfile", "containerfile", "gemfile", "brewfile", "procfile", "justfile", "license", "readme", "version", "changelog"}, strings.ToLower(filepath.Base(path)))
}

// IsCode tells by its name that a file is a program or a part of one.
func IsCode(path string) bool {
	return slices.Contains([]string{".py", ".pyz", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".sh", ".bash", ".zsh", ".fish", ".rb", ".pl", ".php", ".lua", ".jar", ".r", ".jl",
		".exe", ".bat", ".cmd", ".ps1", ".dll", ".so", ".dylib", ".wasm", ".go", ".rs", ".cs", ".csproj", ".ex", ".exs", ".clj", ".scm"}, strings.ToLower(filepath.Ext(path)))
}
