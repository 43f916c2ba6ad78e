package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// The programs that the tests run are this test program in another role, so
// that nothing has to be installed.
const (
	roleVar = "TOOLCRIB_TEST_ROLE"
	addrVar = "TOOLCRIB_TEST_ADDR"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		if err := play(role, os.Getenv(addrVar)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func play(role, addr string) error {
	switch role {
	case "environ":
		for _, e := range os.Environ() {
			fmt.Println(e)
		}
		return nil
	case "exit":
		os.Exit(3)
	case "wait": // is there as long as the connection is
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		fmt.Println("here")
		_, err = conn.Read(make([]byte, 1))
		return err
	case "tree": // has a child that waits, and waits too
		child := self("wait", addr)
		return child.Run()
	case "escape": // has a child that leaves the group and the session
		child := self("wait", addr)
		leave(child)
		return child.Run()
	case "abandon": // leaves such a child behind
		child := self("wait", addr)
		leave(child)
		said, err := child.StdoutPipe()
		if err == nil {
			err = child.Start()
		}
		if err == nil {
			_, err = said.Read(make([]byte, 1))
		}
		return err
	case "host": // runs a program in the sandbox
		exe, err := os.Executable()
		if err != nil {
			return err
		}
		ctx := context.Background()
		_, err = Open(ctx).Run(ctx, toolcrib.Cmd{Path: exe, Env: roleEnv("escape", addr)}, toolcrib.Grant{Bounds: toolcrib.BoundTime})
		return err
	}
	return errors.New("unknown role " + role)
}

func roleEnv(role, addr string) []string { return []string{roleVar + "=" + role, addrVar + "=" + addr} }

func self(role, addr string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c := exec.Command(exe)
	c.Env = roleEnv(role, addr)
	return c
}

// watch listens for the process that waits.
type watch struct {
	t  *testing.T
	ln net.Listener
}

func newWatch(t *testing.T) watch {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return watch{t, ln}
}

func (w watch) addr() string { return w.ln.Addr().String() }

// met waits until the process is there.
func (w watch) met() net.Conn {
	w.t.Helper()
	if l, ok := w.ln.(*net.TCPListener); ok {
		if err := l.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			w.t.Fatal(err)
		}
	}
	conn, err := w.ln.Accept()
	if err != nil {
		w.t.Fatalf("the process never came: %v", err)
	}
	w.t.Cleanup(func() { conn.Close() }) // ends it if it is still there
	return conn
}

// gone fails the test if the process is still there after a while.
func (w watch) gone(conn net.Conn) {
	w.t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		w.t.Fatal(err)
	}
	_, err := conn.Read(make([]byte, 1))
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() || err == nil {
		w.t.Error("a process of the tree outlived it")
	} else if !errors.Is(err, io.EOF) {
		w.t.Logf("the connection ended with %v", err)
	}
}
