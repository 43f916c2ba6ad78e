package app

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/settings"

	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/named"
	"github.com/toolcrib/toolcrib/internal/sensitive"
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
	clients clientServers
	moved   []string // obeyed places that variables put into granted directories
	git     []string // git's settings outside of repositories
}

type ownState struct {
	files []string // absolute
	notes []OutsideNote
}

// OutsideNote tells of a program outside of every sandbox that takes up what
// commands can write, or of one that is in a sandbox for that reason.
type OutsideNote struct {
	Text string
	Fix  string
	Held bool // it runs in a sandbox, so that nothing is wrong
}

// places lists the files.
func (o *ownFiles) places() []string {
	if o == nil || o.now.Load() == nil {
		return nil
	}
	list := slices.Concat(o.now.Load().files, slices.DeleteFunc(slices.Clone(o.moved), o.stopsGit))
	var found []string
	for _, top := range o.tops {
		found = append(found, o.named.Project(top)...)
	}
	for _, file := range append(found, o.named.AtHome()...) {
		if o.granted(file) && !slices.ContainsFunc(o.tops, func(top string) bool { return within(top, file) || within(realDir(top), realDir(file)) }) { // never a project as a whole
			list = append(list, file)
		}
	}
	return append(list, o.home.places()...)
}

// first lists the directories that scripts of the project put before PATH.
func (o *ownFiles) first() (dirs []string) {
	for _, top := range o.tops {
		dirs = append(dirs, o.named.PathDirs(top)...)
	}
	return dirs
}

// asked lists what file tools ask about: the files, what servers of the person's
// clients would take for theirs, and what direnv would take up.
func (o *ownFiles) asked() []string {
	if o == nil {
		return nil
	}
	list := slices.Concat(o.places(), o.moved, o.clients.missing())
	for _, top := range o.tops {
		list = append(list, slices.DeleteFunc(o.named.Missing(top), func(file string) bool { return !o.granted(file) })...)
	}
	return list
}

// OutsideNotes says which programs outside take up what commands can write.
func (a *App) OutsideNotes() []OutsideNote {
	if a.reach.own == nil || a.reach.own.now.Load() == nil {
		return nil
	}
	return a.reach.own.now.Load().notes
}

// ClientNotes says which servers of the person's clients take code from the
// project.
func (a *App) ClientNotes() []OutsideNote {
	if a.reach.own == nil {
		return nil
	}
	return a.reach.own.clients.notes()
}

// Programs finds the programs that this one starts outside of every sandbox,
// not by what commands can write.
func Programs(cfg settings.Config, needs Needs, path string) (hostpath.Finder, error) {
	r, err := reachOf(cfg.Grant, needs)
	if err != nil {
		return hostpath.Finder{}, err
	}
	return hostpath.Finder{Writable: r.commandsWrite, PATH: path}, nil
}

// commandsWrite tells whether commands can write a path.
func (r reach) commandsWrite(path string) bool {
	var inner files.Dir
	for _, d := range r.dirs {
		for _, dir := range []string{d.Path, realDir(d.Path)} {
			if within(path, dir) && len(dir) >= len(inner.Path) {
				inner = files.Dir{Path: dir, Write: d.Write}
			}
		}
	}
	if inner.Write && r.home != "" && within(r.home, inner.Path) && within(path, r.home) {
		rel, err := filepath.Rel(r.home, path) // commands make nothing there, and write in directories without a dot only
		return err == nil && rel != "." && rel[0] != '.'
	}
	return inner.Write
}

// granted tells whether a path, or what it leads to, lies in a directory that
// tools may write.
func (r reach) granted(path string) bool { return r.grants()(path) }

// grants is granted for many paths: the directories are resolved once.
func (r reach) grants() func(path string) bool {
	var given, targets []string
	for _, d := range r.dirs {
		if d.Write {
			given, targets = append(given, d.Path), append(targets, realDir(d.Path))
		}
	}
	return func(path string) bool {
		there, err := linked.Target(path) // what is missing can be made there
		if err != nil {
			there = path
		}
		return slices.ContainsFunc(given, func(dir string) bool { return within(path, dir) }) ||
			slices.ContainsFunc(targets, func(dir string) bool { return within(there, dir) })
	}
}

