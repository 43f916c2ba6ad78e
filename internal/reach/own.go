package reach

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/named"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sensitive"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// ownFiles is what this program runs or obeys outside of every sandbox. It
// changes with the settings.
type ownFiles struct {
	now     atomic.Pointer[ownState]
	named   named.Finder
	tops    []string               // projects whose settings name scripts
	granted func(path string) bool // for writing
	home    homeLinks
	Clients clientServers
	moved   []string // obeyed places that variables put into granted directories
	git     []string // git's settings outside of repositories
}

type ownState struct {
	files []string // absolute
	notes []Note
}

// Note tells of a program outside of every sandbox that takes up what
// commands can write, or of one that is in a sandbox for that reason.
type Note struct {
	Text string
	Fix  string
	Held bool // it runs in a sandbox, so that nothing is wrong
}

// Places lists the files.
func (o *ownFiles) Places() []string {
	if o == nil || o.now.Load() == nil {
		return nil
	}
	list := slices.Concat(o.now.Load().files, slices.DeleteFunc(slices.Clone(o.moved), o.stopsGit))
	var found []string
	for _, top := range o.tops {
		found = append(found, o.named.Project(top)...)
	}
	for _, file := range append(found, o.named.AtHome()...) {
		if o.granted(file) && !slices.ContainsFunc(o.tops, func(top string) bool { return linked.Within(top, file) || linked.Within(realDir(top), realDir(file)) }) { // never a project as a whole
			list = append(list, file)
		}
	}
	return append(list, o.home.places()...)
}

// First lists the directories that scripts of the project put before PATH.
func (o *ownFiles) First() (dirs []string) {
	for _, top := range o.tops {
		dirs = append(dirs, o.named.PathDirs(top)...)
	}
	return dirs
}

// Asked lists what file tools ask about: the files, and what direnv would take up.
func (o *ownFiles) Asked() []string {
	if o == nil {
		return nil
	}
	list := slices.Concat(o.Places(), o.moved)
	for _, top := range o.tops {
		list = append(list, slices.DeleteFunc(o.named.Missing(top), func(file string) bool { return !o.granted(file) })...)
	}
	return list
}

// CommandsWrite tells whether commands can write a path, with a question or without.
func (r Reach) CommandsWrite(path string) bool {
	var inner files.Dir
	for _, d := range r.Dirs {
		for _, dir := range []string{d.Path, realDir(d.Path)} {
			if linked.Within(path, dir) && len(dir) >= len(inner.Path) {
				inner = files.Dir{Path: dir, Write: d.Write}
			}
		}
	}
	return inner.Write
}

// ToolsWrite tells whether a path, or what it leads to, lies in a directory that
// tools may write.
func (r Reach) ToolsWrite(path string) bool { return r.grants()(path) }

// grants is ToolsWrite for many paths: the directories are resolved once.
func (r Reach) grants() func(path string) bool {
	led := r.grantsLed()
	return func(path string) bool {
		there, err := linked.Target(path) // what is missing can be made there
		if err != nil {
			there = path
		}
		return led(path, there)
	}
}

// grantsLed is the same of a path of which it is known where it leads.
func (r Reach) grantsLed() func(path, there string) bool {
	var given, targets []string
	for _, d := range r.Dirs {
		if d.Write {
			given, targets = append(given, d.Path), append(targets, realDir(d.Path))
		}
	}
	return func(path, there string) bool {
		return slices.ContainsFunc(given, func(dir string) bool { return linked.Within(path, dir) }) ||
			slices.ContainsFunc(targets, func(dir string) bool { return linked.Within(there, dir) })
	}
}

// obeyedAtHome gives what programs obey in the home directory, as far as tools
// could write it: the home directory is granted, or a link leads from there into
// the project, as with dotfiles.
func (r Reach) obeyedAtHome() []string {
	if r.home == "" || !r.Writable() {
		return nil
	}
	granted, led := r.grants(), r.grantsLed()
	missing, there := r.missingAtHome(), realDir(r.home)
	return slices.DeleteFunc(namesAtHome(r.home), func(path string) bool {
		if rest := strings.TrimPrefix(path, r.home); missing(rest) {
			return !led(path, there+rest)
		}
		return !granted(path)
	})
}

