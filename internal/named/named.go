// Package named finds the files of a project that others run because a text
// names them: settings of agents and editors, what direnv and hooks run, and
// what shells read when they start. Those texts are protected themselves; whoever
// could write the scripts that they name would not need to write them. It
// imports only the reader of command lines. Its one invariant: it gives files that
// exist, never a directory, so that nothing but a script is ever held.
package named

import (
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
	maxText  = 256 << 10
	maxFiles = 64 // of one text, and of texts in one directory
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
	for _, s := range sources(top) {
		for _, file := range f.read(filepath.Join(top, s.name), top, s) {
			if rel, err := filepath.Rel(top, file); err == nil && filepath.IsLocal(rel) {
				out = append(out, file)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AtHome lists what start files of shells and editors read, wherever that is.
func (f *Finder) AtHome() []string {
	if f.Home == "" {
		return nil
	}
	var out []string
	for _, name := range []string{".bashrc", ".bash_profile", ".bash_login", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".vimrc", ".config/nvim/init.vim", ".tmux.conf", ".config/tmux/tmux.conf", ".config/fish/config.fish"} {
		out = append(out, f.read(filepath.Join(f.Home, filepath.FromSlash(name)), f.Home, source{lines: Script, certain: true})...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// source is a text and how it is read.
type source struct {
	name  string
	lines func(text string) []string
	// certain: each of the lines is run or read. Otherwise some are arguments, and
	// only what looks like a program is meant: others are what it works on.
	certain bool
}

func sources(top string) []source {
	list := []source{
		{name: ".claude/settings.json", lines: JSON}, {name: ".claude/settings.local.json", lines: JSON}, {name: ".mcp.json", lines: JSON}, {name: ".cursor/mcp.json", lines: JSON}, {name: ".cursor/hooks.json", lines: JSON}, {name: ".gemini/settings.json", lines: JSON},
		{name: ".codex/config.toml", lines: TOML}, {name: ".vscode/mcp.json", lines: JSON}, {name: ".vscode/settings.json", lines: JSON}, {name: ".vscode/tasks.json", lines: tasks}, {name: ".zed/settings.json", lines: JSON}, {name: ".devcontainer.json", lines: container},
		{name: ".devcontainer/devcontainer.json", lines: container}, {name: ".envrc", lines: direnv, certain: true},
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
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	old, known := f.seen[file]
	if !known || old.size != info.Size() || !old.at.Equal(info.ModTime()) || !os.SameFile(old.info, info) {
		content, err := plainfile.Read(file, maxText)
		if err != nil {
			return nil
		}
		if f.seen == nil || len(f.seen) >= 1024 {
			f.seen = map[string]text{}
		}
		old = text{size: info.Size(), at: info.ModTime(), info: info, lines: s.lines(string(content))}
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
	var out []string
	for _, path := range (gitconfig.Source{Read: there, Home: f.Home}).Named(dir, old.lines) {
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
