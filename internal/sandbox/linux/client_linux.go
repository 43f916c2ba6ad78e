//go:build amd64 || arm64

package linux

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// nursery is our end of a keeper. It starts one when it is needed, and another
// one when that died.
type nursery struct {
	mu     sync.Mutex
	link   *keeperLink
	closed bool
}

// keeperLink is the connection to one keeper.
type keeperLink struct {
	process *exec.Cmd
	conn    *net.UnixConn
	send    sync.Mutex // one message at a time

	mu   sync.Mutex
	next uint64
	runs map[uint64]*child // until they have ended
	dead error
	gone chan struct{} // closed when the keeper has ended
}

// child is a process that was ordered.
type child struct {
	link  *keeperLink
	id    uint64
	born  chan bornNews // one message
	ended chan struct{}
	// lost, once it has ended: the keeper has, and nobody saw the last process of its
	// namespace end. It does so at any moment, if it has not.
	lost bool
}

type bornNews struct {
	pid int
	err error
}

var errKeeper = errors.New("the process that starts sandboxed programs has ended")

// connect gives a connection to a living keeper.
func (n *nursery) connect() (*keeperLink, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, errors.New("the sandbox was closed")
	}
	if n.link != nil && n.link.alive() {
		return n.link, nil
	}
	l, err := startKeeper()
	if err != nil {
		return nil, err
	}
	n.link = l
	return l, nil
}

// Close ends the keeper and what it gave birth to, and waits for it.
func (n *nursery) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.link == nil {
		n.closed = true
		return nil
	}
	n.closed = true
	_ = n.link.conn.Close()
	for range 2 {
		select {
		case <-n.link.gone:
			return nil
		case <-time.After(killGrace):
			_ = n.link.process.Process.Kill()
		}
	}
	return errors.New("the process that starts sandboxed programs cannot be ended")
}

func startKeeper() (*keeperLink, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "keeper"), os.NewFile(uintptr(pair[1]), "keeper")
	defer func() { _ = theirs.Close() }()
	conn, err := net.FileConn(ours)
	_ = ours.Close() // FileConn made a copy
	if err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	l := &keeperLink{conn: conn.(*net.UnixConn), runs: map[uint64]*child{}, gone: make(chan struct{})}
	l.process = &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{"toolcrib", keeperWord}, Dir: "/", ExtraFiles: []*os.File{theirs},
		// Little memory: it is copied, page table by page table, at each birth.
		Env:         []string{"GOMAXPROCS=1", "GOTRACEBACK=none", "GOGC=20"},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := l.process.Start(); err != nil {
		return nil, fmt.Errorf("starting a keeper: %w", errors.Join(err, conn.Close()))
	}
	_ = theirs.Close() // or its end would not show
	if err := l.greeted(); err != nil {
		_ = l.process.Process.Kill()
		return nil, sandbox.Unavailable("the linux sandbox cannot start its keeper, which is this program once more: its main, or the TestMain of a test, must call linux.Main first",
			errors.Join(err, conn.Close(), l.process.Wait()))
	}
	go l.listen()
	return l, nil
}

// greeting is how long a keeper may take to say that it is one. Any other
// program would never say it.
const greeting = 30 * time.Second

func (l *keeperLink) greeted() error {
	if err := l.conn.SetReadDeadline(time.Now().Add(greeting)); err != nil {
		return err
	}
	n := make([]news, 1)
	if _, err := io.ReadFull(l.conn, bytesOf(n)); err != nil {
		return fmt.Errorf("waiting for a keeper: %w", err)
	}
	if n[0] != (news{kind: newsHello, code: helloCode}) {
		return errors.New("what was started is not a keeper")
	}
	return l.conn.SetReadDeadline(time.Time{})
}

func (l *keeperLink) alive() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead == nil
}

