package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// named runs this test program under the name of one of its commands.
func named(t *testing.T, home, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Args[0] = name
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home, "TOOLCRIB_HOME="+filepath.Join(home, "crib"))
	return cmd
}

// withMark counts the processes that have a word in their arguments.
func withMark(t *testing.T, mark string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err == nil && bytes.Contains(text, []byte(mark)) && !strings.Contains(file, "/"+strconv.Itoa(os.Getpid())+"/") {
			found = append(found, file+": "+strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found
}

// TestKilledLeavesNoServer: a program that is killed takes its MCP servers with
// it, and all that these have started.
func TestKilledLeavesNoServer(t *testing.T) {
	home := t.TempDir()
	mark := fmt.Sprintf("mark-of-%d-%d", os.Getpid(), time.Now().UnixNano())
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(home, "fakemcp")
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	// Its shell starts another program that would outlive it.
	script := fmt.Sprintf(`(sleep 600; echo %s) & exec %q %s`, mark, link, mark)
	settings := fmt.Sprintf("serve:\n  listen: 127.0.0.1:0\nmcp_servers:\n  one:\n    command: /bin/sh\n    args: [\"-c\", %q]\n    start: eager\n    idle_timeout: 1h\n", script)
	if err := os.MkdirAll(filepath.Join(home, "crib"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "crib", "config.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		cmd := named(t, home, "toolcrib", "serve")
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(60 * time.Second)
		for len(withMark(t, mark)) < 2 {
			if time.Now().After(deadline) {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				t.Fatalf("the server was not started: %v\n%s", withMark(t, mark), said.String())
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		for len(withMark(t, mark)) > 0 {
			if time.Now().After(deadline) {
				t.Fatalf("left behind: %v", withMark(t, mark))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// manyServers makes a home with fifty servers that were listed once.
func manyServers(t testing.TB, named func(home, name string, args ...string) *exec.Cmd) (home, mark string) {
	t.Helper()
	home = t.TempDir()
	mark = fmt.Sprintf("many-of-%d-%d", os.Getpid(), time.Now().UnixNano())
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(home, "fakemcp")
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("hub:\n  wait: 2m\nmcp_servers:\n")
	for i := range 50 {
		fmt.Fprintf(&b, "  s%d:\n    command: %s\n    args: [%s]\n", i, link, mark)
	}
	if err := os.MkdirAll(filepath.Join(home, "crib"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "crib", "config.yaml"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	// Any call lists those that were never listed.
	if out, err := named(home, "toolcrib", "call", "get_current_datetime").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return home, mark
}

// TestFiftyServersAreListedFromTheCache: listing starts none of them.
func TestFiftyServersAreListedFromTheCache(t *testing.T) {
	run := func(home, name string, args ...string) *exec.Cmd { return named(t, home, name, args...) }
	home, mark := manyServers(t, run)
	if left := withMark(t, mark); len(left) > 0 {
		t.Fatalf("left behind: %v", left)
	}
	// With its own program gone, a server could not be started.
	if err := os.Remove(filepath.Join(home, "fakemcp")); err != nil {
		t.Fatal(err)
	}
	out, err := run(home, "toolcrib", "tools", "list").CombinedOutput()
	if n := strings.Count(string(out), "__echo"); err != nil || n != 50 {
		t.Errorf("%d tools are listed, %v\n%s", n, err, out)
	}
}

// BenchmarkToolsList50 is toolcrib tools list with fifty servers, from the
// start of the program to its end.
func BenchmarkToolsList50(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	run := func(home, name string, args ...string) *exec.Cmd {
		cmd := exec.Command(exe, args...)
		cmd.Args[0], cmd.Dir = name, home
		cmd.Env = append(os.Environ(), "HOME="+home, "TOOLCRIB_HOME="+filepath.Join(home, "crib"))
		return cmd
	}
	home, _ := manyServers(b, run)
	for b.Loop() {
		if out, err := run(home, "toolcrib", "tools", "list").CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}
