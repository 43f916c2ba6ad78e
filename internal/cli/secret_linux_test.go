package cli

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// household is a home with a vault key, in which the program is run.
type household struct {
	dir string
	env []string
}

func newHousehold(t *testing.T, more ...string) household {
	t.Helper()
	dir := t.TempDir()
	return household{dir, append([]string{
		"TOOLCRIB_HOME=" + dir, "HOME=" + dir, "PATH=" + os.Getenv("PATH"), "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent/bus", "GORACE=" + os.Getenv("GORACE"),
	}, more...)}
}

func vaultKey(t *testing.T) string {
	t.Helper()
	key, err := vault.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (h household) command(t *testing.T, stdin string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "toolcrib", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = h.dir, h.env, strings.NewReader(stdin)
	return cmd
}

// run gives what the program prints, and fails the test if it fails.
func (h household) run(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var errs bytes.Buffer
	cmd := h.command(t, stdin, args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("toolcrib %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}

// TestSecretSetKilled ends 'secret set' at any moment: afterwards the secret has
// the old value or the new one, and its neighbour its own.
func TestSecretSetKilled(t *testing.T) {
	key := vaultKey(t)
	h := newHousehold(t, "TOOLCRIB_VAULT_KEY="+key)
	get := func(name string) string {
		v, err := vault.Open(vault.Config{Dir: filepath.Join(h.dir, "state", "vault")}, vault.FromEnv("KEY", func(string) (string, bool) { return key, true }))
		if err != nil {
			t.Fatal(err)
		}
		value, err := v.Get(t.Context(), vault.Ref{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	value := func(i int) string { return strings.Repeat(fmt.Sprintf("%04d", i), 20_000) } // large enough to be cut
	h.run(t, "stays", "secret", "set", "OTHER")
	began := time.Now()
	h.run(t, value(0), "secret", "set", "A")
	takes := min(time.Since(began), 200*time.Millisecond)
	rounds := 30
	if testing.Short() {
		rounds = 10
	}
	last, made := 0, 0
	for i := 1; i <= rounds; i++ {
		cmd := h.command(t, value(i), "secret", "set", "A")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(takes/2 + rand.N(takes))
		killed := cmd.Process.Kill() == nil
		err := cmd.Wait()
		if err != nil && !killed {
			t.Fatal(err)
		}
		switch got := get("A"); {
		case got == value(i):
			last = i
			made++
		case err == nil:
			t.Fatalf("round %d was done and is not there", i)
		case got != value(last):
			t.Fatalf("round %d: the secret has %d bytes that begin %.8q", i, len(got), got)
		}
	}
	if got := get("OTHER"); got != "stays" {
		t.Errorf("the neighbour is %q", got)
	}
	t.Logf("%d kills, %d of the changes were made", rounds, made)
	entries, err := os.ReadDir(filepath.Join(h.dir, "state", "vault"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

// TestSecretInNoProcess looks at every process of the machine while a value is
// being set: its command line, and its variables where they can be read.
func TestSecretInNoProcess(t *testing.T) {
	const treasure = "xyzzy-plugh-4711"
	looked := filepath.Join(t.TempDir(), "looked")
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(vaultKey(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	// The program that has the key waits until this test has looked around.
	keeper := filepath.Join(t.TempDir(), "keeper")
	script := fmt.Sprintf("#!/bin/sh\ntouch %s\nwhile [ -e %s ]; do sleep 0.02; done\ncat %s\n", looked, looked, key)
	cribtest.Program(t, keeper, []byte(script))
	// The store is there, so that its key is asked for.
	h := newHousehold(t, "TOOLCRIB_VAULT_KEY_FROM=command", "TOOLCRIB_VAULT_KEY_COMMAND=cat,"+key)
	h.run(t, "first", "secret", "set", "A")
	h.env = append(h.env, "TOOLCRIB_VAULT_KEY_COMMAND="+keeper)
	for _, args := range [][]string{{"set", "A"}, {"get", "A", "--reveal"}} {
		cmd := h.command(t, treasure, append([]string{"secret"}, args...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool { _, err := os.Stat(looked); return err == nil })
		seen, self := 0, false
		dirs, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			for _, file := range []string{"cmdline", "environ"} {
				text, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil {
					continue // it ended, or is another's
				}
				seen++
				self = self || dir == "/proc/"+strconv.Itoa(cmd.Process.Pid)
				if bytes.Contains(text, []byte(treasure)) {
					t.Errorf("%v: the value is in %s/%s", args, dir, file)
				}
			}
		}
		if !self || seen < 4 {
			t.Errorf("%v: only %d files were looked at", args, seen)
		}
		if err := os.Remove(looked); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	h.env = append(h.env, "TOOLCRIB_VAULT_KEY_COMMAND=cat,"+key)
	if got := h.run(t, "", "secret", "get", "A", "--reveal"); got != treasure {
		t.Errorf("the value is %q", got)
	}
}

// TestKeyReachesNoProgram: whatever the program starts, the variable with the
// key is not passed on. The stand-ins write down what they get.
func TestKeyReachesNoProgram(t *testing.T) {
	bin, seen := t.TempDir(), t.TempDir()
	for _, name := range []string{"docker", "dbus-launch", "keeper"} {
		script := fmt.Sprintf("#!/bin/sh\nexport -p > %s/%s.$$\nexit 1\n", seen, name)
		cribtest.Program(t, filepath.Join(bin, name), []byte(script))
	}
	key, mine := vaultKey(t), vaultKey(t)
	h := newHousehold(t, "TOOLCRIB_VAULT_KEY="+key, "TOOLCRIB_VAULT_KEY_NEW="+key, "MY_KEY="+mine, "MY_KEY_NEW="+mine, "PLAIN=plain", "DBUS_SESSION_BUS_ADDRESS=")
	h.env = append(h.env, "PATH="+bin+":"+os.Getenv("PATH"))
	const own = "vault.key.env=MY_KEY"
	for _, args := range [][]string{
		{"sandbox", "probe", "--set", own, "--set", "sandbox.container.engine=docker", "--set", "sandbox.container.image=x"},
		{"secret", "set", "A", "--set", own, "--set", "vault.key.from=keyring"},
		{"secret", "set", "A", "--set", own, "--set", "vault.key.from=command", "--set", "vault.key.command=keeper"},
	} {
		if out, err := h.command(t, "value", args...).CombinedOutput(); err != nil && len(out) == 0 {
			t.Fatalf("%v: %v", args, err)
		}
	}
	for _, name := range []string{"docker", "dbus-launch", "keeper"} {
		files, err := filepath.Glob(filepath.Join(seen, name+".*"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s was not started (%v), so nothing is shown", name, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || !bytes.Contains(text, []byte("PLAIN")) {
				t.Errorf("%s: the variables were not written down: %v", name, err)
			}
			if bytes.Contains(text, []byte(key)) || bytes.Contains(text, []byte(mine)) {
				t.Errorf("%s got a key", name)
			}
		}
	}
}

// until waits for something that has to come.
func until(t *testing.T, there func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come")
		}
	}
}

// screen is a terminal that a program runs at.
type screen struct {
	master *os.File
	mu     sync.Mutex
	shown  bytes.Buffer
	ended  chan struct{}
}

func ioctl(t *testing.T, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg)); errno != 0 {
		t.Fatal(errno)
	}
}

// atScreen starts a command at a new terminal. What has no stream of its own
// gets that one.
func atScreen(t *testing.T, cmd *exec.Cmd) *screen {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var unlocked, number int32
	ioctl(t, master, syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	ioctl(t, master, syscall.TIOCGPTN, unsafe.Pointer(&number))
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if cmd.Stdin == nil {
		cmd.Stdin = slave
	}
	cmd.Stdout, cmd.Stderr = slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := slave.Close(); err != nil {
		t.Fatal(err)
	}
	s := &screen{master: master, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			s.mu.Lock()
			s.shown.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return // nobody has the other end any more
			}
		}
	}()
	t.Cleanup(func() { _ = master.Close() })
	return s
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

func (s *screen) echoes(t *testing.T) bool {
	t.Helper()
	var mode syscall.Termios
	ioctl(t, s.master, syscall.TCGETS, unsafe.Pointer(&mode))
	return mode.Lflag&syscall.ECHO != 0
}

// answer types a line once the question is there for the nth time and typing
// is not shown any more.
func (s *screen) answer(t *testing.T, question string, nth int, line string) {
	t.Helper()
	until(t, func() bool { return strings.Count(s.text(), question) >= nth && !s.echoes(t) })
	if _, err := io.WriteString(s.master, line); err != nil {
		t.Fatal(err)
	}
}

func (s *screen) wait(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	_ = cmd.Wait() // the status says it
	<-s.ended
	return cmd.ProcessState.ExitCode()
}

// TestSecretIsTypedUnseen: the value is asked for at the terminal and does not
// appear there; whoever interrupts gets a terminal back that shows what is typed.
func TestSecretIsTypedUnseen(t *testing.T) {
	const treasure = "xyzzy-plugh-4711"
	h := newHousehold(t, "TOOLCRIB_VAULT_KEY="+vaultKey(t))
	cmd := h.command(t, "", "secret", "set", "A")
	cmd.Stdin = nil
	s := atScreen(t, cmd)
	s.answer(t, "Value of A, which is not shown: ", 1, treasure+"\r")
	if status := s.wait(t, cmd); status != 0 || !strings.Contains(s.text(), "kept A") || strings.Contains(s.text(), treasure) {
		t.Errorf("status %d: %q", status, s.text())
	}
	if got := h.run(t, "", "secret", "get", "A", "--reveal"); got != treasure {
		t.Errorf("kept %q", got)
	}

	cmd = h.command(t, "", "secret", "set", "A")
	cmd.Stdin = nil
	s = atScreen(t, cmd)
	if !s.echoes(t) {
		t.Fatal("the terminal shows nothing from the start")
	}
	s.answer(t, "not shown: ", 1, "half\x03")
	until(t, func() bool { return s.echoes(t) })
	if status := s.wait(t, cmd); status != 6 {
		t.Errorf("status %d: %q", status, s.text())
	}
	if got := h.run(t, "", "secret", "get", "A", "--reveal"); got != treasure {
		t.Errorf("after an interrupt it is %q", got)
	}
}

// TestPassphraseIsTypedUnseen: it is asked for at the terminal even if the value
// comes from a pipe.
func TestPassphraseIsTypedUnseen(t *testing.T) {
	const phrase = "correct horse battery staple"
	h := newHousehold(t, "TOOLCRIB_VAULT_KEY_FROM=passphrase")
	for _, c := range []struct{ first, second, says string }{
		{phrase, "something else", "not the same"},
		{"horse", "horse", "take 12 or more"}, // it got as far as the vault
	} {
		cmd := h.command(t, "value", "secret", "set", "A")
		s := atScreen(t, cmd)
		s.answer(t, "New passphrase for the vault: ", 1, c.first+"\r")
		s.answer(t, "once more: ", 1, c.second+"\r")
		if status := s.wait(t, cmd); status != 7 || !strings.Contains(s.text(), c.says) || strings.Contains(s.text(), "horse") {
			t.Errorf("status %d: %q", status, s.text())
		}
	}

	// A store whose passphrase costs little.
	text, err := os.ReadFile("../vault/testdata/v1-passphrase.b64")
	if err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(h.dir, "state", "vault", "secrets")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		phrase, value string
		status        int
	}{{"a wrong one of some length", "nobody's", 7}, {phrase, "xyzzy-plugh-4711", 0}} {
		cmd := h.command(t, c.value, "secret", "set", "B")
		s := atScreen(t, cmd)
		s.answer(t, "Passphrase of the vault: ", 1, c.phrase+"\r")
		if status := s.wait(t, cmd); status != c.status || strings.Contains(s.text(), c.phrase) || strings.Contains(s.text(), c.value) {
			t.Errorf("status %d: %q", status, s.text())
		}
		if now, err := os.ReadFile(file); err != nil || bytes.Equal(now, data) != (c.status != 0) {
			t.Errorf("the store was changed: %v, %v", !bytes.Equal(now, data), err)
		}
	}
	cmd := h.command(t, "", "secret", "get", "B", "--reveal")
	s := atScreen(t, cmd)
	s.answer(t, "Passphrase of the vault: ", 1, phrase+"\r")
	if status := s.wait(t, cmd); status != 0 || !strings.Contains(s.text(), "xyzzy-plugh-4711") || strings.Contains(s.text(), "horse") {
		t.Errorf("status %d: %q", status, s.text())
	}
	cmd = h.command(t, "", "secret", "list")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no terminal to ask") {
		t.Errorf("without a terminal: %v, %s", err, out)
	}
}
