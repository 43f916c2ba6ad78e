//go:build amd64 || arm64

package linux

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// strayLook is one look at all programs.
type strayLook struct {
	granted func(point string) bool // whether that is where all that was granted is mounted
	names   map[string]string
	links   map[sandbox.FileID]string // to what has no name in its mount; the device is zero where it is not known for certain
	certain bool                      // one of them was reached through no cover
}

// process looks at one process. All its threads have the same mappings; the rest
// most of them share.
func (l *strayLook) process(at string) {
	l.look(at, "/exe")
	leader, _ := strconv.Atoi(at[len("/proc/"):])
	tasks, _ := namesOf(at + "/task") // none if it has ended
	for _, name := range tasks {
		thread, _ := strconv.Atoi(name)
		if thread != leader && shares(leader, thread) {
			continue
		}
		task := at + "/task/" + name
		l.look(task, "/cwd")
		files, _ := namesOf(task + "/fd") // none if it has ended
		for _, fd := range files {
			l.look(task, "/fd/"+fd)
		}
	}
	if maps, err := os.ReadFile(at + "/maps"); err == nil {
		for _, id := range mappedStray(maps) {
			l.note(id, at+"/maps")
		}
	}
}

// The names of what has no place in the mount that it was reached through.
const (
	strayName = "/"
	strayGone = "/ (deleted)"
)

// look notes what a link of a thread leads to if that has no name. The root is
// called "/" as well; no program can change its own. So is what hid a place that
// somebody removed: it lies in the file system of the root, in which nothing that was
// granted lies.
func (l *strayLook) look(task, name string) {
	link := task + name
	to, err := os.Readlink(link)
	if err != nil {
		return // it was closed, or the program has ended
	}
	if to != strayName && to != strayGone {
		if len(l.names) < strayNames && to[0] == '/' {
			l.names[link] = strings.TrimSuffix(to, " (deleted)")
		}
		return
	}
	// The program goes on meanwhile: what is held by us stays the same.
	fd, err := unix.Open(link, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	var st unix.Stat_t
	to, err = os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil || unix.Fstat(fd, &st) != nil {
		return
	}
	kind, root := st.Mode&unix.S_IFMT, idAt(task+"/root")
	if st.Dev == root.Device {
		return
	}
	switch {
	case to == strayName && (kind == unix.S_IFDIR && root != (sandbox.FileID{}) || kind == unix.S_IFREG),
		to == strayGone && kind == unix.S_IFREG && st.Nlink > 0: // by other names it is still there
		l.note(numberOf(&st), link)
		mount := mountOf(task, infoNumber("/proc/self", strconv.Itoa(fd), "mnt_id:", 10))
		l.certain = l.certain || len(mount) > 4 && l.granted(unescape(mount[4]))
	}
}

// note: who had it first, and not one of its children, tells how it was called.
func (l *strayLook) note(id sandbox.FileID, link string) {
	if _, known := l.links[id]; !known {
		l.links[id] = link
	}
}

// mappedStray gives the numbers of mappings of what has no name. Where file systems
// have no device of their own it is not that of the file.
func mappedStray(maps []byte) (list []sandbox.FileID) {
	if !bytes.Contains(maps, []byte(" "+strayName+"\n")) {
		return nil
	}
	for line := range bytes.Lines(maps) {
		fields := bytes.Fields(line)
		if len(fields) != 6 || string(fields[5]) != strayName {
			continue
		}
		major, minor, _ := strings.Cut(string(fields[3]), ":")
		high, _ := strconv.ParseUint(major, 16, 32)
		low, _ := strconv.ParseUint(minor, 16, 32)
		id := sandbox.FileID{}
		if id.Inode, _ = strconv.ParseUint(string(fields[4]), 10, 64); high != 0 {
			id.Device = unix.Mkdev(uint32(high), uint32(low))
		}
		list = append(list, id)
	}
	return list
}

// namesOf lists a directory of /proc, in no order.
func namesOf(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return f.Readdirnames(-1)
}

// shares tells whether two threads have the same directory and the same open files.
func shares(a, b int) bool {
	const files, place = 2, 3 // KCMP_FILES, KCMP_FS
	for _, kind := range []uintptr{files, place} {
		if differ, _, errno := unix.RawSyscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kind, 0, 0, 0); errno != 0 || differ != 0 {
			return false
		}
	}
	return true
}
