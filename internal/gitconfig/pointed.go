package gitconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Source is where settings are read.
type Source struct {
	// Read reads a whole file. It must not wait for anybody, nor read without end.
	Read func(path string) ([]byte, error)
	Home string // what ~ means; empty: nobody knows
	// Settings are the files of the person and of the machine, as [Files] lists
	// them. Nil: those in Home.
	Settings []string
}

// Files lists where git looks for settings besides those of a repository: the
// person's own and those of the machine. All that may count do, since the shell
// in which the person uses git may have other variables than ours.
func Files(home string, env func(name string) string) []string {
	list := []string{"/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"}
	for _, name := range []string{"GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"} {
		if file := env(name); filepath.IsAbs(file) {
			list = append(list, filepath.Clean(file))
		}
	}
	if dir := env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		list = append(list, filepath.Join(dir, "git", "config"))
	}
	return append(list, homeFiles(home)...)
}

func homeFiles(home string) []string {
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git", "config")}
}

// Pointed is a file or directory that git is pointed at.
type Pointed struct {
	Path string
	// Include: it is read as a part of the settings. Git goes on if it is missing,
	// and refuses to do anything if it is a directory.
	Include bool
	// Guess: it is named by a word that may be a file or not, and there is one.
	Guess bool
	// Own: it is the repository's own directory of hooks, which is protected with
	// it, whether or not it is there. What links in it lead to is not.
	Own bool
}

// The bounds on what is followed: git itself follows ten includes.
const (
	maxIncludes = 10
	maxPlaces   = 4096
	maxBytes    = 16 << 20 // of all settings of a tree
)

// PointedAt lists the files and directories that git runs or obeys in a work
// tree because its settings name them: directories of hooks, files that are
// included, attributes, and programs. They are absolute and clean, and need not
// exist. Most lie elsewhere; it is for the caller to see which lie in reach.
func (s Source) PointedAt(tree string) []Pointed {
	found, _ := s.AllPointedAt(tree) // what was found
	return found
}

// AllPointedAt is PointedAt, with an error if settings are there that could not
// be read: they may name more.
func (s Source) AllPointedAt(tree string) ([]Pointed, error) {
	w := &settingsWalk{src: s, tree: tree, seen: map[string]bool{}}
	for _, dir := range w.gitDirs(tree) {
		w.file(filepath.Join(dir, "config"), 0)
		w.file(filepath.Join(dir, "config.worktree"), 0)
		hooks := filepath.Join(dir, "hooks")
		w.found = append(w.found, Pointed{Path: hooks, Own: true})
		w.scripts = append(w.scripts, hooks)
	}
	return w.outside()
}

// Personal is AllPointedAt for what settings outside of the repository say: the
// person's own and the machine's. Without a tree it is what they say for every
// one; what lies in each is left out.
func (s Source) Personal(tree string) ([]Pointed, error) {
	w := &settingsWalk{src: s, tree: tree, seen: map[string]bool{}}
	return w.outside()
}

// personal reads the settings of the person and of the machine.
func (w *settingsWalk) personal() {
	files := w.src.Settings
	if files == nil {
		files = homeFiles(w.src.Home)
	}
	for _, file := range files {
		w.file(file, 0)
	}
}

func (w *settingsWalk) outside() ([]Pointed, error) {
	w.personal()
	w.programs()
	slices.SortStableFunc(w.found, func(a, b Pointed) int { return strings.Compare(a.Path, b.Path) }) // guesses come last
	return slices.CompactFunc(w.found, func(a, b Pointed) bool { return a.Path == b.Path }), w.failed
}

// read reads a file, and notes if it is there and could not be read. Git cannot
// read it either if it is no file, or if the rights to it are missing.
func (w *settingsWalk) read(path string) ([]byte, error) {
	if w.bytes > maxBytes {
		w.failed = fmt.Errorf("%s: there are more than %d bytes of settings", path, maxBytes)
		return nil, w.failed
	}
	text, err := w.src.Read(path)
	w.bytes += len(text)
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		switch errno {
		case syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR, syscall.EACCES, syscall.EPERM, syscall.ELOOP, syscall.ENAMETOOLONG:
		default:
			if !errors.Is(err, fs.ErrNotExist) {
				w.failed = fmt.Errorf("reading %s: %w", path, err)
			}
		}
	}
	return text, err
}

