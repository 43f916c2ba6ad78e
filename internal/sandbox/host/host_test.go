package host

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

func open(t testing.TB, cfg Config) *Sandbox {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSandbox(t *testing.T) {
	cribtest.Sandbox(t, func(t testing.TB) toolcrib.Sandbox { return open(t, Config{}) })
}

func TestClaims(t *testing.T) {
	if got := open(t, Config{}).Enforces(); got != 0 {
		t.Errorf("claims %v, but holds nothing against a program that fights back", sandbox.BoundNames(got))
	}
}

func TestLimitsOfEachProcess(t *testing.T) {
	limits := sandbox.Limits{FileBytes: 1 << 20, MemoryBytes: 64 << 20, CPUSeconds: 1}
	if runtime.GOOS != "linux" {
		open(t, Config{Limits: limits}) // they are not held, and not claimed
		return
	}
	s := open(t, Config{Limits: limits})
	dir := t.TempDir()
	for _, c := range []struct{ name, script, signal string }{
		{"file size", `exec head -c 3000000 /dev/zero > large`, "SIGXFSZ"},
		{"processor time", `while :; do :; done`, ""}, // a soft and hard limit in one may be told as KILL or as XCPU
		{"no core file", `test "$(ulimit -c)" = 0 && kill -SEGV $$`, "SIGSEGV"},
	} {
		t.Run(c.name, func(t *testing.T) {
			exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", c.script}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}}, toolcrib.Grant{Time: 20 * time.Second})
			if err != nil || exit.Code == 0 || exit.TimedOut || c.signal != "" && exit.Signal != c.signal {
				t.Errorf("ended with %+v, error %v; want signal %s", exit, err, c.signal)
			}
		})
	}
	if info, err := os.Stat(dir + "/large"); err != nil || info.Size() > limits.FileBytes {
		t.Errorf("the file is %v, error %v; the limit is %d", info, err, limits.FileBytes)
	}
}

func TestBadLimits(t *testing.T) {
	for _, l := range []sandbox.Limits{{MemoryBytes: -1}, {Processes: -1}, {FileBytes: -1}, {CPUSeconds: -1}, {MemoryBytes: 4096}} {
		if _, err := Open(t.Context(), Config{Limits: l}); err == nil {
			t.Errorf("limits %+v were accepted", l)
		}
	}
}

func TestWorkingDirectory(t *testing.T) {
	s := open(t, Config{})
	dir := t.TempDir()
	for _, c := range []struct {
		name  string
		dir   string
		grant []files.Dir
		want  string
	}{
		{"as told", dir, nil, dir},
		{"the first granted", "", []files.Dir{{Path: dir}, {Path: "/"}}, dir},
		{"not ours", "", nil, "/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			_, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/pwd", Dir: c.dir, Stdout: &out}, toolcrib.Grant{Dirs: c.grant})
			if err != nil || strings.TrimSpace(out.String()) != c.want {
				t.Errorf("started in %q, error %v; want %q", out.String(), err, c.want)
			}
		})
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// A writer that fails must not hang the program and must not be kept quiet.
func TestFailingWriter(t *testing.T) {
	s := open(t, Config{})
	exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "head -c 10000000 /dev/zero; exit 3"}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: failing{}}, toolcrib.Grant{})
	if err == nil || !strings.Contains(err.Error(), "the disk is full") || exit.Code != 3 {
		t.Errorf("ended with %+v, error %v; want code 3 and the writer's error", exit, err)
	}
}
