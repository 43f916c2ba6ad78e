// Package host runs programs as plain processes of this machine: in a session
// of their own, with exactly the environment they were given, no inherited
// descriptors, and gone as a whole at the deadline. It isolates nothing: a
// program that means harm can read, write, reach the network and attack us.
//
// On Linux a shim stands between us and the program. It takes in whatever the
// program's children leave behind, wherever they hide (double forks, new
// sessions), forbids gaining privileges by setuid files, and kills until
// nothing is left. Main must be called first thing in main.
//
// A program that fights back can kill the shim, or us: nothing here stands
// above it. So no bound is claimed.
//
// It may be imported by the wiring; it imports the root package and
// internal/sandbox. Its invariant: it claims nothing.
package host

import (
	"context"
	"errors"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// Config says what a program may use.
type Config struct {
	// Limits hold for each process, not for the tree, and only on Linux: they
	// help against accidents, and nothing is claimed of them. The zero value
	// sets none but that no core file is written.
	Limits sandbox.Limits
}

// Sandbox runs programs on the host.
type Sandbox struct {
	cfg Config
}

// Open checks the configuration.
func Open(_ context.Context, cfg Config) (*Sandbox, error) {
	if err := cfg.Limits.Validate(); err != nil {
		return nil, err
	}
	if startedAsShim() {
		return nil, errors.New("this process was started to be the shim of a host sandbox: its main must call host.Main first")
	}
	return &Sandbox{cfg: cfg}, nil
}

// Enforces tells what holds here.
func (s *Sandbox) Enforces() toolcrib.Bounds { return enforces }

// Run runs a program to its end or the end of its time.
func (s *Sandbox) Run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	if err := sandbox.Admit(ctx, "host", s.Enforces(), cmd, grant); err != nil {
		return toolcrib.Exit{}, err
	}
	return s.run(ctx, cmd, grant)
}
