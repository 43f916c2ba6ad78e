// Package sandbox is the recipe for a sandbox backend: programs run with the
// environment they are given and nothing else, and the whole tree of them ends
// at the deadline.
//
// Nothing imports it. A real one would be internal/sandbox/<name>. Its
// invariant is that of every backend: it claims a bound only if it tried on
// this machine that the bound holds against a program that means to escape it.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Sandbox runs programs as trees that can be ended as a whole. Open makes one.
type Sandbox struct {
	whole bool // no process of a tree can leave it
}

// Open finds out what can be enforced on this machine.
func Open(ctx context.Context) *Sandbox {
	return &Sandbox{whole: canHoldTree(ctx)}
}

// Enforces claims the time bound only where no process can leave its tree.
// Nothing here bounds files, the network, memory or the number of processes.
func (s *Sandbox) Enforces() toolcrib.Bounds {
	if s.whole {
		return toolcrib.BoundTime
	}
	return 0
}

// drain is how long output may still come after the program has ended.
const drain = 2 * time.Second

// Run runs a program until it ends, or the context or the granted time does.
func (s *Sandbox) Run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	if missing := grant.Bounds &^ s.Enforces(); missing != 0 {
		return toolcrib.Exit{}, fmt.Errorf("running %s: bounds %#x cannot be enforced here", cmd.Path, uint16(missing))
	}
	if !filepath.IsAbs(cmd.Path) {
		return toolcrib.Exit{}, fmt.Errorf("running %q: want an absolute path, nothing is searched for", cmd.Path)
	}
	if grant.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, grant.Time)
		defer cancel()
	}
	c := exec.CommandContext(ctx, cmd.Path, cmd.Args...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr
	c.Env = append([]string{}, cmd.Env...) // nil would mean: inherit ours
	c.WaitDelay = drain
	holdTree(c, s.whole)

	// The kernel ends the program with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	err := c.Run()
	exit := toolcrib.Exit{Duration: time.Since(start), TimedOut: errors.Is(ctx.Err(), context.DeadlineExceeded)}
	if c.ProcessState == nil {
		return exit, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	exit.Code, exit.Signal = c.ProcessState.ExitCode(), signalOf(c.ProcessState)
	if errors.Is(ctx.Err(), context.Canceled) {
		return exit, ctx.Err()
	}
	if _, ended := errors.AsType[*exec.ExitError](err); err == nil || ended || exit.TimedOut {
		return exit, nil // how it ended is the answer, not a fault of ours
	}
	return exit, fmt.Errorf("running %s: %w", cmd.Path, err)
}

var _ toolcrib.Sandbox = (*Sandbox)(nil)
