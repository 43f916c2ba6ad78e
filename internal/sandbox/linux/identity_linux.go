//go:build amd64 || arm64

package linux

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// identity is who a program is, inside and outside.
type identity struct {
	root                   bool // we are root of the whole machine
	insideUID, insideGID   int
	outsideUID, outsideGID int
	owners                 *owners
}

// insideID is the number of a program's user inside, when we are root.
const insideID = 1000

// whoAmI decides as whom programs run. As a plain user it is that user: the
// namespaces keep it from everything of the user that was not granted, and
// granted files have the right owner. As root it is nobody's number.
func whoAmI() (identity, error) {
	uid, gid := os.Geteuid(), os.Getegid()
	maps, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return identity{}, fmt.Errorf("looking who we are: %w", err)
	}
	if uid != 0 || !wholeMap(string(maps)) {
		return identity{insideUID: uid, insideGID: gid, outsideUID: uid, outsideGID: gid}, nil
	}
	id := unusedID()
	return identity{root: true, insideUID: insideID, insideGID: insideID, outsideUID: id, outsideGID: id, owners: &owners{uid: id, gid: id}}, nil
}

// wholeMap tells whether this is the first user namespace, in which root is
// root of the machine. In any other, root is some plain user.
func wholeMap(text string) bool {
	fields := strings.Fields(text)
	if len(fields) != 3 || fields[0] != "0" || fields[1] != "0" {
		return false
	}
	n, err := strconv.ParseUint(fields[2], 10, 64)
	return err == nil && n >= 1<<32-1
}

// unusedID picks a number far from accounts and from the ranges that container
// engines hand out. Each sandbox has its own, so that what the kernel counts
// by user is counted apart.
func unusedID() int {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return 0x70000000 + int(binary.LittleEndian.Uint32(b[:])&0xfffffff)
}

// owners holds a user namespace for each owner of a granted directory, by
// which that owner is mapped to the user that programs run as.
type owners struct {
	uid, gid int
	mu       sync.Mutex
	spaces   map[[2]uint32]*os.File
}

// mount makes a detached mount of a granted directory in which its owner is
// the user of the program: files are readable and writable as they are for
// their owner outside, and what the program makes belongs to the owner. It is whole
// if the file systems mounted below it are shown too.
func (w identity) mount(d files.Dir) (_ *os.File, whole bool, _ error) {
	if err := reachable(d.Path); err != nil {
		return nil, false, err
	}
	f, err := w.mapped(d, true)
	if err == nil || !errors.Is(err, unix.EINVAL) {
		return f, true, err
	}
	// Once more without the file systems mounted below it: one of them may
	// be of a kind that cannot be mapped. They are then not seen inside.
	f, err = w.mapped(d, false)
	return f, false, err
}

// mountAlone is mount, to be read only and without what is mounted below it.
func (w identity) mountAlone(path string) (*os.File, error) {
	return w.mapped(files.Dir{Path: path}, false)
}

func (w identity) mapped(d files.Dir, recursive bool) (*os.File, error) {
	tree, err := cloneTree(d.Path, recursive)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(tree), d.Path)
	var st unix.Stat_t
	if err := unix.Fstat(tree, &st); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	space, err := w.owners.space(st.Uid, st.Gid)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := protect(tree, d.Write, space); err != nil {
		_ = f.Close() // nothing was written to it
		return nil, sandbox.Unavailable(fmt.Sprintf("the granted directory %s lies on a file system whose owners cannot be mapped: "+
			"run toolcrib as a plain user, or grant a directory on ext4, xfs, btrfs or tmpfs", d.Path), err)
	}
	return f, nil
}

// space gives the namespace for an owner. A namespace needs a process to be
// born in; it is ended as soon as we hold on to the namespace.
func (o *owners) space(uid, gid uint32) (*os.File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := [2]uint32{uid, gid}
	if f := o.spaces[key]; f != nil {
		return f, nil
	}
	stdin, hold, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	defer func() { _, _ = stdin.Close(), hold.Close() }()
	c := &exec.Cmd{Path: "/proc/self/exe", Args: []string{"toolcrib", spaceWord}, Env: []string{}, Dir: "/", Stdin: stdin, SysProcAttr: &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: int(uid), HostID: o.uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: int(gid), HostID: o.gid, Size: 1}},
	}}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("making a user namespace: %w", err)
	}
	f, err := os.Open("/proc/" + strconv.Itoa(c.Process.Pid) + "/ns/user")
	_ = c.Process.Kill()
	_ = c.Wait() // it was killed, that is no error
	if err != nil {
		return nil, fmt.Errorf("holding a user namespace: %w", err)
	}
	if o.spaces == nil {
		o.spaces = map[[2]uint32]*os.File{}
	}
	o.spaces[key] = f
	return f, nil
}
