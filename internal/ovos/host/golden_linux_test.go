package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// bare is a sandbox that holds nothing but the processes of its command.
type bare struct{ dir string }

func (bare) Enforces() toolcrib.Bounds { return 0 }

func (b bare) Run(ctx context.Context, cmd toolcrib.Cmd, _ toolcrib.Grant) (exit toolcrib.Exit, err error) {
	c := exec.CommandContext(ctx, cmd.Path, cmd.Args...)
	c.Dir, c.Env = cmd.Dir, cmd.Env
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	// Files, so that nothing waits for who still holds a pipe.
	stdout, err := os.CreateTemp(b.dir, "stdout")
	if err != nil {
		return exit, err
	}
	defer stdout.Close()
	stderr, err := os.CreateTemp(b.dir, "stderr")
	if err != nil {
		return exit, err
	}
	defer stderr.Close()
	c.Stdout, c.Stderr = stdout, stderr
	err = c.Run()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed && ctx.Err() == nil {
		return exit, err
	}
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // usually nobody is left
	out, outErr := os.ReadFile(stdout.Name())
	errs, errErr := os.ReadFile(stderr.Name())
	if err := errors.Join(outErr, errErr); err != nil {
		return exit, err
	}
	_, outErr = cmd.Stdout.Write(out)
	_, errErr = cmd.Stderr.Write(errs)
	exit = toolcrib.Exit{Code: c.ProcessState.ExitCode(), TimedOut: ctx.Err() != nil}
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Code, exit.Signal = 128+int(status.Signal()), "SIG"+status.Signal().String()
	}
	return exit, errors.Join(outErr, errErr)
}

// TestRecordedShellRows is for Linux: the rows hold what its programs print.
func TestRecordedShellRows(t *testing.T) {
	dir := filepath.Dir(tree(t))
	list := rows(t, "ovos_files_rows.jsonl", "ovos-shell-tools", dir)
	if len(list) != 20 {
		t.Errorf("%d rows", len(list))
	}
	notPermitted := func(word string) map[string]any {
		return map[string]any{"stdout": "", "stderr": "Command not permitted by allowed_commands policy: '" + word + "'.", "returncode": -1.0, "success": false}
	}
	for _, r := range list {
		var in struct{ Command string }
		if err := json.Unmarshal(r.Kwargs, &in); err != nil {
			t.Fatal(err)
		}
		switch in.Command {
		case "lsblk --version":
			r.Result = notPermitted("lsblk")
		case "ls; echo pwned":
			r.Result = notPermitted("ls;")
		case "(sleep 31337 &) ; echo bg":
			r.Result = map[string]any{"stdout": "bg\n", "stderr": "", "returncode": 0.0, "success": true}
		case "git status --short":
			if _, err := exec.LookPath("git"); err != nil {
				continue // the row is about a program that is not here
			}
		}
		empty := filepath.Join(t.TempDir(), "work")
		if err := os.Mkdir(empty, 0o755); err != nil {
			t.Fatal(err)
		}
		work := dir
		if bytes.Contains(r.Kwargs, []byte("git")) {
			work = empty
		}
		_, s := open(t, shellSetup(t, work, r))
		s.check(r, persona(r))
	}
}

// shellSetup has the shell guard set up as a row says: without
// allowed_commands the original runs everything.
func shellSetup(t *testing.T, dir string, r row) setup {
	t.Helper()
	g := &shellguard.Guard{
		AllowShell: r.Config.AllowShell, Bounded: true, Options: shellguard.SystemOptions(dir),
		Only:     len(r.Config.AllowedCommands) > 0,
		Unasked:  func(toolcrib.Call) bool { return len(r.Config.AllowedCommands) == 0 },
		ReadFile: os.ReadFile,
	}
	for _, text := range r.Config.AllowedCommands {
		rule, err := shellguard.ParseRule(text + " *")
		if err != nil {
			t.Fatal(err)
		}
		g.Rules = append(g.Rules, rule)
	}
	return setup{root: dir, write: true, sandbox: bare{t.TempDir()}, guards: []toolcrib.Guard{g},
		opt: dialect.Options{MaxTimeout: time.Duration(r.Config.MaxTimeout) * time.Second}}
}
