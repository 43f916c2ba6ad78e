//go:build unix

package container

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// TestServerCommandLine: what is different for a server, and nothing else: what it
// fetches can be run, and there is more room for it. The directory that the user
// inside cannot write is mounted for reading, whatever its name is.
func TestServerCommandLine(t *testing.T) {
	odd := filepath.Join(t.TempDir(), `a,readonly=false:x`)
	if err := os.Mkdir(odd, 0o755); err != nil {
		t.Fatal(err)
	}
	f := newFake(t, nil)
	s := f.open(t, Config{User: "12345:23456", Server: true, TempBytes: 1 << 30})
	exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: "env", Args: []string{"--version"}, Dir: "/tmp", Env: []string{"SECRET=hidden"}}, toolcrib.Grant{Dirs: []files.Dir{{Path: odd, Write: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], "read-only") {
		t.Errorf("the notes are %q", exit.Notes)
	}
	asked := f.asked(t)[0]
	image := slices.Index(asked, "the/image")
	if text := strings.Join(asked, " "); strings.Contains(text, "hidden") || strings.Contains(text, sandbox.Octal("hidden")) {
		t.Errorf("a value of the environment stands in the command line: %s", text)
	}
	got := slices.DeleteFunc(slices.Clone(asked[:image]), func(a string) bool {
		return strings.HasPrefix(a, "--name=") || strings.HasPrefix(a, "--label=") || strings.HasPrefix(a, "--env-file=")
	})
	want := []string{
		"run", "--rm", "--pull=never", "--log-driver=none", "--user=12345:23456", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only",
		"--tmpfs=/tmp:rw,nosuid,nodev,mode=1777,size=1073741824,exec", "--memory=2147483648", "--memory-swap=2147483648", "--pids-limit=1024",
		"--ulimit=core=0:0", "--ulimit=fsize=4294967296:4294967296", "--hostname=sandbox", "--workdir=/", "--entrypoint=/bin/sh", "--network=none",
		`--mount=type=bind,"source=` + odd + `","target=` + odd + `",bind-propagation=rprivate,bind-nonrecursive=true,readonly`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	if tail := asked[image+1:]; len(tail) != 5 || !slices.Equal(tail[2:], []string{"sh", "env", "--version"}) {
		t.Errorf("the command is %q", tail)
	}
}

// TestServerProgram: a name is looked for in the PATH of the image, arguments and
// variables arrive as they are whatever they look like, and those of the image stay.
func TestServerProgram(t *testing.T) {
	f := newFake(t, nil)
	s := f.open(t, Config{Server: true})
	bin := t.TempDir()
	cribtest.Program(t, filepath.Join(bin, "echo"), []byte("#!/bin/sh\n/usr/bin/printf '%s\\000' \"own $0\" \"$@\"\n"))
	cribtest.Program(t, filepath.Join(bin, "vars"), []byte("#!/bin/sh\nexec /usr/bin/env -0\n"))
	t.Setenv("IMAGE_WORD", "of the image")
	t.Setenv("PATH", "relative:"+bin+":/usr/bin:/bin") // the fake's own is that of its image
	run := func(cmd toolcrib.Cmd) ([]string, error) {
		var out bytes.Buffer
		cmd.Stdout = &out
		_, err := s.Run(t.Context(), cmd, toolcrib.Grant{})
		return strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00"), err
	}
	t.Run("arguments", func(t *testing.T) {
		args := []string{"--privileged", "-v/:/host", "", "a b", "$(id)", "\xff\xfe", "a\nb", "--", "é", "X=1"}
		got, err := run(toolcrib.Cmd{Path: "echo", Args: args}) // not the shell's own
		if want := append([]string{"own " + bin + "/echo"}, args...); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, error %v; want %q", got, err, want)
		}
	})
	t.Run("variables", func(t *testing.T) {
		env := []string{"HOME=/tmp", "KEY=a\nTOOLCRIB_TOKEN=x\n--privileged\n\n", "X='\"$HOME`id`\\n", "--split-string=/bin/false", "-u=IMAGE_WORD", "IFS=a:/", "ODD=\xff"}
		got, err := run(toolcrib.Cmd{Path: "env", Args: []string{"-0"}, Env: env})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range append(env, "IMAGE_WORD=of the image") {
			if !slices.Contains(got, v) {
				t.Errorf("%q did not arrive: %q", v, got)
			}
		}
		for _, v := range got {
			if strings.HasPrefix(v, "TOOLCRIB_") {
				t.Errorf("a variable of the wrapper is left: %q", v)
			}
		}
	})
	t.Run("a PATH of its own", func(t *testing.T) {
		_, err := run(toolcrib.Cmd{Path: "vars", Env: []string{"PATH=/usr/bin:/bin"}})
		if toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), "no program vars in the image the/image") {
			t.Errorf("it was found where it was not looked for: %v", err)
		}
	})
	t.Run("names that are none", func(t *testing.T) {
		for _, name := range []string{"no-such-program", "cd", "-c", "--help", "*", "$(id)", "a=b", ".", ".."} {
			if got, err := run(toolcrib.Cmd{Path: name}); err == nil {
				t.Errorf("%q was run: %q", name, got)
			}
		}
		for _, path := range []string{"x/y", "./x", "../x", ""} { // neither a name nor absolute
			if _, err := run(toolcrib.Cmd{Path: path}); toolcrib.CodeOf(err) != toolcrib.CodeInvalid {
				t.Errorf("%q: %v", path, err)
			}
		}
	})
}

