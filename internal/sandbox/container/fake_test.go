//go:build unix

package container

import (
	"bytes"
	_ "embed"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// inside is what a well-made container shows.
//
//go:embed testdata/inside
var inside string

// fake is the engine of testdata.
type fake struct {
	dir    string
	engine string
}

func newFake(t *testing.T, files map[string]string) *fake {
	t.Helper()
	engine, err := os.ReadFile("testdata/engine")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{dir: t.TempDir()}
	f.engine = filepath.Join(f.dir, "engine")
	t.Setenv("FAKE_DIR", f.dir)
	all := map[string]string{"inside": inside, "engine": string(engine)}
	maps.Copy(all, files)
	for name, text := range all {
		cribtest.Program(t, filepath.Join(f.dir, name), []byte(text))
	}
	return f
}

func (f *fake) open(t *testing.T, cfg Config) *Sandbox {
	t.Helper()
	cfg.Engine, cfg.Image = f.engine, "the/image"
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(f.dir, "asked")); err != nil {
		t.Fatal(err)
	}
	return s
}

// asked gives the command lines since the engine was opened.
func (f *fake) asked(t *testing.T) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for record := range strings.SplitSeq(strings.TrimSuffix(string(text), "\x00\n"), "\x00\n") {
		out = append(out, strings.Split(record, "\x00"))
	}
	return out
}

