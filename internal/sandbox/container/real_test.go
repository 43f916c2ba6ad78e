//go:build unix && engine

package container

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// TestRealEngine tries to break containers of a real engine; what is asked of
// one is tested without by TestCommandLine. "make engine" runs it:
// TOOLCRIB_TEST_ENGINE names the engine, TOOLCRIB_TEST_IMAGE the image, which
// needs a shell and little else (busybox will do). As root it runs
// itself once more as nobody, for whom the socket of the engine must be open:
// root's own directories are not written to from containers.
func TestRealEngine(t *testing.T) {
	engine, image := os.Getenv("TOOLCRIB_TEST_ENGINE"), os.Getenv("TOOLCRIB_TEST_IMAGE")
	if engine == "" {
		t.Fatal("TOOLCRIB_TEST_ENGINE names no container engine")
	}
	if os.Getuid() == 0 {
		asNobody(t, "^TestRealEngine$")
		return
	}
	cfg := Config{Engine: engine, Image: image, Limits: sandbox.Limits{MemoryBytes: cribtest.SandboxMemory, Processes: cribtest.SandboxProcesses, FileBytes: cribtest.SandboxFile}}
	first, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("suite", func(t *testing.T) {
		cribtest.Sandbox(t, func(testing.TB) toolcrib.Sandbox { return first })
	})
	t.Run("nothing is left", func(t *testing.T) {
		left, err := output(t.Context(), first.engine, "ps", "--all", "--quiet", "--filter=label="+labelKey+"="+first.label)
		if err != nil || strings.TrimSpace(left) != "" {
			t.Errorf("containers are left: %q, error %v", left, err)
		}
	})
	t.Run("sweep", func(t *testing.T) {
		dead := namePrefix + "999999999.1-1-dead"
		args := []string{"create", "--name=" + dead, "--label=" + labelKey + "=" + first.label, "--network=none", image, "/bin/sh"}
		if _, err := output(t.Context(), first.engine, args...); err != nil {
			t.Fatal(err)
		}
		if err := first.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := output(t.Context(), first.engine, "inspect", dead); err == nil {
			t.Error("the container of a dead process was not removed")
		}
	})
}

// TestRealEngineServer: a server is found by its name, has the variables of the image
// and runs what it has fetched, and no more than others.
func TestRealEngineServer(t *testing.T) {
	s, err := Open(t.Context(), Config{Engine: os.Getenv("TOOLCRIB_TEST_ENGINE"), Image: os.Getenv("TOOLCRIB_TEST_IMAGE"), Server: true})
	if err != nil {
		t.Fatal(err)
	}
	const script = `id -u; pwd; echo "$HOME"; echo "$KEY"; set | grep -c TOOLCRIB
cp /bin/sh /tmp/sh && /tmp/sh -c 'echo fetched runs'
(: >/made) 2>/dev/null || echo read-only
grep -v ' lo:\|lo:' /proc/net/dev | grep -c ':'
cat`
	var out, errs strings.Builder
	cmd := toolcrib.Cmd{Path: "sh", Args: []string{"-c", script}, Dir: "/tmp", Env: []string{"HOME=/tmp", "KEY=a\n--privileged"}, Stdin: strings.NewReader("said\n"), Stdout: &out, Stderr: &errs}
	exit, err := s.Run(t.Context(), cmd, toolcrib.Grant{})
	lines := strings.SplitN(out.String(), "\n", 2)
	if err != nil || exit.Code != 0 || lines[0] == "0" || len(lines) < 2 {
		t.Fatalf("%+v, %q, %q, error %v", exit, out.String(), errs.String(), err)
	}
	if want := "/tmp\n/tmp\na\n--privileged\n0\nfetched runs\nread-only\n0\nsaid\n"; lines[1] != want {
		t.Errorf("got %q, want %q; it said %q", lines[1], want, errs.String())
	}
}

// asNobody runs this test binary again as an unprivileged user.
func asNobody(t *testing.T, pattern string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	attacker := cribtest.SandboxAttacker(t)
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "test")
	cribtest.Program(t, binary, self)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), binary, "-test.run="+pattern, "-test.v")
	c.Dir = dir
	c.Env = append(os.Environ(), "CRIBTEST_ATTACKER="+attacker, "TMPDIR="+dir, "HOME="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	t.Logf("as nobody:\n%s", out)
}
