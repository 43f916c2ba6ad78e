//go:build unix

package cribtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

//go:embed sandbox_attack.go sandbox_attack_linux.go sandbox_attack_other.go
var attackSource embed.FS

// buildAttacker gives a directory with the program that makes the attacks.
func buildAttacker(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	// Others must be able to run it, also where temporary directories are private.
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "attacker")
	if ready := os.Getenv("CRIBTEST_ATTACKER"); ready != "" {
		text, err := os.ReadFile(ready)
		if err != nil {
			t.Fatalf("copying the attacker: %v", err)
		}
		Program(t, binary, text)
		return dir
	}
	special := "sandbox_attack_other.go"
	if runtime.GOOS == "linux" {
		special = "sandbox_attack_linux.go"
	}
	source := t.TempDir()
	args := []string{"build", "-trimpath", "-o", binary}
	for _, name := range []string{"sandbox_attack.go", special} {
		text, err := attackSource.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(source, name), text, 0o644)
		}
		if err != nil {
			t.Fatalf("writing the attacker: %v", err)
		}
		args = append(args, name)
	}
	build := exec.CommandContext(t.Context(), "go", args...)
	build.Dir = source
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GO111MODULE=off", "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the attacker: %v\n%s", err, out)
	}
	return dir
}

// arena is a sandbox and the places around it.
type arena struct {
	sandbox  toolcrib.Sandbox
	work     string // granted
	readonly string // granted, not for writing
	tools    string // granted, not for writing: the attacker
	outside  string // beside them, not granted
	home     string // not granted, with what lies in homes
	secret   string // stands in every file outside
	pour     int    // megabytes of output in the test of streaming
}

// secretFiles are what is worth stealing from a home.
func secretFiles() []string {
	return []string{".ssh/id_rsa", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", ".bash_history", "notes.txt"}
}

func newArena(t testing.TB, s toolcrib.Sandbox, tools string) *arena {
	t.Helper()
	root := t.TempDir()
	a := &arena{sandbox: s, tools: filepath.Join(root, "tools"), secret: "secret-" + rand.Text(), pour: 1024,
		work: filepath.Join(root, "work"), readonly: filepath.Join(root, "readonly"), outside: filepath.Join(root, "outside"), home: filepath.Join(root, "home")}
	attacker, err := os.ReadFile(filepath.Join(tools, "attacker")) // a copy: it may be overwritten
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		filepath.Join(a.tools, "attacker"): string(attacker),
		filepath.Join(a.readonly, "file"):  "may be read\n",
		filepath.Join(a.outside, "file"):   a.secret, filepath.Join(root, "beside"): a.secret,
		filepath.Join(a.outside, "script"): "#!/bin/sh\necho " + a.secret + "\n",
	}
	for _, name := range secretFiles() {
		files[filepath.Join(a.home, name)] = a.secret
	}
	t.Cleanup(a.killStrays)
	for _, dir := range []string{a.work, a.readonly, a.outside, a.home, a.tools} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		Program(t, name, []byte(text))
	}
	return a
}

// killStrays ends what got away from a sandbox that does not hold, and looks
// again until there is nothing. They are known by the path of the attacker,
// which is of this run alone. Those that are never the same process for long
// end by themselves when their directory is gone.
func (a *arena) killStrays() {
	_ = os.Rename(a.work, a.work+"-over") // it may be gone already
	for quiet := 0; quiet < 5; quiet++ {
		time.Sleep(10 * time.Millisecond)
		names, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			return
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil || !bytes.HasPrefix(text, []byte(a.tools+"/")) && !bytes.HasPrefix(text, []byte(a.work+"/")) {
				continue
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
				quiet = -1
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// root holds all places of an arena.
func (a *arena) root() string { return filepath.Dir(a.work) }

// grant is what attacks run under: everything that is claimed is asked for.
func (a *arena) grant() toolcrib.Grant {
	return toolcrib.Grant{
		Dirs:     []files.Dir{{Path: a.work, Write: true}, {Path: a.readonly}, {Path: a.tools}},
		Programs: []string{"*"}, Time: 30 * time.Second, Bounds: a.sandbox.Enforces(),
	}
}

// command is a call of the attacker.
func (a *arena) command(verb string, args ...string) toolcrib.Cmd {
	return toolcrib.Cmd{Path: filepath.Join(a.tools, "attacker"), Args: append([]string{verb}, args...), Dir: a.work, Env: []string{"HOME=" + a.home}}
}

// outcome is what came of an attack.
type outcome struct {
	exit           toolcrib.Exit
	stdout, stderr string
}

// lines gives the output lines that begin with a word, without it.
func (o outcome) lines(word string) []string {
	var out []string
	for line := range strings.Lines(o.stdout) {
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), word+" "); ok {
			out = append(out, rest)
		}
	}
	return out
}

// attack runs the attacker under the usual grant. The attacker greets; a
// sandbox in which nothing runs must not pass for one that holds.
func (a *arena) attack(ctx context.Context, verb string, args ...string) (outcome, error) {
	o, err := a.run(ctx, a.command(verb, args...), a.grant())
	if err != nil {
		return o, fmt.Errorf("attack %s: %w", verb, unwrapped(err))
	}
	if !strings.Contains(o.stdout, "attacker is here") {
		return o, fmt.Errorf("attack %s: the attacker did not run: %+v\n%s%s", verb, o.exit, o.stdout, o.stderr)
	}
	return o, nil
}

func (a *arena) run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (outcome, error) {
	var stdout, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	exit, err := a.sandbox.Run(ctx, cmd, grant)
	return outcome{exit: exit, stdout: stdout.String(), stderr: stderr.String()}, err
}

// told is an error in words, with the cause that an Error keeps from models.
func told(err error) string {
	if err == nil {
		return "none"
	}
	return unwrapped(err).Error()
}

// unwrapped adds the cause that an Error keeps from models.
func unwrapped(err error) error {
	if refusal, ok := toolcrib.AsError(err); ok && refusal.Err != nil {
		return fmt.Errorf("%w (%w)", err, refusal.Err)
	}
	return err
}

func faultf(format string, args ...any) []error { return []error{fmt.Errorf(format, args...)} }
