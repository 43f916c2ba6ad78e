package host

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// side is the shim's side, in a process that does nothing else.
type side struct {
	job    *os.File
	report *os.File
}

// quit ends a shim at once. os.Exit would first wait a second for the race
// detector, where there is one.
func quit(code int) { syscall.Exit(code) }

// startedAsShim tells whether this process is to be a shim. If it is and comes
// to open a sandbox, its main forgot Main, and it must not start the next one.
func startedAsShim() bool { return len(os.Args) == 2 && os.Args[1] == shimWord }

// enterShim tells whether this process was started as a shim. If so, the
// calling goroutine is bound to its thread: what the thread is confined to,
// the program will be.
func enterShim() (*side, bool) {
	if !startedAsShim() {
		return nil, false
	}
	runtime.LockOSThread()
	return &side{job: os.NewFile(jobFD, "job"), report: os.NewFile(reportFD, "report")}, true
}

// read reads the job.
func (s *side) read(into any) error {
	var size [4]byte
	if _, err := io.ReadFull(s.job, size[:]); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > maxJob {
		return fmt.Errorf("reading the job: %d bytes are too many", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(s.job, text); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	return nil
}

// raw is text that goes through JSON unharmed: the arguments and paths of a
// program are bytes and need not be UTF-8.
type raw []byte

// raws turns strings into raw.
func raws(list []string) []raw {
	out := make([]raw, len(list))
	for i, s := range list {
		out[i] = raw(s)
	}
	return out
}

// texts turns them back.
func texts(list []raw) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = string(r)
	}
	return out
}

// fail reports that a step failed and ends the shim.
func (s *side) fail(step string, err error) {
	r := report{Step: step, Error: err.Error()}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		r.Errno = int(errno)
	}
	s.tell(r)
	quit(125)
}

func (s *side) tell(r report) {
	text, err := json.Marshal(r)
	if err == nil {
		_, err = s.report.Write(text)
	}
	if err != nil {
		quit(125) // there is nobody to tell
	}
}

// deaf makes the shim ignore what the program might send it; forkExec resets
// what a program would otherwise inherit. It goes past os/signal, which takes
// milliseconds to ignore everything.
func (s *side) deaf() {
	ignore := [8]uint64{1} // a struct sigaction of SIG_IGN
	for sig := unix.Signal(1); sig <= 64; sig++ {
		switch sig {
		case unix.SIGKILL, unix.SIGSTOP, unix.SIGCHLD, unix.SIGURG, unix.SIGSEGV, unix.SIGBUS, unix.SIGFPE, unix.SIGILL, unix.SIGTRAP, 32, 33, 34:
			continue // not ours to ignore, or needed by the runtime and by a C library to reach all threads
		}
		_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&ignore)), 0, 8, 0, 0)
	}
}

// onOrphaned calls f once when the other side has let go of the lifeline: the
// time is over, or it died.
func (s *side) onOrphaned(f func()) {
	go func() {
		runtime.LockOSThread()
		var b [1]byte
		for {
			n, err := unix.Read(int(s.job.Fd()), b[:])
			if errors.Is(err, unix.EINTR) || n > 0 {
				continue
			}
			f()
			return
		}
	}()
}

// clamp lowers limits that lie above the hard limits we stand under already:
// those cannot be raised, and need not be.
func clamp(limits []rlimit) ([]rlimit, error) {
	out := make([]rlimit, 0, len(limits))
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Prlimit(0, l.Resource, nil, &now); err != nil {
			return nil, fmt.Errorf("reading a limit: %w", err)
		}
		l.Value = min(l.Value, now.Max)
		out = append(out, l)
	}
	return out, nil
}

// finish waits for the program and for everything that falls to the shim as
// its parent, reports how the program ended, and ends the shim. ended is
// called when the program itself is gone, before what it left behind is waited
// for.
func (s *side) finish(program int, late func() bool, ended func()) {
	var status *int
	for {
		pid, ws, err := waitAny()
		switch {
		case errors.Is(err, unix.ECHILD) && status != nil:
			s.tell(report{Status: status, Late: late()})
			quit(0)
		case err != nil:
			s.fail("waiting for the program", err)
		case pid == program:
			status = &ws
			ended()
		}
	}
}

func waitAny() (pid, status int, err error) {
	for {
		var ws unix.WaitStatus
		pid, err = unix.Wait4(-1, &ws, 0, nil)
		if !errors.Is(err, unix.EINTR) {
			return pid, int(ws), err
		}
	}
}