// TestCommandLine holds the whole command line against what it must be: a
// guard that is missing shows, and so does anything that was added.
func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(dir, `a,b "c"`)
	if err := os.Mkdir(odd, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(odd, 0o777); err != nil {
		t.Fatal(err)
	}
	always := func(memory, pids, fsize string) []string {
		return []string{
			"run", "--rm", "--name=N", "--label=dev.toolcrib=L", "--pull=never", "--log-driver=none",
			"--user=12345:23456", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only",
			"--tmpfs=/tmp:rw,nosuid,nodev,mode=1777,size=268435456",
			"--memory=" + memory, "--memory-swap=" + memory, "--pids-limit=" + pids,
			"--ulimit=core=0:0", "--ulimit=fsize=" + fsize + ":" + fsize,
			"--hostname=sandbox", "--workdir=/", "--entrypoint=/bin/sh", "--env-file=F",
		}
	}
	usual := always("2147483648", "1024", "4294967296")
	for _, c := range []struct {
		name  string
		cfg   Config
		files map[string]string
		cmd   toolcrib.Cmd
		grant toolcrib.Grant
		want  []string
	}{
		{name: "nothing granted", want: append(slices.Clone(usual), "--network=none")},
		{name: "directories",
			grant: toolcrib.Grant{Dirs: []files.Dir{{Path: dir}, {Path: odd, Write: true}}},
			want: append(slices.Clone(usual), "--network=none",
				"--mount=type=bind,source="+dir+",target="+dir+",bind-propagation=rprivate,bind-nonrecursive=true,readonly",
				`--mount=type=bind,"source=`+dir+`/a,b ""c""","target=`+dir+`/a,b ""c""",bind-propagation=rprivate,bind-nonrecursive=true`)},
		{name: "the whole network", grant: toolcrib.Grant{Hosts: []string{"*"}}, want: usual},
		{name: "a network by name", cfg: Config{Network: "net1"}, grant: toolcrib.Grant{Hosts: []string{"*"}}, want: append(slices.Clone(usual), "--network=net1")},
		{name: "a network by name, not granted", cfg: Config{Network: "net1"}, want: append(slices.Clone(usual), "--network=none")},
		{name: "input", cmd: toolcrib.Cmd{Stdin: strings.NewReader("x")}, want: append(slices.Clone(usual), "--network=none", "--interactive")},
		{name: "limits", cfg: Config{Limits: sandbox.Limits{MemoryBytes: 1 << 26, Processes: 9, FileBytes: 77, CPUSeconds: 5}, CPUs: 1.5, Runtime: "runsc"},
			files: map[string]string{"inside": strings.NewReplacer("1024", "9", "2147483648", "67108864").Replace(inside)},
			want:  append(always("67108864", "9", "77"), "--ulimit=cpu=5:5", "--cpus=1.5", "--runtime=runsc", "--network=none")},
		{name: "podman without root", files: map[string]string{"podman": "true\n"}, want: append(slices.Clone(usual), "--userns=keep-id", "--network=none")},
		{name: "podman with root", files: map[string]string{"podman": "false\n"}, want: append(slices.Clone(usual), "--network=none")},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, c.files)
			c.cfg.User = "12345:23456"
			s := f.open(t, c.cfg)
			c.cmd.Path, c.cmd.Args, c.cmd.Env = "/bin/echo", []string{"an", "arg"}, []string{"SECRET=hidden"}
			if _, err := s.Run(t.Context(), c.cmd, c.grant); err != nil {
				t.Fatal(err)
			}
			asked := f.asked(t)
			if len(asked) != 1 {
				t.Fatalf("the engine was asked %d times: %q", len(asked), asked)
			}
			got := asked[0]
			if text := strings.Join(got, " "); strings.Contains(text, "hidden") || strings.Contains(text, sandbox.Octal("hidden")) {
				t.Errorf("a value of the environment stands in the command line: %s", text)
			}
			image := slices.Index(got, "the/image")
			for i, a := range got {
				for prefix, value := range map[string]string{"--name=toolcrib-": "--name=N", "--label=dev.toolcrib=": "--label=dev.toolcrib=L", "--env-file=": "--env-file=F"} {
					if strings.HasPrefix(a, prefix) {
						got[i] = value
					}
				}
			}
			if diff := cmp.Diff(c.want, got[:image]); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
			if tail := got[image+1:]; len(tail) != 6 || tail[0] != "-c" || !slices.Equal(tail[2:], []string{"sh", "/bin/echo", "an", "arg"}) {
				t.Errorf("the command is %q", tail)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	f := newFake(t, nil)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := f.open(t, Config{User: "12345:23456"})
	echo := toolcrib.Cmd{Path: "/bin/echo"}
	for _, c := range []struct {
		name  string
		cmd   toolcrib.Cmd
		grant toolcrib.Grant
		code  toolcrib.Code
		says  string
	}{
		{"some hosts", echo, toolcrib.Grant{Hosts: []string{"example.com"}}, toolcrib.CodeUnavailable, "example.com"},
		{"a directory of another user", echo, toolcrib.Grant{Dirs: []files.Dir{{Path: dir, Write: true}}}, toolcrib.CodeUnavailable, "chown"},
		{"a directory that is not there", echo, toolcrib.Grant{Dirs: []files.Dir{{Path: dir + "/x"}}}, toolcrib.CodeUnavailable, "not there"},
		{"a directory that is not clean", echo, toolcrib.Grant{Dirs: []files.Dir{{Path: dir + "/../x"}}}, toolcrib.CodeInvalid, "clean"},
		{"an unknown bound", echo, toolcrib.Grant{Bounds: 1 << 12}, toolcrib.CodeUnavailable, "0x1000"},
		{"a program that is not there", toolcrib.Cmd{Path: "/no/such/program"}, toolcrib.Grant{}, toolcrib.CodeUnavailable, "/no/such/program"},
		{"a program like a variable", toolcrib.Cmd{Path: "/a=b"}, toolcrib.Grant{}, toolcrib.CodeInvalid, "="},
		{"a working directory that is not there", toolcrib.Cmd{Path: "/bin/echo", Dir: "/no/such"}, toolcrib.Grant{}, toolcrib.CodeDenied, "/no/such"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := s.Run(t.Context(), c.cmd, c.grant)
			if toolcrib.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %s with %q", err, c.code, c.says)
			}
		})
	}
	for _, cfg := range []Config{{User: "0:0"}, {User: "0:5"}, {User: "5:0"}, {User: "root"}, {User: "5"}, {User: "5:"}, {User: "-1:5"}, {Image: "-v"}, {Network: "--privileged"}, {Runtime: "-x"}, {CPUs: -1}, {TempBytes: -1}, {Limits: sandbox.Limits{Processes: -1}}} {
		cfg.Engine = f.engine
		if cfg.Image == "" {
			cfg.Image = "the/image"
		}
		if _, err := Open(t.Context(), cfg); err == nil {
			t.Errorf("the configuration %+v was accepted", cfg)
		}
	}
}

