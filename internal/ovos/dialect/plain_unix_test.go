//go:build unix

package dialect

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/toolcrib/toolcrib"
)

// plain is a sandbox that holds nothing. It tells how a program ended as the
// real ones do, and ends what the program leaves behind.
type plain struct{}

func (plain) Enforces() toolcrib.Bounds { return 0 }

func (plain) Run(ctx context.Context, cmd toolcrib.Cmd, _ toolcrib.Grant) (toolcrib.Exit, error) {
	c := exec.CommandContext(ctx, cmd.Path, cmd.Args...)
	c.Dir, c.Env = cmd.Dir, cmd.Env
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Files, not pipes: nothing then waits for who still holds them.
	dir, err := os.MkdirTemp("", "plain")
	if err != nil {
		return toolcrib.Exit{}, err
	}
	defer os.RemoveAll(dir)
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		return toolcrib.Exit{}, err
	}
	defer out.Close()
	errs, err := os.Create(filepath.Join(dir, "err"))
	if err != nil {
		return toolcrib.Exit{}, err
	}
	defer errs.Close()
	c.Stdout, c.Stderr = out, errs
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	err = c.Run()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed && ctx.Err() == nil {
		return toolcrib.Exit{}, err
	}
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // usually there is nobody left
	for _, s := range []struct {
		to   interface{ Write([]byte) (int, error) }
		from *os.File
	}{{cmd.Stdout, out}, {cmd.Stderr, errs}} {
		text, err := os.ReadFile(s.from.Name())
		if err != nil {
			return toolcrib.Exit{}, err
		}
		if _, err := s.to.Write(text); err != nil {
			return toolcrib.Exit{}, err
		}
	}
	exit := toolcrib.Exit{Code: c.ProcessState.ExitCode(), TimedOut: ctx.Err() != nil}
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Code, exit.Signal = 128+int(status.Signal()), "SIG"+status.Signal().String()
	}
	return exit, nil
}
