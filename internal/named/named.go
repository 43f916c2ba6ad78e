// Package named finds the files of a project that others run because a text
// names them: settings of agents and editors, what direnv and hooks run, and
// what shells read when they start. Those texts are protected themselves; whoever
// could write the scripts that they name would not need to write them. It
// imports only the reader of command lines. Its one invariant: it gives files that
// exist, so that nothing but a script is ever held, and a directory only where
// something at home loads whatever lies in it.
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

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/pathglob"
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
	// Settings are git's outside of repositories, which say where hooks are. Nil:
	// those in Home.
	Settings []string
	// Granted tells whether tools could write a file; of what they could not the
	// files that start files of shells read are not followed further. Nil: they could.
	Granted func(path string) bool
	// Projects are directories: what a client keeps for one of them, or for one in
	// them, is read from there.
	Projects []string
	// Machine tells whether the machine has a program of a name; nil: it has none.
	Machine  func(name string) bool
	Crontabs []string // absolute

	mu   sync.Mutex
	seen map[string]text
}

// text is what was read of one file.
type text struct {
	size  int64
	at    time.Time
	info  fs.FileInfo
	lines []string
	shell []*syntax.File // of it, as far as it is one
	parts []part         // of one that is for several directories
}

// part is a part of a text, and the directory that its words are read from.
type part struct {
	dir string
	text
}

