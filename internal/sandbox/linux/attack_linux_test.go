//go:build amd64 || arm64

package linux

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
)

// sh runs a script and gives all it said.
func sh(t *testing.T, s *Sandbox, grant toolcrib.Grant, script string) (string, toolcrib.Exit) {
	t.Helper()
	var out bytes.Buffer
	if grant.Time == 0 {
		grant.Time = 20 * time.Second
	}
	exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out, Stderr: &out}, grant)
	if err != nil {
		t.Fatalf("%s: %v (%v)", script, err, errors.Unwrap(err))
	}
	return out.String(), exit
}

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestGrants(t *testing.T) {
	s := open(t, Config{})
	root := t.TempDir()
	a := mkdir(t, root, "a")
	inner := mkdir(t, a, "inner")
	other := mkdir(t, root, "with blank\tand\nmore")
	link := filepath.Join(root, "link")
	if err := os.Symlink(a, link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		dirs  []files.Dir
		dir   string
		code  toolcrib.Code
		holds string // a script that must succeed
	}{
		{name: "read-only within writable", dirs: []files.Dir{{Path: a, Write: true}, {Path: inner}}, holds: "touch x && ! touch inner/x 2>/dev/null && ls inner"},
		{name: "writable within read-only", dirs: []files.Dir{{Path: inner, Write: true}, {Path: a}}, dir: inner, holds: "touch x && ! touch ../x2 2>/dev/null && ls .."},
		{name: "an odd name", dirs: []files.Dir{{Path: other, Write: true}}, holds: "touch x"},
		{name: "no directory", holds: "[ \"$(pwd)\" = / ] && touch /tmp/x && ! touch /x 2>/dev/null"},
		{name: "over a link", dirs: []files.Dir{{Path: link, Write: true}}, code: toolcrib.CodeDenied},
		{name: "through a link", dirs: []files.Dir{{Path: link + "/inner", Write: true}}, code: toolcrib.CodeDenied},
		{name: "a file", dirs: []files.Dir{{Path: file}}, code: toolcrib.CodeUnavailable},
		{name: "missing", dirs: []files.Dir{{Path: root + "/missing"}}, code: toolcrib.CodeUnavailable},
		{name: "everything", dirs: []files.Dir{{Path: "/", Write: true}}, code: toolcrib.CodeDenied},
		{name: "/proc", dirs: []files.Dir{{Path: "/proc"}}, code: toolcrib.CodeDenied},
		{name: "below /proc", dirs: []files.Dir{{Path: "/proc/1/root"}}, code: toolcrib.CodeDenied},
		{name: "/dev", dirs: []files.Dir{{Path: "/dev"}}, code: toolcrib.CodeDenied},
		{name: "/sys", dirs: []files.Dir{{Path: "/sys/kernel"}}, code: toolcrib.CodeDenied},
		{name: "working elsewhere", dirs: []files.Dir{{Path: inner}}, dir: root, code: ""}, // the parent is there, and empty but for the grant
		{name: "working where nothing is", dirs: []files.Dir{{Path: inner}}, dir: root + "/file", code: toolcrib.CodeDenied},
		{name: "working in a home", dir: "/home", code: toolcrib.CodeDenied},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if c.holds == "" {
				c.holds = ":"
			}
			cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", c.holds}, Dir: c.dir, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out, Stderr: &out}
			exit, err := s.Run(t.Context(), cmd, toolcrib.Grant{Dirs: c.dirs, Time: 20 * time.Second})
			if toolcrib.CodeOf(err) != c.code || err == nil && exit.Code != 0 {
				t.Errorf("ended with %+v, error %v; want %q\n%s", exit, err, c.code, out.String())
			}
		})
	}
}

