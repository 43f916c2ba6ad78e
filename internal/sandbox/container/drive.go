package container

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// The graces: for an engine that was told to end a container, and for output
// that is still in a pipe.
const (
	engineGrace = time.Minute // it may be busy with others
	drainGrace  = time.Second
)

// drive runs the engine's client until the container has ended, and ends the
// container when the time is over: ending the client would not. Left is why the
// container may still be there.
func (s *Sandbox) drive(ctx context.Context, cmd toolcrib.Cmd, c spec, sniff *sniffer) (late bool, left, err error) {
	if cmd.Stdout != nil {
		both := &guarded{to: cmd.Stdout} // it may be the writer of errors as well
		cmd.Stdout = both
		sniff.lock = &both.mu
	}
	cmd.Stderr = sniff
	streams, err := sandbox.OpenStreams(cmd)
	if err != nil {
		return false, nil, err
	}
	defer func() { _ = streams.Close() }()
	ended, err := s.watchEnd(c)
	if err != nil {
		return false, nil, err
	}
	defer func() { ended(left == nil) }()
	client := exec.Command(s.engine, s.arguments(c)...)
	client.Stdin, client.Stdout, client.Stderr = streams.Stdin, streams.Stdout, streams.Stderr
	client.SysProcAttr = apart()
	if err := client.Start(); err != nil {
		return false, nil, sandbox.Unavailable("the container engine could not be started", err)
	}
	flowing := streams.Started()
	over := make(chan error, 1)
	go func() { over <- client.Wait() }()
	select {
	case err = <-over:
		if s.clientFailed(err) {
			left = s.removeNow(c.name)
		}
	case <-ctx.Done():
		late, left = true, s.remove(c.name, client, over)
	}
	return late, left, errors.Join(err, flowing, streams.Drain(drainGrace, ctx.Done()))
}

// clientFailed tells whether the engine's client may have ended before its
// container: it was killed, or lost its daemon, for which engines have code 125 and
// some just 1. A program may end with these too, and then there is nothing to
// remove; commands do so often, and are not made to wait for a mere 1.
func (s *Sandbox) clientFailed(err error) bool {
	var status *exec.ExitError
	if !errors.As(err, &status) {
		return err != nil
	}
	return s.cfg.Server || status.ExitCode() < 0 || status.ExitCode() == 125
}

// remove ends a container for sure. The client may not have created it yet, so
// it is ended first, and what it has asked for by then is removed.
func (s *Sandbox) remove(name string, client *exec.Cmd, over <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), engineGrace)
	defer cancel()
	err := s.rm(ctx, name)
	select {
	case <-over:
		if err == nil { // the container is gone, and so is its client
			return nil
		}
	case <-time.After(2 * time.Second):
		_ = client.Process.Kill()
		<-over
	}
	return s.removeNow(name)
}

// removeNow removes a container whose client is gone, if there is one.
func (s *Sandbox) removeNow(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), engineGrace)
	defer cancel()
	var err error
	for range 5 {
		if err = s.rm(ctx, name); err == nil {
			return nil
		}
		if says := strings.ToLower(err.Error()); strings.Contains(says, "no such container") || strings.Contains(says, "is already in progress") {
			return nil
		}
		time.Sleep(200 * time.Millisecond)
	}
	return fmt.Errorf("the container %s could not be removed: %w", name, err)
}

func (s *Sandbox) rm(ctx context.Context, name string) error {
	_, err := output(ctx, s.engine, "rm", "--force", "--volumes", name)
	return err
}