// obeyedAtHome gives what programs obey in the home directory, as far as tools
// could write it: the home directory is granted, or a link leads from there into
// the project, as with dotfiles.
func (r reach) obeyedAtHome() []string {
	if r.home == "" || !r.writable() {
		return nil
	}
	granted := r.grants()
	return slices.DeleteFunc(namesAtHome(r.home), func(path string) bool { return !granted(path) })
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

// setOwn notes what this program runs outside of every sandbox under these
// settings.
func (a *App) setOwn(cfg settings.Config, list map[string]mcphub.Server, l *launcher) {
	if a.reach.own == nil {
		return
	}
	var s ownState
	if self, err := os.Executable(); err == nil {
		s.files = append(s.files, self)
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		server := list[name]
		if server.URL != "" {
			continue
		}
		found := l.outside.judge(serverOutside(server, l))
		if dirs := l.codeDirs(found); len(dirs) > 0 && given(server) {
			s.files = append(s.files, dirs...)
			s.notes = append(s.notes, OutsideNote{Held: true,
				Text: fmt.Sprintf("the MCP server %s is given secrets of the vault and takes up code in %s, where commands can write: that is read-only for them, and file tools ask", name, strings.Join(dirs, " and ")),
				Fix:  "move it to where commands cannot write, so that it can be worked on by nobody but you, or run it without the secret while it is worked on"})
		}
		if !onHost(server.Sandbox) {
			continue
		}
		switch {
		case found.beside != "" && server.Sandbox == "":
			s.notes = append(s.notes, OutsideNote{Held: true,
				Text: fmt.Sprintf("the MCP server %s runs in the sandbox linux, since it takes up %s, where commands can write", name, found.beside),
				Fix:  fmt.Sprintf("if it fails there, move it to where commands cannot write, or set mcp_servers.%s.sandbox: host to run it outside, with whatever commands have put there", name)})
			continue // what it obeys may be written: it is held as commands are
		case found.beside != "":
			s.notes = append(s.notes, OutsideNote{
				Text: fmt.Sprintf("the MCP server %s runs outside of every sandbox and takes up %s, where commands can write: what they put there runs with all your rights", name, found.beside),
				Fix:  fmt.Sprintf("set mcp_servers.%s.sandbox: linux, or move it to where commands cannot write", name)})
		}
		s.files = append(s.files, found.files...)
	}
	plain := func(what string, argv []string) {
		if len(argv) == 0 {
			return
		}
		found := l.outside.judge(started{command: argv[0], args: argv[1:]})
		s.files = append(s.files, found.files...)
		if found.beside != "" {
			s.notes = append(s.notes, OutsideNote{
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
	s.files = append(s.files, a.reach.obeyedAtHome()...)
	for _, dir := range filepath.SplitList(l.path) {
		if a.reach.granted(dir) && !l.ofProject(dir) {
			s.files = append(s.files, dir)
		}
	}
	before := a.OutsideNotes()
	for _, n := range s.notes {
		if !n.Held && l.log != nil && !slices.Contains(before, n) {
			l.log.Warn(n.Text, "help", n.Fix)
		}
	}
	a.reach.own.now.Store(&s)
}

// given tells whether a server is given a secret of the vault.
func given(s mcphub.Server) bool {
	has := func(text string) bool { return strings.Contains(text, "${secret:") }
	return has(s.Command) || slices.ContainsFunc(s.Args, has) || slices.ContainsFunc(slices.Collect(maps.Values(s.Env)), has)
}

// codeDirs gives the directories of which a program takes up code beside the
// files that the settings name, as far as commands can write there: the nearest
// with a manifest of a package, or else the file's own. It is never a granted
// directory or the project as a whole, since nothing could be worked on then; of
// those it is the file alone.
func (l *launcher) codeDirs(found obedience) []string {
	var out []string
	for _, file := range append(found.files, found.beside) {
		kind, code := kindOf(file)
		if file == "" || kind == missing || !code && file != found.beside || !l.outside.Writes(file) {
			continue
		}
		top := func(dir string) bool {
			return within(l.dir, dir) || slices.ContainsFunc(l.grant.Dirs, func(d files.Dir) bool { return within(d.Path, dir) || within(realDir(d.Path), dir) })
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
func (l *launcher) ofProject(dir string) bool {
	return within(dir, l.dir) && (l.home == "" || !within(l.home, l.dir))
}

// pathDirs are the directories of the person's PATH. Those that are relative, and
// an empty one, are taken from where she started us.
//
// Those that her start files put there come first: a client that a desktop started
// has another PATH than her shells.
func (r reach) pathDirs(needs Needs) (dirs []string) {
	for _, dir := range r.own.named.PathAtHome() {
		if r.granted(dir) {
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
func serverOutside(s mcphub.Server, l *launcher) started {
	plain := func(text string) string {
		if out, err := settings.ExpandVariables(text, l.env); err == nil {
			return out
		}
		return text
	}
	p := started{command: plain(s.Command), env: map[string]string{}}
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