// A link that a program planted in its directory does not lead a later grant
// astray.
func TestPlantedLink(t *testing.T) {
	s := open(t, Config{})
	root := t.TempDir()
	work, victim := mkdir(t, root, "work"), mkdir(t, root, "victim")
	sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: work, Write: true}}}, "ln -s "+victim+" "+work+"/sub")
	_, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "touch x"}}, toolcrib.Grant{Dirs: []files.Dir{{Path: work + "/sub", Write: true}}})
	if toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("the planted link was followed: %v", err)
	}
	// The same, nested in a directory that is granted too.
	_, err = s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "touch x"}}, toolcrib.Grant{Dirs: []files.Dir{{Path: work, Write: true}, {Path: work + "/sub", Write: true}}})
	if toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("the planted link was followed in a nested grant: %v", err)
	}
	if left, err := os.ReadDir(victim); err != nil || len(left) > 0 {
		t.Errorf("the victim has %v, error %v", left, err)
	}
}

// What is mounted below a read-only directory is read-only as well.
func TestMountBelowGrant(t *testing.T) {
	if os.Getuid() != 0 {
		return // only root can mount something there
	}
	s := open(t, Config{})
	dir := t.TempDir()
	below := mkdir(t, dir, "below")
	if err := unix.Mount("tmpfs", below, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(below, unix.MNT_DETACH) })
	out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: dir}}}, "ls below && ! touch below/x")
	if exit.Code != 0 {
		t.Errorf("a mount below a read-only grant could be written: %s", out)
	}
	if left, err := os.ReadDir(below); err != nil || len(left) > 0 {
		t.Errorf("it has %v, error %v", left, err)
	}
}

// TestStatus: what the kernel says a program stands under.
func TestStatus(t *testing.T) {
	out, exit := sh(t, open(t, Config{}), toolcrib.Grant{}, "cat /proc/self/status")
	if exit.Code != 0 {
		t.Fatalf("%+v\n%s", exit, out)
	}
	const none = "0000000000000000"
	for field, want := range map[string]string{
		"NoNewPrivs": "1", "Seccomp": "2", "CapInh": none, "CapPrm": none, "CapEff": none, "CapBnd": none, "CapAmb": none, "SigIgn": none, "SigBlk": none,
	} {
		if !strings.Contains(out, field+":\t"+want+"\n") {
			t.Errorf("%s is not %s:\n%s", field, want, out)
		}
	}
}

// TestCalls makes the system calls that the filter is there for.
func TestCalls(t *testing.T) {
	s := open(t, Config{})
	attacker := cribtest.SandboxAttacker(t)
	for _, hosts := range [][]string{nil, {"*"}} {
		var out bytes.Buffer
		grant := toolcrib.Grant{Dirs: []files.Dir{{Path: filepath.Dir(attacker)}}, Hosts: hosts, Time: 20 * time.Second}
		exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: attacker, Args: []string{"calls"}, Stdout: &out, Stderr: &out}, grant)
		if err != nil || exit.Code != 0 {
			t.Fatalf("%+v, error %v\n%s", exit, err, out.String())
		}
		want := map[string]unix.Errno{
			"unshare": unix.EPERM, "mount": unix.EPERM, "keyctl": unix.EPERM, "add_key": unix.EPERM, "bpf": unix.EPERM, "userfaultfd": unix.EPERM,
			"io_uring_setup": unix.ENOSYS, "open_tree": unix.EPERM, "fsopen": unix.EPERM, "clone3": unix.ENOSYS, "mount_setattr": unix.EPERM, "perf_event_open": unix.EPERM,
			"snapshot": unix.EPERM, "subvolume": unix.EPERM, "bcachefs snapshot": unix.EPERM, "reflink": unix.EBADF, "reflink of a part": unix.EBADF, "terminal": unix.EBADF,
			"lease": unix.EPERM, "delegation": unix.EPERM, "fcntl": 0, "personality": unix.EPERM, "vsock": unix.EAFNOSUPPORT, "alg": unix.EAFNOSUPPORT, "netfilter": unix.EPROTONOSUPPORT, "bluetooth": unix.EAFNOSUPPORT,
			"high bits": unix.EAFNOSUPPORT, "x32": unix.ENOSYS,
		}
		for line := range strings.Lines(out.String()) {
			rest, ok := strings.CutPrefix(strings.TrimSpace(line), "call ")
			if !ok {
				continue
			}
			i := strings.LastIndex(rest, " ")
			name := rest[:i]
			errno, err := strconv.Atoi(rest[i+1:])
			if err != nil || unix.Errno(errno) != want[name] {
				t.Errorf("hosts %q: %s gave %v, want %v", hosts, name, unix.Errno(errno), want[name])
			}
			delete(want, name)
		}
		if len(want) > 0 {
			t.Errorf("not tried: %v", want)
		}
	}
}

