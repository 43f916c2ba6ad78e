package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// A program that knows how can kill the shim before its children are looked
// for, so that even the deadline is not a bound that could be claimed.
const enforces toolcrib.Bounds = 0

// job is what the shim is told.
type job struct {
	Path   raw      `json:"path"`
	Args   []raw    `json:"args"` // with the program's own name
	Dir    raw      `json:"dir"`
	Env    []raw    `json:"env"`
	Limits []rlimit `json:"limits"`
}

func (s *Sandbox) run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	text, err := json.Marshal(job{
		Path: raw(cmd.Path), Args: raws(append([]string{cmd.Path}, cmd.Args...)), Env: raws(cmd.Env),
		Dir: raw(sandbox.WorkDir(cmd, grant)), Limits: rlimits(s.cfg.Limits),
	})
	if err != nil {
		return toolcrib.Exit{}, fmt.Errorf("writing the job: %w", err)
	}
	exit, err := runShim(ctx, text, cmd, grant)
	if failed, ok := errors.AsType[*startError](err); ok {
		return exit, sandbox.Unavailable(fmt.Sprintf("the program %s could not be started in %s: %s", cmd.Path, sandbox.WorkDir(cmd, grant), failed.Error()), failed)
	}
	return exit, err
}

// rlimits leaves out the number of processes: on the host it would count all
// processes of the user, not those of the program.
func rlimits(l sandbox.Limits) []rlimit {
	limits := []rlimit{{Resource: unix.RLIMIT_CORE}}
	add := func(resource int, value int64) {
		if value > 0 {
			limits = append(limits, rlimit{Resource: resource, Value: uint64(value)})
		}
	}
	add(unix.RLIMIT_DATA, l.MemoryBytes)
	add(unix.RLIMIT_FSIZE, l.FileBytes)
	add(unix.RLIMIT_CPU, int64(l.CPUSeconds))
	return limits
}

// Main turns this process into the shim if that is what it was started for,
// and then does not return.
func Main() {
	side, ok := enterShim()
	if !ok {
		return
	}
	var j job
	if err := side.read(&j); err != nil {
		side.fail("reading the job", err)
	}
	limits, err := clamp(j.Limits)
	if err != nil {
		side.fail("reading the limits", err)
	}
	// Whatever loses its parent below us becomes our child.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		side.fail("taking in orphans", err)
	}
	// A program that became another user could not be killed.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		side.fail("forbidding new privileges", err)
	}
	if err := sandbox.KeepInherited(); err != nil {
		side.fail("closing descriptors", err)
	}
	if err := os.Chdir(string(j.Dir)); err != nil {
		side.fail("entering the working directory", err)
	}
	side.deaf()
	pid, err := fork{path: string(j.Path), args: texts(j.Args), env: texts(j.Env), limits: limits}.start()
	if err != nil {
		side.fail("starting the program", err)
	}
	var hurried atomic.Bool
	side.onOrphaned(func() {
		hurried.Store(true)
		killAll()
	})
	side.finish(pid, hurried.Load, func() { go killAll() })
}
