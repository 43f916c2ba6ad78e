//go:build amd64 || arm64

package linux

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The keeper is a process of ours that gives birth to the others. It is this
// executable, started once for a sandbox; it knows nothing but what it is sent
// over its socket, so what is forked from it holds no memory of ours. When its
// socket is closed it ends, and the kernel ends everything it gave birth to.
const keeperWord = "__toolcrib_linux"

// spaceWord is for a process that only lives as long as its input is open, so
// that there is a user namespace to hold on to.
const spaceWord = "__toolcrib_space"

// Main turns this process into a keeper if that is what it was started for,
// and then does not return.
func Main() {
	switch {
	case !startedByUs():
		return
	case os.Args[1] == spaceWord:
		_, _ = io.Copy(io.Discard, os.Stdin)
		quit(0)
	}
	// The first process of a namespace is to die with the thread that forked
	// it. This one lives as long as the process.
	runtime.LockOSThread()
	if err := keep(); !errors.Is(err, io.EOF) {
		quit(125)
	}
	quit(0)
}

// quit ends a process of ours at once. os.Exit would first wait a second for
// the race detector, where there is one.
func quit(code int) { syscall.Exit(code) }

// startedByUs tells whether this process was started to be one of ours. If it
// is and comes here again, its main did not call Main, and it must not start
// the next one of its kind.
func startedByUs() bool {
	return len(os.Args) == 2 && (os.Args[1] == keeperWord || os.Args[1] == spaceWord)
}

// keep is the life of a keeper.
func keep() error {
	self, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return err
	}
	k := &keeper{socket: keeperSocket, self: self, living: map[uint64]int{}}
	k.some = sync.NewCond(&k.mu)
	if err := k.tell(news{kind: newsHello, code: helloCode}); err != nil {
		return err
	}
	go k.bury()
	return k.serve()
}

const keeperSocket = 3

// The kinds of messages to the keeper.
const (
	askBirth = 1
	askKill  = 2
)

// order is a message to the keeper; a birth is followed by calls, data, fixes.
type order struct {
	kind               uint32
	setgroups          uint32 // allow the new process to leave its groups
	id                 uint64
	flags              uint64
	calls, data, fixes uint32
	files              uint32
	ids                [4]uint32 // uid inside and outside, gid inside and outside
}

// The kinds of news from the keeper.
const (
	newsBorn  = 1
	newsFail  = 2
	newsEnded = 3
	newsHello = 4 // the first of all

	helloCode = 0x70c21b // not what another program would say first
)

// news is a message of the keeper.
type news struct {
	kind uint32
	code uint32 // pid, or errno
	id   uint64
}

const (
	maxCalls = 1 << 17
	maxData  = 32 << 20
	maxFiles = 200
)

type keeper struct {
	socket int
	self   int // a pidfd of this process, by which children see it end

	mu     sync.Mutex
	some   *sync.Cond // there is a process to wait for
	living map[uint64]int
}

func bytesOf[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}

func (k *keeper) serve() error {
	for {
		o, files, err := k.receive()
		if err != nil {
			for _, fd := range files {
				_ = unix.Close(fd)
			}
			return err
		}
		switch o.kind {
		case askKill:
			k.kill(o.id)
		case askBirth:
			err := k.birth(o, files)
			for _, fd := range files {
				_ = unix.Close(fd)
			}
			if err != nil {
				return err
			}
		}
	}
}

// receive reads an order and the files that come with its first byte.
func (k *keeper) receive() (order, []int, error) {
	o := make([]order, 1)
	text := bytesOf(o)
	oob := make([]byte, unix.CmsgSpace(4*maxFiles))
	var files []int
	for got := 0; got < len(text); {
		n, oobn, _, _, err := unix.Recvmsg(k.socket, text[got:], oob, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return o[0], files, err
		}
		if n == 0 {
			return o[0], files, io.EOF
		}
		got += n
		messages, err := unix.ParseSocketControlMessage(oob[:oobn])
		if err != nil {
			return o[0], files, err
		}
		for _, m := range messages {
			fds, err := unix.ParseUnixRights(&m)
			if err != nil {
				return o[0], files, err
			}
			files = append(files, fds...)
		}
	}
	return o[0], files, nil
}

func (k *keeper) read(into []byte) error {
	for len(into) > 0 {
		n, err := unix.Read(k.socket, into)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		into = into[n:]
	}
	return nil
}