// listen hands on the news until there are none any more.
func (l *keeperLink) listen() {
	for {
		n := make([]news, 1)
		if _, err := io.ReadFull(l.conn, bytesOf(n)); err != nil {
			break
		}
		l.mu.Lock()
		c := l.runs[n[0].id]
		if n[0].kind != newsBorn {
			delete(l.runs, n[0].id)
		}
		l.mu.Unlock()
		if c == nil {
			continue
		}
		switch n[0].kind {
		case newsBorn:
			c.born <- bornNews{pid: int(n[0].code)}
		case newsFail:
			c.born <- bornNews{err: syscall.Errno(n[0].code)}
		case newsEnded:
			close(c.ended)
		}
	}
	_ = l.conn.Close()
	_ = l.process.Wait()
	defer close(l.gone)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = errKeeper
	for id, c := range l.runs {
		delete(l.runs, id)
		select {
		case c.born <- bornNews{err: errKeeper}:
		default:
		}
		c.lost = true
		close(c.ended)
	}
}

// birth orders a process. The first file is where the report goes.
func (l *keeperLink) birth(who identity, flags uint64, s *script, files []*os.File) (*child, error) {
	if s.slots >= maxSlots || len(s.calls) > maxCalls || len(s.data) > maxData || len(files) > maxFiles {
		return nil, fmt.Errorf("too much for one program: %d calls, %d bytes, %d files", len(s.calls), len(s.data), len(files))
	}
	c := &child{link: l, born: make(chan bornNews, 2), ended: make(chan struct{})}
	l.mu.Lock()
	if l.dead != nil {
		l.mu.Unlock()
		return nil, l.dead
	}
	l.next++
	c.id = l.next
	l.runs[c.id] = c
	l.mu.Unlock()
	o := order{
		kind: askBirth, id: c.id, flags: flags, calls: uint32(len(s.calls)), data: uint32(len(s.data)), fixes: uint32(len(s.fixes)), files: uint32(len(files)),
		ids: [4]uint32{uint32(who.insideUID), uint32(who.outsideUID), uint32(who.insideGID), uint32(who.outsideGID)},
	}
	if who.root {
		o.setgroups = 1
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	err := l.write(o, unix.UnixRights(fds...), bytesOf(s.calls), s.data, bytesOf(s.fixes))
	if err != nil {
		_ = l.conn.Close() // half a message: nothing that follows could be understood
		return nil, fmt.Errorf("ordering a process: %w", errors.Join(err, errKeeper))
	}
	return c, nil
}

func (l *keeperLink) write(o order, oob []byte, parts ...[]byte) error {
	l.send.Lock()
	defer l.send.Unlock()
	head := bytesOf([]order{o})
	if n, _, err := l.conn.WriteMsgUnix(head, oob, nil); err != nil || n != len(head) {
		return errors.Join(err, fmt.Errorf("%d of %d bytes were sent", n, len(head)))
	}
	for _, p := range parts {
		if _, err := l.conn.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// kill ends a child and everything in its namespace; ended tells when.
func (c *child) kill() error { return c.link.write(order{kind: askKill, id: c.id}, nil) }

// report is what the first process of a namespace tells.
type report struct{ kind, first, second uint32 }

// reportPair is a socket on which reports come.
func reportPair() (ours, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("making a socket: %w", err)
	}
	err = unix.SetNonblock(pair[0], true) // so that others run while we wait
	return os.NewFile(uintptr(pair[0]), "report"), os.NewFile(uintptr(pair[1]), "report"), err
}

// receiveReport reads the next report, and the file that may come with it.
func receiveReport(from *os.File) (r report, file *os.File, err error) {
	conn, err := from.SyscallConn()
	if err != nil {
		return r, nil, err
	}
	text, oob := make([]byte, 16), make([]byte, unix.CmsgSpace(4))
	var n, oobn int
	var failed error
	err = conn.Read(func(fd uintptr) bool {
		n, oobn, _, _, failed = unix.Recvmsg(int(fd), text, oob, unix.MSG_CMSG_CLOEXEC)
		return !errors.Is(failed, unix.EAGAIN) && !errors.Is(failed, unix.EINTR)
	})
	if err := errors.Join(err, failed); err != nil {
		return r, nil, err
	}
	if messages, err := unix.ParseSocketControlMessage(oob[:oobn]); err == nil && len(messages) == 1 {
		if fds, err := unix.ParseUnixRights(&messages[0]); err == nil && len(fds) == 1 {
			file = os.NewFile(uintptr(fds[0]), "socket")
		}
	}
	if n != len(text) {
		return r, file, io.EOF
	}
	return report{binary.LittleEndian.Uint32(text), binary.LittleEndian.Uint32(text[4:]), binary.LittleEndian.Uint32(text[8:])}, file, nil
}