// missingAtHome tells of a path below the home directory whether already its first
// part is not there, so that nothing of it is a link: most of the list is missing
// everywhere, and to look for each by itself takes milliseconds. False also means
// that nobody knows.
func (r Reach) missingAtHome() func(rest string) bool {
	list, err := os.ReadDir(r.home)
	if err != nil || runtime.GOOS != "linux" { // elsewhere names have several spellings
		return func(string) bool { return false }
	}
	have := map[string]bool{}
	for _, e := range list {
		have[e.Name()] = true
	}
	return func(rest string) bool {
		first, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		return strings.HasPrefix(rest, "/") && !have[first]
	}
}

// namesAtHome is where programs look for what they obey in a home directory.
func namesAtHome(home string) (paths []string) {
	for _, name := range sensitive.ObeyedAtHome() {
		paths = append(paths, filepath.Join(home, filepath.FromSlash(name)))
	}
	for _, p := range sensitive.Obeyed() {
		if !strings.Contains(p.Pattern, "*") {
			paths = append(paths, filepath.Join(home, filepath.FromSlash(p.Pattern)))
		}
	}
	return paths
}

// realDir is a path without links, as far as it exists.
func realDir(dir string) string {
	if target, err := linked.Target(dir); err == nil {
		return target
	}
	return dir
}

// Notes says which programs outside take up what commands can write.
func (o *ownFiles) Notes() []Note {
	if o == nil || o.now.Load() == nil {
		return nil
	}
	return o.now.Load().notes
}

// oldProgram is the program before the last upgrade, which a rollback starts.
func oldProgram(self string) string {
	if name, ok := strings.CutSuffix(self, ".exe"); ok {
		return name + ".old.exe"
	}
	return self + ".old"
}

