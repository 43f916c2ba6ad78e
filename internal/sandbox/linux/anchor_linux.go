//go:build amd64 || arm64

package linux

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// anchor holds on to a granted directory. A program sees the directory, whatever
// it is called by now; what we look at has a name.
type anchor struct {
	path string
	id   sandbox.FileID // its number, which is its own as long as it is open
	file *os.File
}

// anchor opens the granted directories before anything is looked at in them.
func (r *run) anchor(dirs []files.Dir) error {
	if r.sandbox.cfg.Shield == nil {
		return nil
	}
	for _, d := range dirs {
		fd, err := unix.Openat2(unix.AT_FDCWD, d.Path, &unix.OpenHow{
			Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		})
		if err != nil {
			return grantError(d.Path, fmt.Errorf("opening %s: %w", d.Path, err))
		}
		a := anchor{path: d.Path, file: os.NewFile(uintptr(fd), d.Path)}
		r.anchors = append(r.anchors, a)
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return grantError(d.Path, err)
		}
		r.anchors[len(r.anchors)-1].id = numberOf(&st)
	}
	return nil
}

// stays tells whether the directory is still where it was.
func (a anchor) stays() bool { return a.isAt(a.path) }

func (a anchor) isAt(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && numberOf(&st) == a.id
}

// now gives where the directory is by now; empty if it is nowhere.
func (a anchor) now() string {
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(a.file.Fd())))
	if err != nil || !a.isAt(path) {
		return ""
	}
	return path
}

// sweep looks at what the program has left, also where a granted directory has
// got another name meanwhile.
func (r *run) sweep() []string {
	var notes []string
	for _, a := range r.anchors {
		if a.stays() {
			continue
		}
		to := a.now()
		if to == "" {
			notes = append(notes, fmt.Sprintf("%s was removed while the program ran, or is where we cannot see it: if it comes back, look for repositories in it before you use git there", sandbox.Shorten(a.path)))
			continue
		}
		notes = append(notes, fmt.Sprintf("%s was moved to %s while the program ran, and what the program made is looked at there", sandbox.Shorten(a.path), sandbox.Shorten(to)))
		r.covering.Moved(a.path, to)
		r.hold.Moved(a.path, to)
	}
	return append(notes, r.covering.Sweep()...)
}