// TestInheritsNothing: what whoever started us left open reaches no program,
// whether something is covered there or not.
func TestInheritsNothing(t *testing.T) {
	const inside = "TOOLCRIB_TEST_INHERITS"
	if os.Getenv(inside) == "" {
		open(t, Config{}) // or there is nothing to try, and a copy that forgets Main would start itself again and again
		file, err := os.Create(filepath.Join(t.TempDir(), "left-open"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		again := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestInheritsNothing$", "-test.v")
		again.Env = append(os.Environ(), inside+"=yes")
		for range 20 { // from 3 on, whatever we need ourselves
			again.ExtraFiles = append(again.ExtraFiles, file)
		}
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	s := open(t, Config{Shield: obeyedShield(t)})
	root := t.TempDir()
	for _, dirs := range [][]files.Dir{nil, {{Path: root}}, {{Path: root, Write: true}}} {
		out, exit := sh(t, s, toolcrib.Grant{Dirs: dirs}, "ls -l /proc/self/fd")
		if exit.Code != 0 || strings.Contains(out, "left-open") {
			t.Errorf("%v: %+v\n%s", dirs, exit, out)
		}
	}
}

// TestOtherArchitecture: a 32-bit program has other numbers for its calls, and
// no way around the filter by them.
func TestOtherArchitecture(t *testing.T) {
	if here().audit != unix.AUDIT_ARCH_X86_64 {
		return
	}
	s := open(t, Config{})
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() { println(\"it runs\") }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "small", "main.go")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOARCH=386", "CGO_ENABLED=0", "GO111MODULE=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	outside, err := exec.CommandContext(t.Context(), filepath.Join(dir, "small")).CombinedOutput()
	if err != nil || !strings.Contains(string(outside), "it runs") {
		t.Logf("this kernel runs no 32-bit programs: %v", err)
	}
	out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: dir}}}, "./small")
	if exit.Code == 0 || strings.Contains(out, "it runs") {
		t.Errorf("a 32-bit program ran past the filter: %+v %s", exit, out)
	}
}

// TestNetworkGranted: all of the network is all of it, but sockets that are
// not network are not in it.
func TestNetworkGranted(t *testing.T) {
	s := open(t, Config{})
	attacker := cribtest.SandboxAttacker(t)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	abstract, err := net.Listen("unix", "@toolcrib-test-"+strconv.Itoa(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	named, err := net.Listen("unix", filepath.Join(t.TempDir(), "s.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	var out bytes.Buffer
	cmd := toolcrib.Cmd{Path: attacker, Args: []string{"dial", "tcp", tcp.Addr().String(), "unix", abstract.Addr().String(), "unix", named.Addr().String()}, Stdout: &out}
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: filepath.Dir(attacker)}}, Hosts: []string{"*"}, Time: 20 * time.Second, Bounds: s.Enforces()}
	if exit, err := s.Run(t.Context(), cmd, grant); err != nil || exit.Code != 0 {
		t.Fatalf("%+v, error %v", exit, err)
	}
	text := out.String()
	if !strings.Contains(text, "did dial tcp") || strings.Contains(text, "did dial unix") || strings.Count(text, "refused dial unix") != 2 {
		t.Errorf("with the network granted:\n%s", text)
	}
}

// Inside there is a loopback of its own.
func TestOwnLoopback(t *testing.T) {
	s := open(t, Config{})
	out, exit := sh(t, s, toolcrib.Grant{}, "exec 2>&1; hostname; id -un; bash -c 'echo x >/dev/tcp/127.0.0.1/9' | head -1")
	if exit.Code != 0 || !strings.HasPrefix(out, "sandbox\n") || !strings.Contains(out, "Connection refused") && !strings.Contains(out, "not found") {
		t.Errorf("%+v\n%s", exit, out)
	}
}
