//go:build amd64 || arm64

package linux

import (
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// A file system below a granted directory whose owners cannot be mapped is not
// shown. What lies under it would be instead, which nobody has looked at: the
// look goes by names, and by these the mounted file system is found. So such a
// place is hidden as a whole.

// hideUnder hides the mount points below a directory that is shown without what
// is mounted there. What was found in the file systems needs no covers.
func (r *run) hideUnder(dir string, dirs []files.Dir) error {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for _, point := range mountPoints(string(text)) {
		granted := slices.ContainsFunc(dirs, func(d files.Dir) bool { return d.Path == point }) // a mount of its own lies there
		if !strings.HasPrefix(point, dir+"/") || granted || r.isUnder(point) {
			continue
		}
		r.job.under = append(r.job.under, sandbox.Cover{Path: point, Dir: isDirAt(point)})
	}
	r.job.covers = r.shown(r.job.covers)
	return nil
}

// isUnder tells whether a path lies at or below a place that is hidden.
func (r *run) isUnder(path string) bool {
	return slices.ContainsFunc(r.job.under, func(c sandbox.Cover) bool { return path == c.Path || strings.HasPrefix(path, c.Path+"/") })
}

// shown leaves out covers of what the program does not see.
func (r *run) shown(covers []sandbox.Cover) []sandbox.Cover {
	if len(r.job.under) == 0 {
		return covers
	}
	return slices.DeleteFunc(slices.Clone(covers), func(c sandbox.Cover) bool { return r.isUnder(c.Path) })
}

// mountPoints reads a list of mounts, outer ones first.
func mountPoints(mountinfo string) (list []string) {
	for line := range strings.Lines(mountinfo) {
		if fields := strings.Fields(line); len(fields) > 4 {
			list = append(list, unescape(fields[4]))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// isDirAt asks nobody but the kernel: who serves a file system may refuse, or not
// answer at all.
func isDirAt(path string) bool {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	_ = unix.Close(fd) // nothing was written
	return true
}
