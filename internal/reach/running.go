package reach

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// HostsDir is where copies of what runs in other languages lie.
func HostsDir(home string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".cache", "toolcrib", "hosts")
}

// unswapped takes out of a declared grant what would let a program put something else in
// the place of what others run or believe: the copies of scripts and hosts, and
// certificates. Whoever declares ~/.cache means the rest of it. They can still be read:
// the program's own copy is among them.
func unswapped(g toolcrib.Grant, home string) (toolcrib.Grant, error) {
	if home == "" {
		return g, nil
	}
	g.Dirs, g.Fixed = slices.Clone(g.Dirs), slices.Clone(g.Fixed)
	for _, kept := range []string{ShownDir(home), filepath.Dir(HostsDir(home))} {
		there := filepath.Join(realDir(filepath.Dir(kept)), filepath.Base(kept))
		for i, d := range g.Dirs {
			switch at := realDir(d.Path); {
			case !d.Write:
			case linked.Within(at, there):
				g.Dirs[i].Write = false
			case linked.Within(there, at):
				// What is not there cannot be held, and a link would lead away from it.
				if err := os.MkdirAll(there, 0o700); err != nil {
					return g, fmt.Errorf("keeping %s from being written: %w", kept, err)
				}
				if err := linked.Straight(there, filepath.Dir(there)); err != nil {
					return g, err
				}
				g.Fixed = append(g.Fixed, filepath.ToSlash(there))
			}
		}
	}
	return g, nil
}

// apart tells the directories of an interpreter that nobody works in from those that
// tools have: a virtual environment in the project, or one that a project has made to
// look so. These are shown as what is granted, without what is protected in them.
func (l *Launcher) apart(tools []string) (shown []string, granted []files.Dir) {
	for _, dir := range tools {
		at := realDir(dir)
		if slices.ContainsFunc(l.Grant.Dirs, func(d files.Dir) bool {
			top := realDir(d.Path)
			return linked.Within(at, top) || linked.Within(top, at)
		}) {
			granted = append(granted, files.Dir{Path: dir})
			continue
		}
		shown = append(shown, dir)
	}
	return shown, granted
}

// heldOnHost refuses a program that is to run outside of every sandbox and takes up
// what commands can write: it would be their way out.
func (l *Launcher) heldOnHost(launch mcphub.Launch) error {
	beside := l.Outside.judge(outsideProgram{command: launch.Command, args: launch.Args, env: launch.Env}).beside
	for _, dir := range launch.Tools {
		if beside == "" && l.Outside.Writable != nil && (l.Outside.Writes(dir) || l.Outside.Writes(realDir(dir))) {
			beside = dir
		}
	}
	if beside == "" {
		return nil
	}
	return fmt.Errorf("%s is not started: it takes up %s, where commands can write, and with sandbox: host it would run whatever they put there. Move it, or leave sandbox out", launch.Server, beside)
}