func TestOpenFailures(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		says  string
	}{
		{"an engine that does not answer", map[string]string{"down": ""}, "no container engine answers"},
		{"no image", map[string]string{"no-image": ""}, "pull it with"},
		{"an engine that cannot start a container", map[string]string{"broken": ""}, "could not be started"},
		{"root inside", map[string]string{"inside": strings.Replace(inside, "Uid:\t65534", "Uid:\t0", 1)}, "the user is"},
		{"capabilities", map[string]string{"inside": strings.Replace(inside, "CapEff:\t0000000000000000", "CapEff:\t00000000a80425fb", 1)}, "CapEff"},
		{"new privileges", map[string]string{"inside": strings.Replace(inside, "NoNewPrivs:\t1", "NoNewPrivs:\t0", 1)}, "NoNewPrivs"},
		{"no filter", map[string]string{"inside": strings.Replace(inside, "Seccomp:\t2", "Seccomp:\t0", 1)}, "Seccomp"},
		{"a network", map[string]string{"inside": strings.Replace(inside, "== /proc/mounts", "  eth0: 0 0\n== /proc/mounts", 1)}, "eth0"},
		{"a root that can be written", map[string]string{"inside": strings.Replace(inside, "overlay ro,", "overlay rw,", 1)}, "read-only"},
		{"no /tmp", map[string]string{"inside": strings.Replace(inside, "== /tmp\n", "", 1)}, "/tmp"},
		{"nothing", map[string]string{"inside": ""}, "NoNewPrivs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, c.files)
			_, err := Open(t.Context(), Config{Engine: f.engine, Image: "the/image"})
			if toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want unavailable with %q", err, c.says)
			}
		})
	}
	if _, err := Open(t.Context(), Config{Engine: "/no/such/engine", Image: "i"}); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Errorf("an engine that is not there: %v", err)
	}
	if _, err := Open(t.Context(), Config{}); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), "image") {
		t.Errorf("no image configured: %v", err)
	}
}

// Limits that an engine left out are not claimed.
func TestClaims(t *testing.T) {
	const always = toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundTime
	for _, c := range []struct {
		name, old, new string
		want           toolcrib.Bounds
	}{
		{"all", "", "", always | toolcrib.BoundProcesses | toolcrib.BoundMemory},
		{"no number of processes", "1024", "max", always | toolcrib.BoundMemory},
		{"another number", "1024", "99999", always | toolcrib.BoundMemory},
		{"no memory", "2147483648", "max", always | toolcrib.BoundProcesses},
		{"version 1", "== /sys/fs/cgroup/memory.max\n2147483648\n== /sys/fs/cgroup/memory/memory.limit_in_bytes\n", "== /sys/fs/cgroup/memory/memory.limit_in_bytes\n2147483648\n", always | toolcrib.BoundProcesses | toolcrib.BoundMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, map[string]string{"inside": strings.Replace(inside, c.old, c.new, 1)})
			if got := f.open(t, Config{}).Enforces(); got != c.want {
				t.Errorf("claims %v, want %v", sandbox.BoundNames(got), sandbox.BoundNames(c.want))
			}
		})
	}
}

