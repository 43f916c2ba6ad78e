//go:build amd64 || arm64

package linux

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// A directory that others obey is covered as a whole, so that what a person puts
// into it is covered at once. But a program may have that file open since it lay
// elsewhere, or have given it another name: who looks at a hook and then installs
// it would get what the program makes of it afterwards.

// errNamed cannot be mended: a name that is not seen cannot be covered.
var errNamed = errors.New("it has a further name (a hard link) that is not covered")

// watchInner has arrivals told in directories that others obey. In those of git
// only hooks count: the rest changes with every command.
func (g *guard) watchInner(c sandbox.Cover) {
	if !c.Dir || c.Kind != sandbox.Fix || g.run.hold.Holds(c.Path) {
		return
	}
	place := c.Path
	if !absent(filepath.Join(place, "HEAD")) {
		place = filepath.Join(place, "hooks")
	}
	g.run.sandbox.moves.add(g, place, anyName) // if that cannot be done, nobody tells of it
}

// arrives notes a regular file that came into an obeyed directory from elsewhere,
// or that has further names. It reports whether it is one. What is made in the
// directory itself, as editors do, no program can have open for writing.
func (g *guard) arrives(path string, elsewhere bool) bool {
	st, regular := regularAt(path)
	if !regular || !elsewhere && st.Nlink < 2 {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.arrived[path] = true
	return true
}

// takeArrived makes what has arrived count as covered anew.
func (g *guard) takeArrived() {
	g.mu.Lock()
	arrived := g.arrived
	g.arrived = map[string]bool{}
	g.mu.Unlock()
	for path := range arrived {
		if st, regular := regularAt(path); regular {
			id := sandbox.FileID{Device: st.Dev, Inode: st.Ino}
			g.fresh[id] = sandbox.Cover{Path: path, Kind: sandbox.Fix, ID: id}
		}
	}
}

func regularAt(path string) (unix.Stat_t, bool) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	return st, err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG
}
