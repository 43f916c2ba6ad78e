package app

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/settings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// reach is what tools may touch: the granted directories, where relative names
// begin, and what stays out of reach inside them.
type reach struct {
	dirs      []files.Dir
	base      string
	home      string
	protected []string             // patterns, for NewProtection
	obeyed    *sensitive.ObeyedSet // what other programs obey, without what was granted
	own       *ownFiles            // what this program itself runs outside
	env       func(string) string  // the person's variables
	files     files.Options
	faults    []toolcrib.Fault
}

// reachOf settles the grant of a configuration. A directory that cannot be
// granted is told and left out. Links in the unled directories make nothing of
// what they lead to: plugins are judged where they are started.
func reachOf(cfg settings.Grant, needs Needs, unled ...string) (reach, error) {
	r := reach{own: &ownFiles{}, home: needs.Home, env: needs.variable()}
	add := func(key string, list []string, write bool) {
		for _, text := range list {
			dir, err := needs.directory(text)
			if text == "." && (errors.Is(err, errHoldsHome) || errors.Is(err, errNoDir)) {
				continue // the default: who wants to know asks the doctor
			}
			if err != nil {
				r.faults = append(r.faults, toolcrib.Fault{Tool: key, Err: fmt.Errorf("%s: %w", text, err)})
				continue
			}
			if !slices.ContainsFunc(r.dirs, func(d files.Dir) bool { return d.Path == dir }) {
				r.dirs = append(r.dirs, files.Dir{Path: dir, Write: write})
			}
		}
	}
	add("grant.write", cfg.Write, true)
	add("grant.read", cfg.Read, false)
	for _, d := range r.dirs {
		if r.base == "" || d.Path == needs.Dir {
			r.base = d.Path
		}
	}
	r.own.named.Home, r.own.named.Granted, r.own.granted = needs.Home, r.granted, r.granted
	for _, d := range append([]files.Dir{{Path: needs.Dir}}, r.dirs...) {
		if !filepath.IsAbs(d.Path) || !r.granted(d.Path) {
			continue
		}
		if !slices.Contains(r.own.clients.tops, d.Path) {
			r.own.clients.tops = append(r.own.clients.tops, d.Path)
		}
		for _, top := range around(d.Path, needs.Home) {
			if !slices.Contains(r.own.tops, top) {
				r.own.tops = append(r.own.tops, top)
			}
		}
	}
	r.own.named.Machine, r.own.named.Crontabs = onMachine, crontabs(needs)
	for _, top := range r.own.clients.tops {
		r.own.named.Projects = append(r.own.named.Projects, top)
		if at := realDir(top); at != top {
			r.own.named.Projects = append(r.own.named.Projects, at)
		}
	}
	unled = append(unled, needs.State) // what was removed lies there
	unled = slices.DeleteFunc(unled, func(dir string) bool { return !filepath.IsAbs(dir) })
	r.own.home = newHomeLinks(needs.Home, needs.Dir, r.dirs, unled)
	r.own.clients.home, r.own.clients.granted = needs.Home, r.granted
	for _, name := range cfg.Protected {
		if strings.HasPrefix(name, "!") { // a project may add to this list
			return reach{}, fmt.Errorf("grant.protected: %q is an exception: it belongs into grant.unprotected", name)
		}
		if strings.HasPrefix(name, sensitive.UnledWord) {
			return reach{}, fmt.Errorf("grant.protected: %q is neither a name nor a place", name)
		}
	}
	// An agent that could write a project's settings could take its rules away.
	r.protected = slices.Concat(files.DefaultProtected(), []string{"toolcrib.yaml"}, needs.Private, cfg.Protected)
	for _, dir := range unled {
		r.protected = append(r.protected, sensitive.UnledWord+dir)
	}
	for _, name := range cfg.Unprotected {
		r.protected = append(r.protected, "!"+name)
	}
	var err error
	if r.obeyed, err = sensitive.NewObeyedSet(cfg.Unprotected...); err != nil {
		return reach{}, fmt.Errorf("grant.unprotected: %w", err)
	}
	moved, obeyed := r.fromVariables(needs)
	r.protected, r.own.moved, r.own.git = append(r.protected, moved...), obeyed, gitSettings(needs.Home, r.env).Settings
	r.own.named.Settings = r.own.git
	protection, err := files.NewProtection(needs.Home, r.protected...)
	if err != nil {
		return reach{}, fmt.Errorf("grant.protected: %w", err)
	}
	r.files = files.Options{Base: r.base, Protected: protection, Trash: filepath.Join(needs.State, "trash")}
	return r, nil
}

// holdFiles has files stay the same files that programs in the sandbox find
// covered, and mends what was cut off while one was written.
func (a *App) holdFiles(needs Needs) {
	if needs.State == "" {
		return
	}
	obeyed, holds := a.obeyedGuard(), &sandbox.Holds{Dir: holdsDir(needs.State)}
	opt := &a.Crib.Files
	opt.Held = func(path string) bool {
		return obeyed.Has(filepath.ToSlash(path)) || a.policy.rules.Load().Covered(filepath.ToSlash(path))
	}
	opt.Busy = holds.Busy
	opt.Kept = filepath.Join(needs.State, "kept")
	log := cmp.Or(a.Crib.Log, slog.Default())
	files, err := files.New(a.Crib.Grant.Dirs, *opt)
	if err != nil {
		return // each call will say so
	}
	told, err := files.Mend()
	for _, text := range told {
		log.Warn(text)
	}
	if err = errors.Join(err, files.Close()); err != nil {
		log.Error("a write that was cut off cannot be mended", "err", err)
	}
}

// holdsDir is where the lists of placeholders lie.
func holdsDir(state string) string { return filepath.Join(state, "placeholders") }

// SetAside gives what sandboxes set aside and nobody has put back, the oldest first.
func SetAside(state string) []sandbox.Aside {
	return (&sandbox.Holds{Dir: holdsDir(state)}).Asides()
}

var (
	errHoldsHome = errors.New("the working directory holds your home directory")
	errNoDir     = errors.New("there is no working directory")
)

// writable reports whether there is a directory that tools may change.
func (r reach) writable() bool {
	return slices.ContainsFunc(r.dirs, func(d files.Dir) bool { return d.Write })
}

// directory reads a directory as people write it.
func (n Needs) directory(text string) (string, error) {
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
		if top := filepath.Dir(path) == path; top || n.Home != "" && (within(n.Home, path) || within(realDir(n.Home), realDir(path))) {
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

// around gives a directory and those above it, the nearest first, but neither the
// home directory nor the top: who is started in a part of a project obeys the
// settings at its top, and which that is a command could change by git init.
func around(dir, home string) []string {
	const most = 8
	list := []string{dir}
	for up := filepath.Dir(dir); up != home && up != filepath.Dir(up) && len(list) < most; up = filepath.Dir(up) {
		list = append(list, up)
	}
	return list
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// outOfReach is what the rules for everybody deny to programs as well.
func (a *App) outOfReach() policy.Taken { return a.policy.live.Policy().OutOfReach() }

// ProgramGrant is what a program may touch that no tool starts.
func (a *App) ProgramGrant() toolcrib.Grant {
	return a.outOfReach().From(a.Crib.Grant)
}
