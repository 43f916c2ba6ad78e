//go:build amd64 || arm64

package linux

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// A cover is no help against who has a file open. An editor writes a new file
// under another name first, where a program may open it, and gives it the name
// of the old one then. So while everything is stopped, the files that the
// programs have open are held against those that were covered anew.

// errOpened cannot be mended: nobody can take a file away from who has it open.
var errOpened = errors.New("a program has it open")

// quiet is how long programs may take to stop: they finish a system call first, and
// on a busy machine they wait for a core before they do.
const quiet = 2 * time.Second

// opened looks for files that are to be covered and are open, in whatever way: by
// a descriptor that is only for reading a file can be opened once more. Nothing
// can have been opened through a cover that was laid while all stand still. It
// gives an error that names one of them.
func opened(first int, fresh, inner map[sandbox.FileID]sandbox.Cover) error {
	if len(fresh) == 0 {
		return nil
	}
	look := &openLook{fresh: fresh, inner: inner, numbers: map[uint64][]sandbox.FileID{}}
	for _, list := range []map[sandbox.FileID]sandbox.Cover{fresh, inner} {
		for id := range list {
			look.numbers[id.Inode] = append(look.numbers[id.Inode], id)
		}
	}
	processes, err := standing(func() []string { return below(first) }, allStopped, quiet)
	if err != nil {
		return err
	}
	for _, pid := range processes {
		tasks, err := os.ReadDir("/proc/" + pid + "/task")
		if err != nil {
			continue // it has ended
		}
		for _, task := range tasks {
			at := "/proc/" + pid + "/task/" + task.Name()
			if err := look.openedBy(at); err != nil && !gone(err) && !ended(stateOf(at)) {
				return err
			}
		}
	}
	return nil
}

// standing waits until all processes have stopped and gives them. The list is made
// by going from parents to children. Meanwhile a parent may end, and its children
// fall to one whose children were listed before; so only a list that comes out the
// same once more has them all.
func standing(list func() []string, stopped func([]string) bool, wait time.Duration) ([]string, error) {
	until, pause := time.Now().Add(wait), time.Millisecond
	for processes := list(); ; processes = list() {
		if stopped(processes) && slices.Equal(processes, list()) {
			return processes, nil
		}
		if time.Now().After(until) {
			return nil, fmt.Errorf("a program does not stand still: %w", errOpened)
		}
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
}

func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) }

// openLook looks for what was covered anew, and for what lies in it: that may have
// been opened by another name.
type openLook struct {
	fresh, inner map[sandbox.FileID]sandbox.Cover // by number
	numbers      map[uint64][]sandbox.FileID
}

func (l *openLook) known(id sandbox.FileID) (c sandbox.Cover, has bool) {
	if c, has = l.fresh[id]; !has {
		c, has = l.inner[id]
	}
	return c, has
}

// openedBy looks at one thread: threads need not share what they have open.
func (l *openLook) openedBy(task string) error {
	if c, has := l.freshAt(task + "/cwd"); has {
		return fmt.Errorf("%s: %w", sandbox.Shorten(c.Path), errOpened)
	}
	// By the file that it runs a program can open that file, or give it a name.
	for _, link := range []string{"/exe", "/root"} {
		if c, has := l.known(idAt(task + link)); has {
			return fmt.Errorf("%s: %w", sandbox.Shorten(c.Path), errOpened)
		}
	}
	list, err := os.ReadDir(task + "/fd")
	if err != nil {
		return fmt.Errorf("what a program has open cannot be seen (%w): %w", err, unlessGone(err))
	}
	for _, e := range list {
		if c, has := l.freshAt(filepath.Join(task, "fd", e.Name())); has && !(c.Kind == sandbox.Fix && onlyReads(task, e.Name())) {
			return fmt.Errorf("%s: %w", sandbox.Shorten(c.Path), errOpened)
		}
		// What is on its way in a socket is open too, and cannot be seen.
		if to, err := os.Readlink(filepath.Join(task, "fd", e.Name())); err == nil && strings.HasPrefix(to, "socket:") && infoNumber(task, e.Name(), "scm_fds:", 10) > 0 {
			return fmt.Errorf("a program has files under way in a socket: %w", errOpened)
		}
	}
	maps, err := os.ReadFile(task + "/maps")
	if err != nil {
		return fmt.Errorf("what a program has mapped cannot be seen (%w): %w", err, unlessGone(err))
	}
	return l.mapped(maps)
}

// unlessGone: what cannot be seen may be open, but not by who has ended.
func unlessGone(err error) error {
	if gone(err) {
		return err
	}
	return errOpened
}