// Project lists what the texts at the top of a project name, in that project.
func (f *Finder) Project(top string) []string {
	var out []string
	there, err := filepath.EvalSymlinks(top)
	if err != nil {
		return nil
	}
	for _, s := range f.sources(top) {
		files, _ := f.read(from(top, s.name), top, s)
		for _, file := range files {
			if pathglob.Holds(top, file) {
				out = append(out, file)
				continue
			}
			// It may be named over a link that leads here.
			if at, err := filepath.EvalSymlinks(file); err == nil {
				if rel, ok := pathglob.Rel(there, at); ok {
					out = append(out, filepath.Join(top, rel))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// PathDirs lists the directories that scripts at the top of a project, as .envrc and
// hooks are, put before PATH. They need not be there.
func (f *Finder) PathDirs(top string) (dirs []string) {
	for _, s := range f.sources(top) {
		if s.shell {
			_, path := f.read(from(top, s.name), top, s)
			dirs = append(dirs, path...)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// source is a text and how it is read.
type source struct {
	name  string
	lines func(text string) []string
	// certain: each of the lines is run or read. Otherwise some are arguments, and
	// only what looks like a program is meant: others are what it works on.
	certain bool
	also    func(text string) []string // full paths in it, besides the lines
	full    bool                       // the lines are nothing but full paths
	as      string                     // tells apart what is read of the same file in another way
	shell   bool                       // it is a script of a shell
	hook    bool                       // run by git
	most    int64                      // how long it may be; zero: maxText
}

func (f *Finder) sources(top string) []source {
	list := []source{
		{name: ".claude/settings.json", lines: JSON}, {name: ".claude/settings.local.json", lines: JSON}, {name: ".mcp.json", lines: JSON}, {name: ".cursor/mcp.json", lines: JSON}, {name: ".cursor/hooks.json", lines: JSON}, {name: ".gemini/settings.json", lines: JSON},
		{name: ".codex/config.toml", lines: TOML}, {name: ".vscode/mcp.json", lines: JSON}, {name: ".vscode/settings.json", lines: editor}, {name: ".vscode/tasks.json", lines: tasks}, {name: ".zed/settings.json", lines: editor}, {name: ".devcontainer.json", lines: container},
		{name: ".devcontainer/devcontainer.json", lines: container}, {name: ".envrc", lines: direnv, certain: true, shell: true},
		{name: "opencode.json", lines: JSON}, {name: "opencode.jsonc", lines: JSON}, {name: ".opencode/opencode.json", lines: JSON}, {name: "crush.json", lines: JSON}, {name: ".crush.json", lines: JSON}, {name: ".kiro/settings/mcp.json", lines: JSON}, {name: ".roo/mcp.json", lines: JSON},
		{name: ".amazonq/mcp.json", lines: JSON}, {name: ".codex/hooks.json", lines: JSON}, {name: "lefthook.yml", lines: yaml}, {name: ".lefthook.yml", lines: yaml}, {name: "lefthook.yaml", lines: yaml}, {name: ".pre-commit-config.yaml", lines: yaml},
		{name: ".lintstagedrc", lines: everyString}, {name: ".lintstagedrc.json", lines: everyString}, {name: ".nvim.lua", lines: inQuotes}, {name: ".exrc", lines: inQuotes}, {name: ".nvimrc", lines: inQuotes},
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
	dirs := []string{filepath.Join(top, ".husky")}
	if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
		git := gitconfig.Source{Read: func(path string) ([]byte, error) { return plainfile.Read(path, maxText) }, Home: f.Home, Settings: f.Settings}
		dirs = append(dirs, git.HookDirs(top)...)
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		for _, e := range entries(dir) {
			if !e.IsDir() && filepath.Ext(e.Name()) != ".sample" {
				list = append(list, source{name: filepath.Join(dir, e.Name()), lines: Script, certain: true, shell: true, hook: true})
			}
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

// read gives the files that a text names from a directory, with those that these
// run, and the directories that it puts before PATH.
func (f *Finder) read(file, dir string, s source) (files, path []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, ok := f.load(file, dir, s)
	if !ok || len(t.lines)+len(t.shell) == 0 {
		return nil, nil
	}
	return f.resolve(t, file, dir, s)
}

// resolve finds what a text names.
func (f *Finder) resolve(t text, file, dir string, s source) (files, path []string) {
	there := func(path string) ([]byte, error) { // it is not read
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return nil, errors.Join(err, fs.ErrNotExist)
		}
		return nil, nil
	}
	dirs := bases(dir, t.lines)
	paths := filesMeant(dirs, t.lines)
	for _, base := range dirs {
		if s.certain {
			paths = append(paths, matches(base, t.lines)...)
		}
		paths = append(paths, (gitconfig.Source{Read: there, Home: f.Home}).Named(base, t.lines)...)
	}
	w := newScriptFollower(f.Home, dir)
	for _, script := range t.shell {
		w.script(script, file)
	}
	slices.Sort(paths)
	for _, path := range append(w.found(), paths...) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || path == file || s.hook && w.installed(path) {
			continue
		}
		if runs := s.certain || info.Mode()&0o111 != 0 || filepath.Ext(path) == "" && !isRecipe(path) || IsCode(path); runs && len(files) < maxFiles && !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	return f.calls(w, file, files), w.path
}

// load reads a text, if it is not known.
func (f *Finder) load(file, dir string, s source) (text, bool) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > cmp.Or(s.most, maxText) {
		return text{}, false
	}
	key := file
	if s.lines == nil {
		key += "\x00" // as a script that another one calls
	}
	key += s.as
	old, known := f.seen[key]
	if known && old.size == info.Size() && old.at.Equal(info.ModTime()) && os.SameFile(old.info, info) {
		return old, true
	}
	content, err := plainfile.Read(file, cmp.Or(s.most, maxText))
	if err != nil {
		return text{}, false
	}
	if f.seen == nil || len(f.seen) >= 1024 {
		f.seen = map[string]text{}
	}
	t := text{size: info.Size(), at: info.ModTime(), info: info}
	if s.lines != nil {
		t.lines = s.lines(withPlaces(f.withHome(string(content)), file, dir))
	}
	switch {
	case s.full, s.lines == nil && !isScript(file, content):
	case s.shell:
		t.shell = parseAll(string(content))
	default:
		t.shell = parseLines(t.lines)
	}
	f.seen[key] = t
	return t, true
}

// parseLines parses the command lines among strings.
func parseLines(lines []string) (list []*syntax.File) {
	for _, line := range lines {
		if strings.ContainsAny(line, " \t") && len(list) < maxFiles {
			list = append(list, parseAll(line)...)
		}
	}
	return list
}

// calls adds to files what the scripts among them run in turn.
func (f *Finder) calls(w *scriptFollower, file string, files []string) []string {
	seen, left := map[string]bool{file: true}, maxTexts
	next, near := files, map[string]bool{}
	for range maxCalls {
		for _, path := range next {
			if left--; seen[path] || left < 0 || !w.inTop(path) || f.Granted != nil && w.top == f.Home && !f.Granted(path) {
				continue
			}
			seen[path] = true
			t, ok := f.load(path, w.top, source{shell: true, certain: true})
			if !ok || len(t.shell) == 0 {
				continue
			}
			near[filepath.Dir(path)] = true
			for _, script := range t.shell {
				w.script(script, path)
			}
		}
		next = nil
		for _, path := range w.found() {
			if len(files) >= maxFiles || slices.Contains(files, path) || path == file || w.installed(path) || w.built(path) {
				continue
			}
			// A program in another language that lies elsewhere is what is worked on.
			if t, ok := f.load(path, w.top, source{shell: true, certain: true}); near[filepath.Dir(path)] || ok && len(t.shell) > 0 {
				files, next = append(files, path), append(next, path)
			}
		}
	}
	return files
}

// matches gives the files that patterns mean.
func matches(dir string, lines []string) (found []string) {
	for _, line := range lines {
		if strings.Contains(line, "*") && !strings.ContainsAny(line, " $") && len(found) < maxFiles {
			list, _ := filepath.Glob(from(dir, line)) // what is no pattern has no matches
			found = append(found, list[:min(len(list), maxFiles)]...)
		}
	}
	return found
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
