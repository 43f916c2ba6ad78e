//go:build amd64 || arm64

package linux

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
)

// TestCoversOutliveTheProgram: a program sends its own view of the granted
// directory to another one and ends. What was covered in that view stays so.
func TestCoversOutliveTheProgram(t *testing.T) {
	root := tempProject(t)
	repository(t, root)
	put(t, root, map[string]string{".vscode/tasks.json": "{}", ".envrc": "true"})
	s := open(t, Config{Shield: obeyedShield(t)})
	attacker := cribtest.SandboxAttacker(t)
	inner := mkdir(t, root, "inner")
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}, {Path: inner}, {Path: filepath.Dir(attacker)}}, Time: 5 * time.Minute}
	socket := filepath.Join(root, "s")
	if len(socket) > 100 {
		t.Skip("the temporary directory has too long a name for a socket") // of 108 bytes
	}
	hostile := []string{".env", "sub/.env.local", "+.env", "+.git/hooks/post-commit", "+.git/config", "+.vscode", "+.vscode/tasks.json", "+.envrc", "+inner/x"}
	// Neither can make a socket that the other sees, so somebody outside does.
	var said bytes.Buffer
	if _, err := s.Run(t.Context(), toolcrib.Cmd{Path: attacker, Args: []string{"name", socket}, Dir: root, Stdout: &said}, grant); err != nil || !strings.Contains(said.String(), "refused listen") {
		t.Errorf("making a socket in a granted directory: %v\n%s", err, said.String())
	}
	input, stop, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	start := func(args []string, input io.Reader) *bufio.Scanner {
		output, out := io.Pipe()
		go func() {
			_, err := s.Run(t.Context(), toolcrib.Cmd{Path: attacker, Args: args, Dir: root, Stdin: input, Stdout: out}, grant)
			_ = out.Close()
			ended <- err
		}()
		lines := bufio.NewScanner(output)
		for lines.Scan() && lines.Text() != "waiting" {
		}
		return lines
	}
	lines := start(slices.Concat([]string{"take", socket, "file", "+file"}, hostile), input)
	gives := start([]string{"give", socket, root}, nil)
	passOn(t, socket)
	for gives.Scan() {
		if text := gives.Text(); strings.HasPrefix(text, "refused") {
			t.Errorf("giving: %s", text)
		}
	}
	if err := <-ended; err != nil { // the one that gives: the other waits for its input
		t.Fatal(err)
	}
	_ = stop.Close()
	var told []string
	for lines.Scan() {
		told = append(told, lines.Text())
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "+file"} {
		if !slices.Contains(told, "did "+name) {
			t.Errorf("%s was not done, so this shows nothing:\n%s", name, strings.Join(told, "\n"))
		}
	}
	for _, name := range hostile {
		if slices.Contains(told, "did "+name) {
			t.Errorf("%s was done by a descriptor of a program that has ended", name)
		}
	}
}

// passOn takes what one of two programs sends and gives it to the other.
func passOn(t *testing.T, socket string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if err := os.Chmod(socket, 0o777); err != nil {
		t.Fatal(err)
	}
	type message struct {
		from   int
		rights []byte
		err    error
	}
	var ends [2]*net.UnixConn
	messages := make(chan message, 2)
	for i := range ends {
		if ends[i], err = l.AcceptUnix(); err != nil {
			t.Fatal(err)
		}
		go func() {
			rights := make([]byte, syscall.CmsgSpace(4))
			_, n, _, _, err := ends[i].ReadMsgUnix(make([]byte, 1), rights)
			messages <- message{i, rights[:n], err}
		}()
	}
	m := <-messages
	if m.err != nil || len(m.rights) == 0 {
		t.Fatalf("nothing was sent: %v", m.err)
	}
	parsed, err := syscall.ParseSocketControlMessage(m.rights)
	if err != nil {
		t.Fatal(err)
	}
	fds, err := syscall.ParseUnixRights(&parsed[0])
	if err != nil {
		t.Fatal(err)
	}
	other := ends[1-m.from]
	if _, _, err := other.WriteMsgUnix([]byte("x"), syscall.UnixRights(fds...), nil); err != nil {
		t.Fatal(err)
	}
	<-messages // the other has it and closed
	_ = errors.Join(syscall.Close(fds[0]), other.Close(), ends[m.from].Close())
}
