//go:build amd64 || arm64

package linux

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// A program keeps the directory that it stands in, and the files that it has open,
// also when somebody moves them out of what was granted: it would go on reading
// and changing them wherever they lie by then. Nothing tells of every such move, so
// what the programs have is looked at again and again.
//
// The kernel names it by the mount through which it was reached. What lies outside
// of that mount by now has no name there, and the kernel calls it "/". A cover is
// a mount, too, and so is each of the granted directories, so that such a thing may
// still lie elsewhere in what was granted: then it is found there.

// errStray cannot be mended: nobody can take a directory away from who stands in it.
var errStray = errors.New("it lies outside of what was granted by now, and a program has it")

// The bounds on how often that is looked at: a look may take only so much of the
// time, but for programs that have very much open.
const (
	strayPeriod = 100 * time.Millisecond
	strayShare  = 50
	strayMost   = 2 * time.Second
	strayNames  = 4096
)

// strays is what is known of that for one program.
type strays struct {
	moved chan struct{} // something was moved away from the top of what was granted

	mu    sync.Mutex
	names map[string]string         // how what programs have was called at the last look, by the link to it
	kept  map[sandbox.FileID]string // where in what was granted that is which the kernel has no name for
	place string                    // how what was found was called; empty if that is not known
	found bool
}

// hint has it looked at soon.
func (s *strays) hint() {
	select {
	case s.moved <- struct{}{}:
	default: // that is about to be done
	}
}

// lookOut ends a program that has something that was moved out of what was
// granted.
func (r *run) lookOut(c *child) {
	for pause, rest := besidePause, strayPeriod; comesBefore(time.After(pause), c.ended); {
		select {
		case <-c.ended:
			return
		case <-r.strays.moved:
		case <-time.After(rest):
		}
		began := time.Now()
		if r.stray() {
			_ = c.kill() // or it has ended
			return
		}
		took := time.Since(began)
		pause, rest = max(besidePause, took), max(strayPeriod, min(strayShare*took, strayMost))
	}
}

// notes says why a program was ended, if it was.
func (s *strays) notes(grant toolcrib.Grant) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.found {
		return nil
	}
	place := sandbox.Shorten(s.place)
	if place == "" {
		place = "something in " + sandbox.Shorten(grant.Dirs[0].Path)
	}
	return []string{fmt.Sprintf("%s was moved out of what was granted while the program stood in it or had it open. The program was ended, because it could have read and changed it there: start it again", place)}
}

// stray tells whether a program has something that lies outside of what was
// granted, and notes how that was called.
func (r *run) stray() bool {
	look := &strayLook{granted: r.isGranted, names: map[string]string{}, links: map[sandbox.FileID]string{}}
	for _, pid := range below(r.pid) {
		look.process("/proc/" + pid)
	}
	r.strays.mu.Lock()
	defer r.strays.mu.Unlock()
	if look.certain || len(look.links) > 0 && !r.keeps(look.links) {
		r.strays.found = true
		for _, link := range look.links { // of those that are left
			if name := r.strays.names[link]; name != "" && absent(name) && (r.strays.place == "" || len(name) < len(r.strays.place)) { // or it had something else by this number
				r.strays.place = name
			}
		}
		return true
	}
	r.strays.names = look.names
	return false
}

// isGranted tells whether all that was granted is mounted at a place. Of several
// granted directories a thing may lie in another one by now.
func (r *run) isGranted(point string) bool {
	count := 0
	for _, b := range r.job.binds {
		if b.strict {
			count++
		}
	}
	return count == 1 && slices.ContainsFunc(r.job.binds, func(b bind) bool { return b.strict && b.target == point })
}

// keeps tells whether things without a name of their own all lie where a program
// may write, and takes those away that do. One that has further names counts as
// outside: nobody can tell which of them was moved.
func (r *run) keeps(links map[sandbox.FileID]string) bool {
	kept := map[sandbox.FileID]string{}
	defer func() { r.strays.kept = kept }()
	found := func(path string, st *unix.Stat_t) error {
		if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 {
			return nil
		}
		for _, id := range []sandbox.FileID{numberOf(st), {Inode: st.Ino}} {
			if _, wanted := links[id]; wanted && (id.Device != 0 || unix.Major(st.Dev) == 0) {
				kept[id] = path
				delete(links, id)
			}
		}
		if len(links) == 0 {
			return errUnsearched // no further
		}
		return nil
	}
	for _, path := range r.strays.kept { // where they were at the last look
		var st unix.Stat_t
		if len(links) > 0 && unix.Lstat(path, &st) == nil {
			_ = found(path, &st)
		}
	}
	s := newSearch()
	s.visit = found
	for _, b := range r.job.binds {
		if b.strict && b.write && len(links) > 0 {
			_, _ = s.enter(unix.AT_FDCWD, b.source, b.source, 0) // what is not found counts as outside
		}
	}
	return len(links) == 0
}

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
