// Package reach settles what tools may touch on this machine, and what of it
// programs outside of every sandbox run or obey: MCP servers, hooks, the person's
// own clients and shells. It also starts the programs of MCP servers, since where
// one may run depends on who can write what it is made of. The wiring and the
// joints import it.
//
// Its one invariant: what a tool can write is never run outside of a sandbox
// unless a person said so.
package reach

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/remedy"
	"github.com/toolcrib/toolcrib/internal/sensitive"
	"github.com/toolcrib/toolcrib/internal/settings"
	shell "github.com/toolcrib/toolcrib/internal/text"
)

// Start is where and for whom this program was started.
type Start struct {
	Dir     string   // the working directory
	Home    string   // the person's home directory
	State   string   // of the program
	Private []string // absolute paths that no tool may touch: settings and state of the program itself
	Path    string   // the person's PATH
	// Getenv reads the variables of the person. Nil: they are this program's own.
	Getenv func(name string) string
	// Whole is the grant as it was before a project's file narrowed it: where relative
	// names begin is the person's word alone. Nil: nothing narrowed it.
	Whole *settings.Grant
}

// Reach is what tools may touch: the granted directories, where relative names
// begin, and what stays out of reach inside them.
type Reach struct {
	Dirs      []files.Dir
	Base      string
	home      string
	Protected []string             // patterns, for NewProtection
	Obeyed    *sensitive.ObeyedSet // what other programs obey, without what was granted
	Own       *ownFiles            // what this program itself runs outside
	Env       func(string) string  // the person's variables
	Names     policy.Names         // what programs of the person's own take by its name
	Files     files.Options
	Faults    []toolcrib.LoadError
	// searched is what stays out of reach of a search that others make in a whole tree.
	searched func() (*files.Protection, error)
}

// Of settles the grant of a configuration. A directory that cannot be
// granted is told and left out. Links in the unled directories make nothing of
// what they lead to: plugins are judged where they are started.
func Of(cfg settings.Grant, needs Start, unled ...string) (Reach, error) {
	r := Reach{Own: &ownFiles{}, home: needs.Home, Env: needs.Variable()}
	r.Dirs, r.Faults = needs.granted(cfg)
	whole := r.Dirs
	if needs.Whole != nil {
		whole, _ = needs.granted(*needs.Whole) // what cannot be granted was told above, unless it is no longer asked for
	}
	for _, d := range whole {
		if r.Base == "" || d.Path == needs.Dir {
			r.Base = d.Path
		}
	}
	r.Own.named.Home, r.Own.named.Granted, r.Own.granted = needs.Home, r.ToolsWrite, r.ToolsWrite
	for _, d := range append([]files.Dir{{Path: needs.Dir}}, r.Dirs...) {
		if !filepath.IsAbs(d.Path) || !r.ToolsWrite(d.Path) {
			continue
		}
		if !slices.Contains(r.Own.Clients.tops, d.Path) {
			r.Own.Clients.tops = append(r.Own.Clients.tops, d.Path)
		}
		for _, top := range dirsAround(d.Path, needs.Home) {
			if !slices.Contains(r.Own.tops, top) {
				r.Own.tops = append(r.Own.tops, top)
			}
		}
	}
	r.Own.named.Machine, r.Own.named.Crontabs = onMachine, crontabs(needs)
	for _, top := range r.Own.Clients.tops {
		r.Own.named.Projects = append(r.Own.named.Projects, top)
		if at := realDir(top); at != top {
			r.Own.named.Projects = append(r.Own.named.Projects, at)
		}
	}
	unled = append(unled, needs.State) // what was removed lies there
	unled = slices.DeleteFunc(unled, func(dir string) bool { return !filepath.IsAbs(dir) })
	r.Own.home = newHomeLinks(needs.Home, needs.Dir, r.Dirs, unled)
	r.Own.Clients.home, r.Own.Clients.granted = needs.Home, r.ToolsWrite
	for _, name := range cfg.Protected {
		if err := settings.CheckProtected(needs.Home, name); err != nil {
			return Reach{}, fmt.Errorf("grant.protected: %w", err)
		}
	}
	protected := slices.Concat(files.DefaultProtected(), needs.Private, cfg.Protected)
	for _, dir := range unled {
		protected = append(protected, sensitive.UnledWord+dir)
	}
	for _, name := range cfg.Unprotected {
		protected = append(protected, "!"+name)
	}
	var err error
	if r.Obeyed, err = sensitive.NewObeyedSet(cfg.Unprotected...); err != nil {
		return Reach{}, fmt.Errorf("grant.unprotected: %w", err)
	}
	moved, obeyed := r.fromVariables(needs)
	protected = append(protected, moved...)
	// An agent that could write a project's settings could take its rules away, and one
	// that could write its tools would have the person trust them.
	r.Protected = slices.Concat([]string{"toolcrib.yaml", ".toolcrib"}, protected)
	r.Own.moved, r.Own.git = obeyed, GitSettings(needs.Home, r.Env).Settings
	r.Own.named.Settings = r.Own.git
	protection, err := files.NewProtection(needs.Home, r.Protected...)
	if err != nil {
		return Reach{}, fmt.Errorf("grant.protected: %w", err)
	}
	// That is about writing. They hold no secret, and every project that has them is searched.
	r.searched = sync.OnceValues(func() (*files.Protection, error) { return files.NewProtection(needs.Home, protected...) })
	r.Files = files.Options{Base: r.Base, Protected: protection, Trash: filepath.Join(needs.State, "trash")}
	r.Names = policy.Names{Taken: r.Own.Clients.Taken, First: r.Own.First, Writes: r.CommandsWrite, Path: sync.OnceValue(func() []string { return r.PathDirs(needs) })}
	if filepath.IsAbs(needs.Dir) {
		r.Names.Starts = []string{needs.Dir}
	}
	return r, nil
}

