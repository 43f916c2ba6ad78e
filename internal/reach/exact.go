package reach

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// A server with a grant of its own is held to exactly that: what tools are granted
// does not come besides. What rules deny and what is protected is kept from it as
// from everybody.

// chooseExact says where such a program runs. A sandbox that cannot hold it refuses:
// the host is only ever a person's word.
func (l *Launcher) chooseExact(ctx context.Context, launch mcphub.Launch) (string, error) {
	if launch.Sandbox != "" {
		return launch.Sandbox, nil
	}
	if l.Chooser == nil {
		return "", fmt.Errorf("%s is not started: there is no sandbox here that would hold it to what it declares", launch.Server)
	}
	if _, err := l.Chooser.Named(ctx, sandbox.Linux); err != nil {
		return "", fmt.Errorf("%s is not started: no sandbox here holds it to what it declares (%w); sandbox: host, where its directories are declared, runs it with all your rights", launch.Server, err)
	}
	return sandbox.Linux, nil
}

// exactly is the grant of a server: its own, if it has one.
func (l *Launcher) exactly(own *toolcrib.Grant, name string) toolcrib.Grant {
	if own == nil || onHost(name) {
		return l.granted(name)
	}
	g := *own
	g.Bounds |= toolcrib.BoundFiles | toolcrib.BoundNetwork
	return l.kept(g)
}

// kept takes out of such a grant what rules deny, and has what others run from only read: what is granted to all was judged
// when Toolcrib started, what one program declares was not.
func (l *Launcher) kept(g toolcrib.Grant) toolcrib.Grant {
	if l.Rules != nil {
		g = l.Rules().From(g)
	}
	g.Dirs, g.Fixed = slices.Clone(g.Dirs), slices.Clone(g.Fixed)
	for _, dir := range append(slices.Clone(l.Kept), ShownDir(l.Home)) {
		for _, path := range []string{dir, realDir(dir)} {
			if dir == "" || !writesAround(g.Dirs, path) {
				continue
			}
			if !slices.Contains(g.Fixed, noPattern(path)) {
				g.Fixed = append(g.Fixed, noPattern(path))
			}
			for i, d := range g.Dirs {
				g.Dirs[i].Write = d.Write && !linked.Within(d.Path, path)
			}
		}
	}
	return g
}

// writesAround: something of a place could be written, or it lies in what could.
func writesAround(dirs []files.Dir, path string) bool {
	return slices.ContainsFunc(dirs, func(d files.Dir) bool {
		return d.Write && (linked.Within(path, d.Path) || linked.Within(d.Path, path))
	})
}

// noPattern makes a pattern of a path. A character that would mean something there stands for any.
func noPattern(path string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(`*[]{}\`, c) {
			return '?'
		}
		return c
	}, filepath.ToSlash(path))
}

// scratch is what a program in a sandbox has for itself alone: it is empty when the
// program begins, and gone when it ends.
const scratch = "/tmp"

// exactDir is where such a program runs: where we do, if it sees that.
func (l *Launcher) exactDir(g toolcrib.Grant) string {
	if l.Dir != "" && slices.ContainsFunc(g.Dirs, func(d files.Dir) bool { return linked.Within(l.Dir, d.Path) }) {
		return l.Dir
	}
	return scratch
}

// exactEnvironment is what such a program gets: what tells languages and times, and
// what is listed. Its home is its own.
func (l *Launcher) exactEnvironment(listed map[string]string) []string {
	env := map[string]string{"HOME": scratch, "TMPDIR": scratch}
	for _, name := range []string{"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ"} {
		if value, ok := l.Env(name); ok {
			env[name] = value
		}
	}
	maps.Copy(env, listed)
	return l.list(env)
}
