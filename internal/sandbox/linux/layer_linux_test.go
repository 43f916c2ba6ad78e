//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// onLayer runs a line on a layer over a project.
func onLayer(t *testing.T, s *Sandbox, line string, dirs ...string) (toolcrib.Exit, string) {
	t.Helper()
	var grant toolcrib.Grant
	for _, d := range dirs {
		grant.Dirs = append(grant.Dirs, files.Dir{Path: d, Write: true})
	}
	grant.Programs = []string{"*"}
	var out strings.Builder
	exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", line}, Dir: dirs[0], Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out, Stderr: &out, OnLayer: true}, grant)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return exit, out.String()
}

// noLayers wants all layers to be gone.
func noLayers(t *testing.T, s *Sandbox) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(s.cfg.Layers, "*", lockName))
	left = slices.DeleteFunc(left, func(path string) bool { return strings.Contains(path, appliedPrefix) })
	if err != nil || len(left) != 0 {
		t.Errorf("layers are left: %v, %v", left, err)
	}
}

func TestLayerKeepsLiveFiles(t *testing.T) {
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "a"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers")})
	exit, out := onLayer(t, s, `cat a; echo two > a; echo new > n; mkdir d; cat a n; ls -ln`, project)
	if exit.Code != 0 || !strings.HasPrefix(out, "one\ntwo\nnew\n") {
		t.Fatalf("%+v\n%s", exit, out)
	}
	if text, err := os.ReadFile(filepath.Join(project, "a")); err != nil || string(text) != "one\n" {
		t.Fatalf("the live file is %q, %v", text, err)
	}
	if exit.Changes == nil {
		t.Fatal("there are no changes")
	}
	var told []string
	for _, c := range exit.Changes.List() {
		word := "changed "
		if c.Before == nil {
			word = "created "
		}
		told = append(told, word+filepath.Base(c.Path))
	}
	if got := strings.Join(told, ", "); got != "changed a, created d, created n" {
		t.Errorf("told %s", got)
	}
	if err := exit.Changes.Apply(t.Context(), func(path string) bool { return filepath.Base(path) != "n" }); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(project, "a")); err != nil || string(text) != "two\n" {
		t.Errorf("the live file is %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(project, "n")); !os.IsNotExist(err) {
		t.Errorf("what was refused is there: %v", err)
	}
	noLayers(t, s)
}

// TestErrorsOfOthersAreCleared: a layer is tried again if the kernel refused it for an
// error of writing that nobody had seen, and for nothing else.
func TestErrorsOfOthersAreCleared(t *testing.T) {
	s := open(t, Config{Layers: t.TempDir()})
	for want, err := range map[bool]error{
		true:  fmt.Errorf("x: %w", &scriptError{label{stepFiles, "making a layer over /p"}, unix.EIO}),
		false: errors.Join(&scriptError{label{stepFiles, "making a layer over /p"}, unix.EPERM}, unix.EIO),
	} {
		if got := s.cleared(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
	if s.cleared(nil) || s.cleared(&scriptError{label{stepProgram, ""}, unix.EIO}) {
		t.Error("it is tried again for another reason")
	}
}

// TestProjectInVarTmp: programs have one private directory for temporary files under two
// names, and a project may lie in it.
func TestProjectInVarTmp(t *testing.T) {
	project, err := os.MkdirTemp("/var/tmp", "project")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(project) })
	s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers")})
	exit, out := onLayer(t, s, `echo one > a; echo two > /var/tmp/x; cat a /tmp/x; ls /var/tmp`, project)
	if want := "one\ntwo\n" + filepath.Base(project) + "\nx\n"; exit.Code != 0 || out != want || exit.Changes == nil {
		t.Errorf("%+v\n%s", exit, out)
	} else if list := exit.Changes.List(); len(list) != 1 || list[0].Path != filepath.Join(project, "a") {
		t.Errorf("%+v", list)
	} else if err := exit.Changes.Drop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("there is no python3 to make a socket with")
	}
	// In what others see too nobody makes sockets, over which open files can be passed on.
	live := toolcrib.Grant{Dirs: []files.Dir{{Path: project, Write: true}}, Programs: []string{"*"}}
	var said strings.Builder
	code := `import socket; socket.socket(socket.AF_UNIX).bind("s")`
	exit, err = s.Run(t.Context(), toolcrib.Cmd{Path: "/usr/bin/python3", Args: []string{"-c", code}, Dir: project, Env: []string{"PATH=/usr/bin:/bin"}, Stderr: &said}, live)
	if err != nil || exit.Code == 0 || !strings.Contains(said.String(), "PermissionError") {
		t.Errorf("%+v, %v: %s", exit, err, said.String())
	}
}

func TestUnchangedLayerIsGone(t *testing.T) {
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "a"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers")})
	exit, out := onLayer(t, s, `cat a; cp a b; rm b`, project)
	if exit.Code != 0 || exit.Changes != nil {
		t.Errorf("%+v\n%s", exit, out)
	}
	noLayers(t, s)
}