// gitDirs are the directories with the settings of a work tree: .git, what a
// .git file points to, and the directory that one shares its settings with.
func (w *settingsWalk) gitDirs(tree string) []string {
	dir := filepath.Join(tree, ".git")
	if text, err := w.read(dir); err == nil {
		to, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir:")
		if !ok {
			return nil
		}
		dir = absolute(tree, strings.TrimPrefix(to, " "))
	}
	out := []string{dir}
	if text, err := w.read(filepath.Join(dir, "commondir")); err == nil {
		out = append(out, absolute(dir, strings.TrimRight(string(text), "\r\n")))
	}
	return out
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// settingsWalk follows the settings of one work tree.
type settingsWalk struct {
	src    Source
	tree   string
	seen   map[string]bool
	there  map[string]bool // files that were looked for
	found  []Pointed
	bytes  int   // read
	failed error // to read what is there

	// Read last, so that nothing in them keeps what is certain from being found.
	lines   []string // of programs
	scripts []string // directories of hooks
	guess   bool     // words that are files only if there are some
}

func (w *settingsWalk) file(path string, depth int) {
	if w.seen[path] || depth > maxIncludes {
		return
	}
	w.seen[path] = true
	text, err := w.read(path)
	if err != nil {
		return
	}
	for _, s := range Parse(string(text)) {
		if len(w.found)+len(w.lines) >= maxPlaces {
			w.failed = fmt.Errorf("%s: more than %d settings that lead somewhere", path, maxPlaces)
			return
		}
		w.setting(s, filepath.Dir(path), depth)
	}
}

func (w *settingsWalk) setting(s Setting, dir string, depth int) {
	name := s.Section + "." + s.Key
	switch {
	case s.Value == "":
	case name == "include.path" || name == "includeif.path":
		if p, ok := w.path(dir, s.Value); ok { // relative to the file that it stands in
			w.found = append(w.found, Pointed{Path: p, Include: true})
			w.file(p, depth+1)
		}
	case name == "core.hookspath":
		if p, ok := w.path(w.tree, s.Value); ok {
			w.hooks(p)
		}
	case name == "core.attributesfile" || name == "init.templatedir":
		if p, ok := w.path(w.tree, s.Value); ok {
			w.found = append(w.found, Pointed{Path: p})
		}
	case s.Section == "credential" && s.Key == "helper":
		w.lines = append(w.lines, helperLine(s.Value))
	case isProgram(s, name):
		w.lines = append(w.lines, s.Value)
	case isAddress(name) && strings.Contains(s.Value, "::"): // a program speaks for it
		_, line, _ := strings.Cut(s.Value, "::")
		w.lines = append(w.lines, line)
	}
}

// path reads a value that is a path.
func (w *settingsWalk) path(dir, value string) (string, bool) {
	value = strings.TrimPrefix(value, ":(optional)")
	if rest, ok := strings.CutPrefix(value, "~"); ok && (rest == "" || rest[0] == '/') {
		if w.src.Home == "" {
			return "", false
		}
		return filepath.Join(w.src.Home, rest), true
	}
	if value == "" || strings.ContainsAny(value, "\x00\n") || strings.HasPrefix(value, "%(") || strings.HasPrefix(value, "~") {
		return "", false
	}
	if dir == "" && !filepath.IsAbs(value) {
		return "", false // in every work tree, and there is none
	}
	return absolute(dir, value), true
}

// isProgram knows the settings whose value is a command line.
func isProgram(s Setting, name string) bool {
	switch s.Section {
	case "alias":
		return strings.HasPrefix(s.Value, "!")
	case "submodule":
		return s.Key == "update" && strings.HasPrefix(s.Value, "!")
	case "pager":
		return true
	}
	if keys, ok := map[string][]string{
		"filter": {"clean", "smudge", "process"}, "diff": {"command", "textconv", "external"}, "merge": {"driver"}, "difftool": {"cmd", "path"}, "mergetool": {"cmd", "path"},
		"gpg": {"program", "defaultkeycommand"}, "hook": {"command"}, "remote": {"uploadpack", "receivepack"}, "lfs": {"path", "clean", "smudge"}, "guitool": {"cmd"},
		"browser": {"cmd", "path"}, "man": {"cmd", "path"}, "tar": {"command"}, "secrets": {"providers"},
	}[s.Section]; ok {
		return slices.Contains(keys, s.Key)
	}
	return slices.Contains([]string{"core.fsmonitor", "core.sshcommand", "core.editor", "core.pager", "core.askpass", "core.gitproxy", "core.alternaterefscommand", "sequence.editor", "interactive.difffilter",
		"uploadpack.packobjectshook", "receive.procreceiverefs", "web.browser", "sendemail.sendmailcmd", "sendemail.tocmd", "sendemail.cccmd", "sendemail.headercmd", "sendemail.smtpserver", "trailer.cmd", "trailer.command",
		"gc.recentobjectshook", "imap.tunnel", "instaweb.httpd", "instaweb.browser"}, name)
}

// helperLine is the command line of a credential helper without the name of one
// of git's own: git credential-gcloud.sh is no file of the work tree.
func helperLine(value string) string {
	if strings.HasPrefix(value, "!") || filepath.IsAbs(value) {
		return value
	}
	_, arguments, _ := strings.Cut(value, " ")
	return "git " + arguments
}

// isAddress knows the settings whose value may be an address: one with :: is for
// another program.
func isAddress(name string) bool {
	return slices.Contains([]string{"remote.url", "remote.pushurl", "branch.remote", "branch.pushremote", "submodule.url", "remote.pushdefault"}, name)
}