// TestServerEngineFails: the person who set the server up reads what the engine said.
func TestServerEngineFails(t *testing.T) {
	f := newFake(t, nil)
	s := f.open(t, Config{Server: true})
	if err := os.WriteFile(filepath.Join(f.dir, "broken"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := s.Run(t.Context(), toolcrib.Cmd{Path: "env"}, toolcrib.Grant{})
	if toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), "no space") {
		t.Errorf("got %v", err)
	}
}

// TestLeftContainer: a container that outlives its client is removed, and if that
// fails the watcher goes on trying.
func TestLeftContainer(t *testing.T) {
	for _, c := range []struct {
		name string
		dies bool   // the client, by itself
		busy string // how often the engine cannot remove it
		says string
	}{
		{name: "the client dies", dies: true},
		{name: "the client dies and the engine is busy", dies: true, busy: "6", says: "could not be removed"},
		{name: "its time is over and the engine is busy", busy: "7", says: "could not be removed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, nil)
			s := f.open(t, Config{})
			grant := toolcrib.Grant{Time: time.Second}
			said := map[string]string{"busy": c.busy}
			if c.dies {
				grant.Time, said["dies"] = 0, ""
			}
			for name, text := range said {
				if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sleep", Args: []string{"600"}}, grant)
			if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			asked := f.asked(t)[0]
			name := strings.TrimPrefix(asked[slices.IndexFunc(asked, func(a string) bool { return strings.HasPrefix(a, "--name=") })], "--name=")
			there := func() bool { // the engine forgets a container that it has removed
				_, err := os.Stat(filepath.Join(f.dir, name))
				return err == nil
			}
			for deadline := time.Now().Add(time.Minute); there(); time.Sleep(10 * time.Millisecond) {
				if c.says == "" || time.Now().After(deadline) {
					t.Fatal("the container was left")
				}
			}
		})
	}
}

// TestWithoutShell: where there is no shell nothing watches, and programs run all the
// same. It is told once, and early to those who want it so.
func TestWithoutShell(t *testing.T) {
	f := newFake(t, nil)
	s := f.open(t, Config{})
	s.shell = filepath.Join(f.dir, "no-such-shell")
	cmd := toolcrib.Cmd{Path: "/bin/echo"}
	var early []string
	exit, err := s.Run(sandbox.WithEarly(t.Context(), func(note string) { early = append(early, note) }), cmd, toolcrib.Grant{})
	if err != nil || len(exit.Notes) != 0 || len(early) != 1 || !strings.Contains(early[0], "no-such-shell") {
		t.Errorf("%+v, early %q, error %v", exit, early, err)
	}
	if exit, err := s.Run(t.Context(), cmd, toolcrib.Grant{}); err != nil || len(exit.Notes) != 0 {
		t.Errorf("%+v, error %v", exit, err)
	}
}

// TestEndsWhenKilled: a process that is killed leaves neither its container nor the
// file with the values of its variables. The watcher asks the engine no more once the
// container is removed, so nothing is written when the test is over.
func TestEndsWhenKilled(t *testing.T) {
	const marker = "TOOLCRIB_TEST_KILLED"
	if engine := os.Getenv(marker); engine != "" { // the process that is killed
		s, err := Open(t.Context(), Config{Engine: engine, Image: "the/image", Server: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Run(t.Context(), toolcrib.Cmd{Path: "sh", Args: []string{"-c", "echo up; exec sleep 600"}, Stdout: os.Stdout}, toolcrib.Grant{})
		t.Fatal("it ended by itself", err)
	}
	f := newFake(t, nil)
	temp := t.TempDir()
	self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEndsWhenKilled$")
	self.Env = append(os.Environ(), marker+"="+f.engine, "TMPDIR="+temp)
	out, err := self.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "up" {
	}
	if lines.Text() != "up" {
		t.Fatalf("it did not start: %q", lines.Text())
	}
	if err := self.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	removed := func() bool {
		return slices.ContainsFunc(f.asked(t), func(a []string) bool { return a[0] == "rm" && strings.HasPrefix(a[len(a)-1], namePrefix) })
	}
	for deadline := time.Now().Add(time.Minute); !removed(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the container was left")
		}
	}
	_, _ = out.Read(make([]byte, 1)) // until nothing holds its output any more
	_ = self.Wait()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, error %v", left, err)
	}
}