// TestKilledLayerIsTakenBack: what a process was applying when it was killed is taken
// back by the next one, and layers that nobody works on are removed.
func TestKilledLayerIsTakenBack(t *testing.T) {
	layers := filepath.Join(t.TempDir(), "layers")
	s := open(t, Config{Layers: layers})
	project := t.TempDir()
	exit, out := onLayer(t, s, `echo new > n`, project)
	if exit.Changes == nil {
		t.Fatalf("%+v\n%s", exit, out)
	}
	dead := filepath.Join(layers, "dead")
	if err := os.MkdirAll(filepath.Join(dead, "0", "upper"), 0o700); err != nil {
		t.Fatal(err)
	}
	open(t, Config{Layers: layers})
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("the layer of nobody is still there: %v", err)
	}
	if err := exit.Changes.Apply(t.Context(), func(string) bool { return true }); err != nil {
		t.Errorf("the layer of a living process was touched: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(project, "n")); err != nil || string(text) != "new\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// BenchmarkLayer holds a command that changes nothing on a layer against one on the
// live files.
func BenchmarkLayer(b *testing.B) {
	project := b.TempDir()
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(project, "f"+strconv.Itoa(i)), nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	s := open(b, Config{Layers: filepath.Join(b.TempDir(), "layers")})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: project, Write: true}}, Programs: []string{"*"}}
	for name, layered := range map[string]bool{"live": false, "layer": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Run(b.Context(), toolcrib.Cmd{Path: "/bin/true", Dir: project, OnLayer: layered}, grant); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestLayersAreHadOrRefused: who asks for a layer never runs on live files, and can
// write in it wherever the directory lies.
func TestLayersAreHadOrRefused(t *testing.T) {
	project, err := os.MkdirTemp(".", "layer-") // not below /tmp, where programs may write anyhow
	if err == nil {
		project, err = filepath.Abs(project)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(project) })
	if err := os.WriteFile(filepath.Join(project, "a"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers")})
	exit, out := onLayer(t, s, `echo two > a && mkdir d && cat a`, project)
	if exit.Code != 0 || out != "two\n" || exit.Changes == nil {
		t.Fatalf("%+v\n%s", exit, out)
	}
	if err := exit.Changes.Drop(); err != nil {
		t.Error(err)
	}
	none := open(t, Config{})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: project, Write: true}}, Programs: []string{"*"}}
	if _, err := none.Run(t.Context(), toolcrib.Cmd{Path: "/bin/true", OnLayer: true}, grant); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Errorf("without a directory for layers: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(project, "a")); err != nil || string(text) != "one\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestReadOnlyGrantsOnLayers: beside a layer that can be written a read-only directory
// stays read-only, and a command that was cut off changes nothing.
func TestReadOnlyGrantsOnLayers(t *testing.T) {
	project, other := t.TempDir(), t.TempDir()
	s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers")})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: project, Write: true}, {Path: other}}, Programs: []string{"*"}}
	run := func(ctx context.Context, line string) toolcrib.Exit {
		t.Helper()
		exit, err := s.Run(ctx, toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", line}, Dir: project, Env: []string{"PATH=/usr/bin:/bin"}, OnLayer: true}, grant)
		if err != nil {
			t.Fatal(err)
		}
		return exit
	}
	if exit := run(t.Context(), "echo x > "+other+"/x"); exit.Code == 0 || exit.Changes != nil {
		t.Errorf("a read-only directory was written: %+v", exit)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if exit := run(ctx, "echo x > x; sleep 60"); !exit.TimedOut || exit.Changes != nil || len(exit.Notes) == 0 {
		t.Errorf("cut off: %+v", exit)
	}
	noLayers(t, s)
}

// TestShutDirectoriesOnLayers: a command may take its own rights to directories away, that
// to search them or to write in them as well, before or after it has changed what is in
// there: its changes can be read, kept and applied.
func TestShutDirectoriesOnLayers(t *testing.T) {
	s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers")})
	for _, mode := range []string{"600", "555", "444", "300", "100", "000"} {
		for _, line := range []string{"mkdir n; echo new > n/f", "echo new > live/f; rm live/a", "mkdir live/n; echo new > live/n/f", "mkdir -p n/m; echo new > n/m/f; echo new > live/a"} {
			project := t.TempDir()
			if err := os.Mkdir(filepath.Join(project, "live"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(project, "live", "a"), []byte("one\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			shut := "; find . -mindepth 1 -depth -type d -exec chmod " + mode + " {} +"
			exit, out := onLayer(t, s, line+"; chmod -R u+rwX .; find . -type f -exec cat {} + | sort"+shut, project)
			if exit.Code != 0 || exit.Changes == nil {
				t.Fatalf("%s%s: %+v\n%s", line, shut, exit, out)
			}
			if err := exit.Changes.Apply(t.Context(), func(string) bool { return true }); err != nil {
				t.Errorf("%s%s: %v", line, shut, err)
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", "find . -mindepth 1 -type d -perm "+mode+" 2> /dev/null | grep -q . && chmod -R u+rwX . && find . -type f -exec cat {} + | sort")
			cmd.Dir = project
			if now, err := cmd.CombinedOutput(); err != nil || string(now) != out {
				t.Errorf("%s%s: %v, there is now\n%s\nwant\n%s", line, shut, err, now, out)
			}
		}
	}
	noLayers(t, s)
}