func idAt(path string) sandbox.FileID {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return sandbox.FileID{}
	}
	return numberOf(&st)
}

func numberOf(st *unix.Stat_t) sandbox.FileID { return sandbox.FileID{Device: st.Dev, Inode: st.Ino} }

// freshAt tells whether what is open is covered anew, or lies in a directory that
// is. The kernel names it as the program sees it, which is as it is called here.
func (l *openLook) freshAt(link string) (c sandbox.Cover, has bool) {
	if c, has = l.known(idAt(link)); has {
		return c, true
	}
	to, err := os.Readlink(link)
	if err != nil {
		return c, false
	}
	for _, c := range l.fresh {
		if c.Dir && c.Kind != sandbox.Pin && strings.HasPrefix(to, c.Path+"/") {
			return c, true
		}
	}
	return c, false
}

// onlyReads tells whether a descriptor came about through a mount that can only be
// read, such as a cover: by it nothing can be written, however it is opened anew.
func onlyReads(task, fd string) bool {
	fields := mountOf(task, infoNumber(task, fd, "mnt_id:", 10))
	return len(fields) > 5 && slices.Contains(strings.Split(fields[5], ","), "ro")
}

// mountOf gives the line of a mount in the list that a program sees, as fields;
// nil if it is not there.
func mountOf(task string, mount int64) []string {
	list, err := os.ReadFile(task + "/mountinfo")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(list)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == strconv.FormatInt(mount, 10) {
			return fields
		}
	}
	return nil
}

// infoNumber reads a number of what the kernel tells of a descriptor.
func infoNumber(task, fd, field string, base int) int64 {
	text, err := os.ReadFile(filepath.Join(task, "fdinfo", fd))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(rest), base, 64) // zero if it is none
			return n
		}
	}
	return 0
}

// mapped reads a list of mappings. The device there is not that of the file on
// every file system, so that the name counts as well, and where file systems have
// no device of their own the number alone.
func (l *openLook) mapped(maps []byte) error {
	for lines := bufio.NewScanner(bytes.NewReader(maps)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 {
			continue
		}
		inode, _ := strconv.ParseUint(fields[4], 10, 64) // zero if it is none
		shared := strings.HasSuffix(fields[1], "s")
		if path, in := l.mappedIn(lines.Text()); in && shared {
			return fmt.Errorf("%s: %w", sandbox.Shorten(path), errOpened)
		}
		for _, id := range l.numbers[inode] {
			c, _ := l.known(id)
			if inode == 0 || c.Kind == sandbox.Pin || c.Kind == sandbox.Fix && !shared {
				continue
			}
			device := fmt.Sprintf("%02x:%02x", unix.Major(id.Device), unix.Minor(id.Device))
			without := unix.Major(id.Device) == 0 && strings.HasPrefix(fields[3], "00:") && !isMemory(fields[5])
			if fields[3] == device || without || strings.HasSuffix(lines.Text(), c.Path) {
				return fmt.Errorf("%s: %w", sandbox.Shorten(c.Path), errOpened)
			}
		}
	}
	return nil
}

// isMemory: it is no file of a project, but memory that processes share.
func isMemory(name string) bool {
	return slices.ContainsFunc([]string{"/dev/", "/memfd:", "/SYSV"}, func(p string) bool { return strings.HasPrefix(name, p) })
}

// mappedIn tells whether a mapping is of what lies in a directory that is covered
// anew.
func (l *openLook) mappedIn(line string) (path string, in bool) {
	for _, c := range l.fresh {
		if c.Dir && c.Kind != sandbox.Pin && strings.Contains(line, " "+c.Path+"/") {
			return c.Path, true
		}
	}
	return "", false
}

// allStopped tells whether no thread runs any more.
func allStopped(processes []string) bool {
	for _, pid := range processes {
		tasks, err := os.ReadDir("/proc/" + pid + "/task")
		if err != nil {
			continue
		}
		for _, task := range tasks {
			if state := stateOf("/proc/" + pid + "/task/" + task.Name()); state == 'R' || state == 'S' {
				return false
			}
		}
	}
	return true
}

// stateOf gives the letter by which the kernel tells what a thread does; zero if
// it is gone.
func stateOf(task string) byte {
	text, err := os.ReadFile(task + "/stat")
	if err != nil {
		return 0
	}
	// The name may hold anything; the state stands behind its last bracket.
	i := bytes.LastIndexByte(text, ')')
	if i < 0 || i+2 >= len(text) {
		return 0
	}
	return text[i+2]
}

// ended: a thread that nobody has waited for yet has nothing open any more. What
// it had is closed to all but root.
func ended(state byte) bool { return state == 0 || state == 'Z' || state == 'X' }
