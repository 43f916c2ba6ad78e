//go:build unix && !linux

package host

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// Without a way to hold on to grandchildren that make a session of their own,
// the deadline is not a bound that could be claimed.
const enforces toolcrib.Bounds = 0

const drainGrace = 3 * time.Second

// Main does nothing here: there is no shim on this system.
func Main() {}

func startedAsShim() bool { return false }

func (s *Sandbox) run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	ctx, cancel := sandbox.Until(ctx, grant)
	defer cancel()
	began := time.Now()
	streams, err := sandbox.OpenStreams(cmd)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	defer func() { _ = streams.Close() }()
	c := &exec.Cmd{
		Path: cmd.Path, Args: append([]string{cmd.Path}, cmd.Args...), Dir: sandbox.WorkDir(cmd, grant),
		Env:   append([]string{}, cmd.Env...), // not nil: that would mean our own
		Stdin: streams.Stdin, Stdout: streams.Stdout, Stderr: streams.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := c.Start(); err != nil {
		return toolcrib.Exit{}, sandbox.Unavailable(fmt.Sprintf("the program %s could not be started", cmd.Path), err)
	}
	flowing := streams.Started()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	late := false
	select {
	case err = <-ended:
	case <-ctx.Done():
		late = true
	}
	// In both cases: what it left behind in its group must not stay.
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	if late {
		err = <-ended
	}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return toolcrib.Exit{}, fmt.Errorf("waiting for %s: %w", cmd.Path, err)
	}
	exit := toolcrib.Exit{}
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok {
		exit = sandbox.ExitOf(status)
	}
	exit.TimedOut, exit.Duration = late, time.Since(began)
	return exit, errors.Join(flowing, streams.Drain(drainGrace, ctx.Done()))
}