// SetOwn notes what this program runs outside of every sandbox under these
// settings.
func (r Reach) SetOwn(cfg settings.Config, list map[string]mcphub.Server, l *Launcher) {
	if r.Own == nil {
		return
	}
	var s ownState
	if self, err := os.Executable(); err == nil {
		s.files = append(s.files, self, oldProgram(self))
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		server := list[name]
		if server.URL != "" {
			continue
		}
		if server.Grant != nil && server.Sandbox != sandbox.Host {
			continue // it is held wherever its files lie
		}
		found := l.Outside.judge(serverOutside(server, l))
		if dirs := l.codeDirs(found); len(dirs) > 0 && givenSecret(server) {
			s.files = append(s.files, dirs...)
			s.notes = append(s.notes, Note{Held: true,
				Text: fmt.Sprintf("the MCP server %s is given secrets of the vault and takes up code in %s, where commands can write: that is read-only for them, and file tools ask", name, strings.Join(dirs, " and ")),
				Fix:  "move it to where commands cannot write, so that it can be worked on by nobody but you, or run it without the secret while it is worked on"})
		}
		if !onHost(server.Sandbox) {
			continue
		}
		switch {
		case found.beside != "" && server.Sandbox == "":
			s.notes = append(s.notes, Note{Held: true,
				Text: fmt.Sprintf("the MCP server %s runs in the sandbox linux, since it takes up %s, where commands can write", name, found.beside),
				Fix:  fmt.Sprintf("if it fails there, move it to where commands cannot write, or set mcp_servers.%s.sandbox: host to run it outside, with whatever commands have put there", name)})
			continue // what it obeys may be written: it is held as commands are
		case found.beside != "":
			s.notes = append(s.notes, Note{
				Text: fmt.Sprintf("the MCP server %s runs outside of every sandbox and takes up %s, where commands can write: what they put there runs with all your rights", name, found.beside),
				Fix:  fmt.Sprintf("set mcp_servers.%s.sandbox: linux, or move it to where commands cannot write", name)})
		}
		s.files = append(s.files, found.files...)
	}
	plain := func(what string, argv []string) {
		if len(argv) == 0 {
			return
		}
		found := l.Outside.judge(outsideProgram{command: argv[0], args: argv[1:]})
		s.files = append(s.files, found.files...)
		if found.beside != "" {
			s.notes = append(s.notes, Note{
				Text: fmt.Sprintf("%s runs outside of every sandbox and lies where commands can write (%s): they cannot change that file, but what they put beside it may run with all your rights", what, found.beside),
				Fix:  "move it to where commands cannot write, such as your configuration directory"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Safety.Hooks)) {
		plain("the hook "+name, cfg.Safety.Hooks[name].Command)
	}
	if cfg.Vault.Key.From == "command" {
		plain("the command that gives the key of the vault", cfg.Vault.Key.Command)
	}
	if path := cfg.Sandbox.Container.Engine; filepath.IsAbs(path) {
		plain("the container engine", []string{path})
	}
	if dir := ShownDir(r.home); dir != "" && r.ToolsWrite(dir) {
		s.files = append(s.files, dir)
	}
	s.files = append(s.files, r.obeyedAtHome()...)
	for _, dir := range filepath.SplitList(l.Path) {
		if r.ToolsWrite(dir) && !l.ofProject(dir) {
			s.files = append(s.files, dir)
		}
	}
	before := r.Own.Notes()
	for _, n := range s.notes {
		if !n.Held && l.Log != nil && !slices.Contains(before, n) {
			l.Log.Warn(n.Text, "help", n.Fix)
		}
	}
	r.Own.now.Store(&s)
}

// givenSecret tells whether a server is given a secret of the vault.
func givenSecret(s mcphub.Server) bool {
	has := func(text string) bool { return strings.Contains(text, "${secret:") }
	return has(s.Command) || slices.ContainsFunc(s.Args, has) || slices.ContainsFunc(slices.Collect(maps.Values(s.Env)), has)
}

// codeDirs gives the directories of which a program takes up code beside the
// files that the settings name, as far as commands can write there: the nearest
// with a manifest of a package, or else the file's own. It is never a granted
// directory or the project as a whole, since nothing could be worked on then; of
// those it is the file alone.
func (l *Launcher) codeDirs(found obedience) []string {
	var out []string
	for _, file := range append(found.files, found.beside) {
		kind, code := kindOf(file)
		if file == "" || kind == missing || !code && file != found.beside || !l.Outside.Writes(file) {
			continue
		}
		top := func(dir string) bool {
			return linked.Within(l.Dir, dir) || slices.ContainsFunc(l.Grant.Dirs, func(d files.Dir) bool { return linked.Within(d.Path, dir) || linked.Within(realDir(d.Path), dir) })
		}
		nearest := file
		if kind == aFile {
			nearest = filepath.Dir(file)
		}
		for dir := nearest; !top(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if slices.ContainsFunc([]string{"pyproject.toml", "setup.py", "package.json", "deno.json", "Gemfile", "composer.json", "go.mod", "Cargo.toml", "pom.xml"}, func(name string) bool {
				_, err := os.Lstat(filepath.Join(dir, name))
				return err == nil
			}) {
				nearest = dir
				break
			}
		}
		if top(nearest) {
			nearest = file // alone
		}
		if !top(nearest) && !slices.Contains(out, nearest) {
			out = append(out, nearest)
		}
	}
	return out
}

// ofProject: a directory of PATH is part of what is worked on, such as .venv/bin or
// what a build fills: whoever put it into PATH runs the project's own programs.
func (l *Launcher) ofProject(dir string) bool {
	return linked.Within(dir, l.Dir) && (l.Home == "" || !linked.Within(l.Home, l.Dir))
}

// PathDirs are the directories of the person's PATH. Those that are relative, and
// an empty one, are taken from where she started us.
//
// Those that her start files put there come first: a client that a desktop started
// has another PATH than her shells.
func (r Reach) PathDirs(needs Start) (dirs []string) {
	for _, dir := range r.Own.named.PathAtHome() {
		if r.ToolsWrite(dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range filepath.SplitList(cmp.Or(needs.Path, os.Getenv("PATH"))) {
		if !filepath.IsAbs(dir) {
			if needs.Dir == "" {
				continue
			}
			dir = filepath.Join(needs.Dir, dir)
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// serverOutside is the program of an MCP server as the settings name it. What
// stands for a secret stays as it is: no path is one.
func serverOutside(s mcphub.Server, l *Launcher) outsideProgram {
	plain := func(text string) string {
		if out, err := settings.ExpandVariables(text, l.Env); err == nil {
			return out
		}
		return text
	}
	p := outsideProgram{command: plain(s.Command), env: map[string]string{}}
	for _, arg := range s.Args {
		p.args = append(p.args, plain(arg))
	}
	for name, value := range s.Env {
		p.env[name] = plain(value)
	}
	if s.Dir != "" {
		p.dir = l.place(plain(s.Dir))
	}
	return p
}