func TestSweep(t *testing.T) {
	living := namePrefix + sandbox.OwnerName() + "-3-abc"
	f := newFake(t, map[string]string{"left": namePrefix + "999999999.5-1-dead\n" + living + "\nsomething-else\n" + namePrefix + "notours\n"})
	if err := os.WriteFile(filepath.Join(f.dir, namePrefix+"999999999.5-1-dead"), []byte("999999998"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := f.open(t, Config{})
	if err := os.WriteFile(filepath.Join(f.dir, "asked"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := s.Sweep(t.Context()) // the fake cannot kill what is not there
	removed := [][]string{}
	for _, a := range f.asked(t) {
		if a[0] == "rm" {
			removed = append(removed, a)
		}
	}
	want := [][]string{{"rm", "--force", "--volumes", namePrefix + "999999999.5-1-dead"}}
	if diff := cmp.Diff(want, removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s (error %v)", diff, err)
	}
}

func TestProgramInFake(t *testing.T) {
	f := newFake(t, nil)
	s := f.open(t, Config{})
	run := func(cmd toolcrib.Cmd, grant toolcrib.Grant) (string, string, toolcrib.Exit, error) {
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		exit, err := s.Run(t.Context(), cmd, grant)
		return out.String(), errs.String(), exit, err
	}
	t.Run("environment", func(t *testing.T) {
		env := []string{"A=b=c", "EMPTY=", "ODD=\xff\n\n", "X='\"$HOME`id`\\n", "WITH BLANK=1"}
		out, _, _, err := run(toolcrib.Cmd{Path: "/usr/bin/env", Args: []string{"-0"}, Env: env}, toolcrib.Grant{})
		got := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
		if err != nil || !slices.Equal(got, env) {
			t.Errorf("got %q, error %v; want %q", got, err, env)
		}
	})
	t.Run("arguments", func(t *testing.T) {
		args := []string{"", "a b", "$(id)", "\xff\xfe", "a\nb", "-", "--", "é"}
		out, _, _, err := run(toolcrib.Cmd{Path: "/usr/bin/printf", Args: append([]string{`%s\000`}, args...)}, toolcrib.Grant{})
		if got := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"); err != nil || !slices.Equal(got, args) {
			t.Errorf("got %q, error %v; want %q", got, err, args)
		}
	})
	t.Run("exit and errors", func(t *testing.T) {
		for _, code := range []int{0, 7, 125, 126, 127} {
			out, errs, exit, err := run(toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "echo out; echo err >&2; exit " + strconv.Itoa(code)}}, toolcrib.Grant{})
			if err != nil || exit.Code != code || out != "out\n" || errs != "err\n" {
				t.Errorf("exit %d: %+v, %q, %q, error %v", code, exit, out, errs, err)
			}
		}
		_, errs, exit, err := run(toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "kill -TERM $$"}}, toolcrib.Grant{})
		if err != nil || exit.Code != 143 || errs != "" {
			t.Errorf("a signal: %+v, %q, error %v", exit, errs, err)
		}
	})
	t.Run("deadline", func(t *testing.T) {
		began := time.Now()
		out, _, exit, err := run(toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "echo before; sleep 60"}, Env: []string{"PATH=/usr/bin:/bin"}}, toolcrib.Grant{Time: time.Second})
		if err != nil || !exit.TimedOut || out != "before\n" || time.Since(began) > 20*time.Second {
			t.Errorf("%+v after %s, %q, error %v", exit, time.Since(began), out, err)
		}
	})
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "toolcrib-env-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files with environments are left: %q, error %v", left, err)
	}
}

type sink struct{ bytes.Buffer }

// The wrapper's line may come in any pieces, and before it may stand anything.
func FuzzSniffer(f *testing.F) {
	f.Add([]byte("warning\n"), []byte("error text\n"), uint8(3), false)
	f.Add([]byte(""), []byte("TOKEN ready\n"), uint8(1), false)
	f.Fuzz(func(t *testing.T, before, after []byte, step uint8, failing bool) {
		const token = "TOKEN"
		if bytes.Contains(before, []byte(token)) || len(before)+len(after) > maxHead {
			t.Skip()
		}
		var to sink
		s := &sniffer{to: &to, token: token}
		text := slices.Concat(before, []byte(token+" ready\n"), after)
		for len(text) > 0 {
			n := min(int(step)+1, len(text))
			if k, err := s.Write(text[:n]); k != n || err != nil {
				t.Fatal(k, err)
			}
			text = text[n:]
		}
		if !bytes.Equal(to.Bytes(), after) || s.verdict(toolcrib.Cmd{}, "", Config{}) != nil || !bytes.Equal(s.head, before) {
			t.Errorf("passed on %q of %q, said %q", to.Bytes(), after, s.said)
		}
	})
}

func FuzzJudge(f *testing.F) {
	f.Add(inside)
	f.Add(strings.Replace(inside, "1024", "max", 1))
	f.Fuzz(func(t *testing.T, text string) {
		files := sections(text)
		claims, err := judge(files, sandbox.Limits{}.Filled())
		if err != nil && claims != 0 {
			t.Errorf("claims %v in spite of %v", claims, err)
		}
		if claims != 0 && (!strings.Contains(text, "NoNewPrivs:") || !strings.Contains(text, "CapBnd:")) {
			t.Errorf("claims %v of a container that shows nothing", claims)
		}
	})
}

func TestSnifferWithoutEnd(t *testing.T) {
	s := &sniffer{token: "TOKEN"}
	for range 100 {
		if _, err := s.Write(bytes.Repeat([]byte("x"), 10_000)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.head) > maxHead {
		t.Errorf("%d bytes are kept of an engine's talk", len(s.head))
	}
	if err := s.verdict(toolcrib.Cmd{}, "", Config{}); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || errors.Unwrap(err) == nil {
		t.Errorf("got %v", err)
	}
}
