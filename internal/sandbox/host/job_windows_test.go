package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/toolcrib/toolcrib"
)

// A program that was started through a .cmd is ended with it.
func TestCommandFileLeavesNoOrphans(t *testing.T) {
	dir := t.TempDir()
	if os.Getenv("HOST_TEST_CHILD") != "" {
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file, said := filepath.Join(dir, "server.cmd"), filepath.Join(dir, "pid")
	if err := os.WriteFile(file, []byte("@echo off\r\n\""+self+"\" -test.run=TestSleepingChild\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	env := append(os.Environ(), "HOST_TEST_CHILD="+said)
	exit, err := open(t, Config{}).Run(t.Context(), toolcrib.Cmd{Path: file, Dir: dir, Env: env, Stdout: &out, Stderr: &out}, toolcrib.Grant{Time: 15 * time.Second})
	if err != nil || !exit.TimedOut {
		t.Fatalf("%+v, %v: %s", exit, err, out.String())
	}
	text, err := os.ReadFile(said)
	if err != nil {
		t.Fatal("the child never ran: ", err, out.String())
	}
	pid, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); running(uint32(pid)); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the child outlives its command file")
		}
	}
}

func running(pid uint32) bool {
	p, err := windows.OpenProcess(windows.SYNCHRONIZE, false, pid)
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(p) }()
	state, err := windows.WaitForSingleObject(p, 0)
	return err == nil && state == uint32(windows.WAIT_TIMEOUT)
}

// TestSleepingChild is that program.
func TestSleepingChild(t *testing.T) {
	if said := os.Getenv("HOST_TEST_CHILD"); said != "" {
		if err := os.WriteFile(said, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // it is ended before
	}
}