// birth reads a script and carries it out in a new process. An error means
// that the socket is of no use any more.
func (k *keeper) birth(o order, files []int) error {
	if o.calls > maxCalls || o.data > maxData || o.fixes > maxCalls || int(o.files) != len(files) || len(files) == 0 {
		return fmt.Errorf("an order that makes no sense: %+v with %d files", o, len(files))
	}
	b := &birth{calls: make([]call, o.calls), data: make([]byte, o.data), teller: files[0], keeper: k.self}
	fixes := make([]uint32, o.fixes)
	for _, into := range [][]byte{bytesOf(b.calls), b.data, bytesOf(fixes)} {
		if err := k.read(into); err != nil {
			return err
		}
	}
	if err := b.resolve(fixes, append(slices.Clip(files), k.self)); err != nil {
		return err
	}
	if err := unix.Pipe2(b.gate[:], unix.O_CLOEXEC); err != nil {
		_ = k.tell(news{kind: newsFail, code: uint32(unix.EMFILE), id: o.id})
		return nil
	}
	defer func() { _, _ = unix.Close(b.gate[0]), unix.Close(b.gate[1]) }()
	defer runtime.KeepAlive(b)
	// All under the lock: its end must not be told before its birth.
	k.mu.Lock()
	defer k.mu.Unlock()
	pid, errno := b.fork(uintptr(o.flags))
	// That nobody hears what is told shows in serve, after what was said last.
	if errno != 0 {
		_ = k.tell(news{kind: newsFail, code: uint32(errno), id: o.id})
		return nil
	}
	k.living[o.id] = int(pid)
	k.some.Signal()
	if errno := mapUsers(int(pid), o); errno != 0 {
		_ = unix.Kill(int(pid), unix.SIGKILL)
		_ = k.tell(news{kind: newsFail, code: uint32(errno), id: o.id})
		return nil
	}
	if k.tell(news{kind: newsBorn, code: uint32(pid), id: o.id}) != nil {
		_ = unix.Kill(int(pid), unix.SIGKILL)
		return nil
	}
	_, err := unix.Write(b.gate[1], []byte{1})
	return err
}

// resolve turns offsets into pointers and numbers of files into descriptors.
func (b *birth) resolve(fixes []uint32, files []int) error {
	for i := range b.all {
		b.all[i] = 0xff
	}
	if len(b.data) == 0 {
		return errors.New("a script without data")
	}
	address := func(offset uint64) (uint64, error) {
		if offset >= uint64(len(b.data)) {
			return 0, fmt.Errorf("an offset of %d in %d bytes", offset, len(b.data))
		}
		return uint64(uintptr(unsafe.Pointer(&b.data[offset]))), nil
	}
	for _, f := range fixes {
		if uint64(f)+8 > uint64(len(b.data)) {
			return fmt.Errorf("a pointer at %d in %d bytes", f, len(b.data))
		}
		pointer, err := address(binary.LittleEndian.Uint64(b.data[f:]))
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(b.data[f:], pointer)
	}
	for i := range b.calls {
		c := &b.calls[i]
		if c.keep >= maxSlots || uint64(c.store)+4 > uint64(len(b.data)) {
			return fmt.Errorf("call %d keeps its result nowhere", i)
		}
		for j, kind := range c.kinds {
			switch kind {
			case kindData:
				pointer, err := address(c.args[j])
				if err != nil {
					return err
				}
				c.args[j] = pointer
			case kindFile:
				if c.args[j] >= uint64(len(files)) {
					return fmt.Errorf("call %d wants file %d of %d", i, c.args[j], len(files))
				}
				c.args[j] = uint64(files[c.args[j]])
			case kindSlot:
				if c.args[j] >= maxSlots {
					return fmt.Errorf("call %d wants slot %d", i, c.args[j])
				}
			}
		}
	}
	return nil
}

// mapUsers says who the user of a new namespace is outside.
func mapUsers(pid int, o order) syscall.Errno {
	if o.flags&unix.CLONE_NEWUSER == 0 {
		return 0
	}
	dir := "/proc/" + strconv.Itoa(pid) + "/"
	line := func(inside, outside uint32) string {
		return strconv.FormatUint(uint64(inside), 10) + " " + strconv.FormatUint(uint64(outside), 10) + " 1\n"
	}
	files := [][2]string{{"gid_map", line(o.ids[2], o.ids[3])}, {"uid_map", line(o.ids[0], o.ids[1])}}
	if o.setgroups == 0 { // a plain user may map its group only if groups cannot be left
		files = append([][2]string{{"setgroups", "deny"}}, files...)
	}
	for _, f := range files {
		if err := write(dir+f[0], f[1]); err != nil {
			if errno, ok := errors.AsType[syscall.Errno](err); ok {
				return errno
			}
			return unix.EIO
		}
	}
	return 0
}

// kill ends a process that was not buried yet, and with it all of its
// namespace.
func (k *keeper) kill(id uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if pid, ok := k.living[id]; ok {
		_ = unix.Kill(pid, unix.SIGKILL) // it may have ended by itself
	}
}

// bury waits for the ends and tells of them. A process is let go only under
// the lock, so that its number cannot mean another one while kill uses it.
func (k *keeper) bury() {
	for {
		k.mu.Lock()
		for len(k.living) == 0 {
			k.some.Wait()
		}
		k.mu.Unlock()
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			quit(125)
		}
		k.mu.Lock()
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err != nil || pid <= 0 {
			k.mu.Unlock()
			continue
		}
		for id, p := range k.living {
			if p == pid {
				delete(k.living, id)
				_ = k.tell(news{kind: newsEnded, id: id}) // that nobody hears it shows in serve
			}
		}
		k.mu.Unlock()
	}
}

// tell writes whole messages: they are shorter than what a socket takes at once.
func (k *keeper) tell(n news) error {
	_, err := unix.Write(k.socket, bytesOf([]news{n}))
	return err
}
