package host

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fork starts a program from a shim: in a session of its own, with limits that
// hold for the program and not for the shim. syscall.ForkExec cannot set them
// between fork and exec, and doing it before or after would either starve the
// shim or leave the program a moment without limits.
//
// It is called on a locked thread, and the program inherits what that thread
// was confined to.
type fork struct {
	path   string
	args   []string // with the program's own name
	env    []string
	limits []rlimit
}

// rlimit is one limit of setrlimit(2), soft and hard alike.
type rlimit struct {
	Resource int    `json:"resource"`
	Value    uint64 `json:"value"`
}

// forkPlan is fork in the form the child needs: it must not allocate.
type forkPlan struct {
	path      *byte
	argv      **byte
	envv      **byte
	limits    []rlimit64
	resources []int
	action    [64]byte  // a zero struct sigaction: the default
	mask      [8]byte   // no signal blocked
	all       [8]byte   // all signals blocked
	pipe      [2]int    // the child tells its errno here
	failed    [2]uint32 // errno and step
}

type rlimit64 struct{ soft, hard uint64 }

// The steps between fork and exec, for the words of an error.
const (
	stepLimit = iota
	stepSession
	stepExec
)

// start forks and gives the process ID once the program has been loaded.
func (f fork) start() (int, error) {
	p, err := f.plan()
	if err != nil {
		return 0, err
	}
	if err := unix.Pipe2(p.pipe[:], unix.O_CLOEXEC); err != nil {
		return 0, fmt.Errorf("making a pipe: %w", err)
	}
	pid, errno := forkExec(p)
	runtime.KeepAlive(p)
	if err := unix.Close(p.pipe[1]); err != nil {
		return 0, err
	}
	told := os.NewFile(uintptr(p.pipe[0]), "fork")
	defer func() { _ = told.Close() }()
	if errno != 0 {
		return 0, fmt.Errorf("forking: %w", errno)
	}
	var answer [8]byte
	if n, _ := told.Read(answer[:]); n != len(answer) {
		return int(pid), nil // closed by exec
	}
	_, _ = unix.Wait4(int(pid), nil, 0, nil)
	words := [...]string{stepLimit: "setting a limit", stepSession: "making a session", stepExec: "loading the program"}
	failed := *(*[2]uint32)(unsafe.Pointer(&answer))
	return 0, fmt.Errorf("%s: %w", words[failed[1]], syscall.Errno(failed[0]))
}

func (f fork) plan() (*forkPlan, error) {
	p := &forkPlan{}
	for i := range p.all {
		p.all[i] = 0xff
	}
	for _, l := range f.limits {
		p.resources = append(p.resources, l.Resource)
		p.limits = append(p.limits, rlimit64{l.Value, l.Value})
	}
	path, err := syscall.BytePtrFromString(f.path)
	if err != nil {
		return nil, err
	}
	argv, err := syscall.SlicePtrFromStrings(f.args)
	if err != nil {
		return nil, err
	}
	envv, err := syscall.SlicePtrFromStrings(f.env)
	if err != nil {
		return nil, err
	}
	p.path, p.argv, p.envv = path, &argv[0], &envv[0]
	return p, nil
}

// forkExec must do nothing in the child but raw system calls: of the runtime's
// threads only this one is there, and locks of the others stay locked.
//
//go:norace
//go:noinline
func forkExec(p *forkPlan) (pid uintptr, errno syscall.Errno) {
	// A signal handler of the runtime must not run in the child.
	var before [8]byte
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&p.all)), uintptr(unsafe.Pointer(&before)), 8, 0, 0)
	pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&before)), 0, 8, 0, 0)
		return pid, errno
	}
	for i := 0; i < len(p.limits); i++ {
		if _, _, errno = syscall.RawSyscall6(unix.SYS_PRLIMIT64, 0, uintptr(p.resources[i]), uintptr(unsafe.Pointer(&p.limits[i])), 0, 0, 0); errno != 0 {
			childFailed(p, errno, stepLimit)
		}
	}
	if _, _, errno = syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0); errno != 0 {
		childFailed(p, errno, stepSession)
	}
	for sig := uintptr(1); sig <= 64; sig++ { // what is ignored would stay so
		_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&p.action)), 0, 8, 0, 0)
	}
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&p.mask)), 0, 8, 0, 0)
	_, _, errno = syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(p.path)), uintptr(unsafe.Pointer(p.argv)), uintptr(unsafe.Pointer(p.envv)))
	childFailed(p, errno, stepExec)
	return 0, 0
}

//go:norace
//go:nosplit
func childFailed(p *forkPlan, errno syscall.Errno, step uint32) {
	p.failed[0], p.failed[1] = uint32(errno), step
	_, _, _ = syscall.RawSyscall(unix.SYS_WRITE, uintptr(p.pipe[1]), uintptr(unsafe.Pointer(&p.failed)), 8)
	for {
		_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 127, 0, 0)
	}
}
