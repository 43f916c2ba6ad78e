package host

import (
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
)

func TestParseParent(t *testing.T) {
	for _, c := range []struct {
		stat string
		want int
		ok   bool
	}{
		{"12 (sh) S 11 12 12 0", 11, true},
		{"12 (a) b) S 9) R 7 12", 7, true},
		{"12 (a\nb) S 3 1", 3, true},
		{"12 (sh) Z 11 12", 0, false},
		{"12 (sh) S", 0, false}, {"12 (sh) S x", 0, false}, {"12 sh S 11", 0, false}, {"", 0, false},
	} {
		if got, ok := parseParent([]byte(c.stat)); got != c.want || ok != c.ok {
			t.Errorf("parseParent(%q) = %d, %v; want %d, %v", c.stat, got, ok, c.want, c.ok)
		}
	}
}

func FuzzParseParent(f *testing.F) {
	f.Add([]byte("12 (sh) S 11 12 12 0"))
	f.Add([]byte("1 () ) ) ("))
	f.Fuzz(func(t *testing.T, stat []byte) {
		if n, ok := parseParent(stat); !ok && n != 0 {
			t.Errorf("parseParent(%q) = %d without being sure", stat, n)
		}
	})
}

// TestWeAreKilled: when we die the program dies with us. The test starts
// itself as the one that dies.
func TestWeAreKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "beat")
	if os.Getenv("HOST_TEST_RUN") != "" {
		_, err := open(t, Config{}).Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh",
			Args: []string{"-c", "setsid sh -c 'while :; do echo . >>" + os.Getenv("HOST_TEST_RUN") + "; sleep 0.02; done' & sleep 100"}, Env: []string{"PATH=/usr/bin:/bin"}}, toolcrib.Grant{})
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestWeAreKilled$")
	c.Env = append(os.Environ(), "HOST_TEST_RUN="+file)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if _, err := os.Stat(file); err == nil {
			break
		}
		if i > 200 {
			t.Fatal("the program never started")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	time.Sleep(300 * time.Millisecond)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if after, err := os.ReadFile(file); err != nil || len(after) != len(before) {
		t.Errorf("the program lives on without us: %d and then %d bytes, error %v", len(before), len(after), err)
	}
}

// TestDeadline: the deadline is not claimed, but it holds for all that does
// not attack the shim, wherever it hides.
func TestDeadline(t *testing.T) {
	attacker := cribtest.SandboxAttacker(t)
	s := open(t, Config{})
	dir := t.TempDir()
	for _, how := range []string{"stubborn", "child", "session", "group", "holding", "grandchild", "runner"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(dir, how)
			exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: attacker, Args: []string{"survive-and-wait", how, file}, Dir: dir}, toolcrib.Grant{Time: 2 * time.Second})
			if err != nil || !exit.TimedOut {
				t.Errorf("%+v, error %v", exit, err)
			}
			before, err := os.ReadFile(file)
			if err != nil || len(before) == 0 {
				t.Fatalf("it never lived: %v", err)
			}
			time.Sleep(250 * time.Millisecond)
			if after, err := os.ReadFile(file); err != nil || len(after) != len(before) {
				t.Errorf("it lives on: %d and then %d bytes, error %v", len(before), len(after), err)
			}
		})
	}
}

// A program may not become another user: we could not kill it any more.
func TestNoNewPrivileges(t *testing.T) {
	var out strings.Builder
	_, err := open(t, Config{}).Run(t.Context(), toolcrib.Cmd{Path: "/bin/grep", Args: []string{"NoNewPrivs", "/proc/self/status"}, Stdout: &out}, toolcrib.Grant{})
	if err != nil || strings.Join(strings.Fields(out.String()), " ") != "NoNewPrivs: 1" {
		t.Errorf("%q, error %v", out.String(), err)
	}
}

// A program that kills its supervisor gets away from the host sandbox, which
// isolates nothing; but Run comes back and says that something was wrong.
func TestKilledShim(t *testing.T) {
	exit, err := open(t, Config{}).Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "kill -9 $PPID; exit 0"}}, toolcrib.Grant{Time: 10 * time.Second})
	if err == nil {
		t.Errorf("ended with %+v and no error", exit)
	}
}

func TestIgnoredSignalsAreNotInherited(t *testing.T) {
	var out strings.Builder
	_, err := open(t, Config{}).Run(t.Context(), toolcrib.Cmd{Path: "/bin/grep", Args: []string{"-E", "^Sig(Ign|Blk)", "/proc/self/status"}, Stdout: &out}, toolcrib.Grant{})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		fields := strings.Fields(line)
		if set, err := strconv.ParseUint(fields[1], 16, 64); err != nil || set != 0 {
			t.Errorf("the program starts with %s", strings.TrimSpace(line))
		}
	}
	if out.Len() == 0 || unix.SIGHUP != 1 {
		t.Error("nothing was looked at")
	}
}