// granted gives the directories of a grant, and what of it cannot be granted.
func (n Start) granted(cfg settings.Grant) (dirs []files.Dir, faults []toolcrib.LoadError) {
	add := func(key string, list []string, write bool) {
		for _, text := range list {
			dir, err := n.Directory(text)
			if text == "." && (errors.Is(err, errHoldsHome) || errors.Is(err, errNoDir)) {
				continue // the default: who wants to know asks the doctor
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", text, err)
				if missing, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
					err = remedy.With(err, "mkdir -p "+shell.ShellWord(missing.Path))
				}
				faults = append(faults, toolcrib.LoadError{Tool: key, Err: err})
				continue
			}
			if !slices.ContainsFunc(dirs, func(d files.Dir) bool { return d.Path == dir }) {
				dirs = append(dirs, files.Dir{Path: dir, Write: write})
			}
		}
	}
	add("grant.write", cfg.Write, true)
	add("grant.read", cfg.Read, false)
	return dirs, faults
}

var (
	errHoldsHome = errors.New("the working directory holds your home directory")
	errNoDir     = errors.New("there is no working directory")
)

// Writable reports whether there is a directory that tools may change.
func (r Reach) Writable() bool {
	return slices.ContainsFunc(r.Dirs, func(d files.Dir) bool { return d.Write })
}

// Directory reads a directory as people write it.
func (n Start) Directory(text string) (string, error) {
	path := text
	switch rest, tilde := strings.CutPrefix(text, "~"); {
	case tilde && (rest == "" || os.IsPathSeparator(rest[0])):
		if n.Home == "" {
			return "", errors.New("the home directory is not known")
		}
		path = n.Home + rest
	case !filepath.IsAbs(text):
		if n.Dir == "" {
			return "", errNoDir
		}
		path = filepath.Join(n.Dir, text)
		if top := filepath.Dir(path) == path; top || n.Home != "" && (linked.Within(n.Home, path) || linked.Within(realDir(n.Home), realDir(path))) {
			// Many programs start their servers in / or in the home directory:
			// nobody meant to grant all of that.
			return "", fmt.Errorf("%w: %s; start in a project, or write the path out", errHoldsHome, path)
		}
	}
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", errors.New("not a directory")
	}
	return path, nil
}

// dirsAround gives a directory and those above it, the nearest first, but neither the
// home directory nor the top: who is started in a part of a project obeys the
// settings at its top, and which that is a command could change by git init.
func dirsAround(dir, home string) []string {
	const most = 8
	list := []string{dir}
	for up := filepath.Dir(dir); up != home && up != filepath.Dir(up) && len(list) < most; up = filepath.Dir(up) {
		list = append(list, up)
	}
	return list
}

// GitSettings reads what git goes by, outside of repositories too.
func GitSettings(home string, env func(name string) string) gitconfig.Source {
	return gitconfig.Source{Read: plainfile.Settings, Home: home, Settings: gitconfig.Files(home, env)}
}

// Readable says whether a command may read a path unasked. It goes by the very
// handle that the file tools get.
func (r Reach) Readable(path string) error {
	if len(r.Dirs) == 0 {
		return errors.New("no directory was granted")
	}
	files, err := files.New(r.Dirs, r.Files)
	if err != nil {
		return err
	}
	_, err = files.Real(path)
	return errors.Join(err, files.Close())
}

// ReadableOutside says whether a program that no sandbox keeps from protected files may
// read a path unasked: not one that is such a file by another name either, which takes a
// look at the whole grant. So all paths are looked at by one handle, which is for a
// process that ends after one answer.
func (r Reach) ReadableOutside() func(path string) error {
	open := sync.OnceValues(func() (*files.Handle, error) {
		if len(r.Dirs) == 0 {
			return nil, errors.New("no directory was granted")
		}
		return files.New(r.Dirs, r.Files)
	})
	return func(path string) error {
		handle, err := open()
		if err != nil {
			return err
		}
		return handle.Check(path, false, false)
	}
}
