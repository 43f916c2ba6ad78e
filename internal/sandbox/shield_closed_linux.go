package sandbox

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// letIn lets us into a directory of our own that is closed to us: no link may
// lie on the way, and what is opened is what is shut again, whatever its name is
// by then. Nobody else is let in. Shut gives it its mode back, if that is wanted,
// and tells whether it was open all the time.
func letIn(dir string) (shut func(back bool) (stood bool), ok bool) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, dir, &how)
	if err != nil {
		return nil, false
	}
	const enter = 0o500
	at := "/proc/self/fd/" + strconv.Itoa(fd)
	var was unix.Stat_t
	if unix.Fstat(fd, &was) != nil || int(was.Uid) != os.Geteuid() || was.Mode&enter != enter && unix.Chmod(at, was.Mode&0o7777|enter) != nil {
		_ = unix.Close(fd) // it was only a place to stand on
		return nil, false
	}
	var open unix.Stat_t
	known := unix.Fstat(fd, &open) == nil && open.Mode == was.Mode|enter
	return func(back bool) (stood bool) {
		var now unix.Stat_t
		if unix.Fstat(fd, &now) == nil && now.Mode == was.Mode|enter { // or somebody gave it another one meanwhile
			stood = known && now.Ctim == open.Ctim
			if back && was.Mode&enter != enter {
				_ = unix.Chmod(at, was.Mode&0o7777) // it stays open for its owner only
			}
		}
		_ = unix.Close(fd)
		return stood
	}, true
}
