package seatbelt

import (
	"context"
	"os"
	"runtime"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// Program is what holds a program to a profile.
const Program = "/usr/bin/sandbox-exec"

// Config sets it up.
type Config struct {
	Shield *sandbox.Shield
	// Plain runs a program as a plain process.
	Plain func(ctx context.Context) (toolcrib.Sandbox, error)
}

// Sandbox is the sandbox of macOS.
type Sandbox struct {
	cfg   Config
	plain toolcrib.Sandbox
}

// Open looks whether the sandbox can be had.
func Open(ctx context.Context, cfg Config) (*Sandbox, error) {
	if runtime.GOOS != "darwin" {
		return nil, sandbox.Unavailable("the seatbelt sandbox needs macOS, this is "+runtime.GOOS+": use another backend", nil)
	}
	if _, err := os.Stat(Program); err != nil {
		return nil, sandbox.Unavailable("the seatbelt sandbox needs "+Program, err)
	}
	plain, err := cfg.Plain(ctx)
	if err != nil {
		return nil, err
	}
	return &Sandbox{cfg: cfg, plain: plain}, nil
}

// Probe says what a person who chose it has to know.
func Probe(ctx context.Context, cfg Config) []sandbox.Finding {
	if _, err := Open(ctx, cfg); err != nil {
		return nil
	}
	return []sandbox.Finding{{Name: "trial", Text: "it was written by the documentation and has not yet been tried on a Mac: see docs/other-systems.md"}}
}

// Enforces is files and the network: neither memory nor the number of processes is
// bounded, and a program with a session of its own outlives the deadline.
func (*Sandbox) Enforces() toolcrib.Bounds { return toolcrib.BoundFiles | toolcrib.BoundNetwork }

// Run runs a program under a profile of its own.
func (s *Sandbox) Run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	if missing := grant.Bounds &^ s.Enforces(); missing != 0 {
		return toolcrib.Exit{}, sandbox.Unavailable("the seatbelt sandbox does not bound all that this call was granted under", nil)
	}
	if len(grant.Unmade) > 0 {
		grant.Fixed = slices.Concat(grant.Fixed, grant.Unmade)
	}
	covering, err := s.cfg.Shield.LookAt(grant)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	wrapped, err := Wrap(cmd, grant, covering.Covers)
	if err != nil {
		return toolcrib.Exit{}, err
	}
	exit, err := s.plain.Run(ctx, wrapped, toolcrib.Grant{Time: grant.Time, Dirs: grant.Dirs})
	exit.Notes = slices.Concat(exit.Notes, covering.Notes, covering.Made())
	return exit, err
}

// Wrap makes the command that runs a program under its profile.
func Wrap(cmd toolcrib.Cmd, grant toolcrib.Grant, covers []sandbox.Cover) (toolcrib.Cmd, error) {
	all := slices.Contains(grant.Hosts, "*")
	if len(grant.Hosts) > 0 && !all {
		return cmd, sandbox.Unavailable("the seatbelt sandbox gives a program all of the network or none, not single hosts: grant * or no host, or use the container backend", nil)
	}
	if cmd.Path == "" || cmd.Path[0] != '/' {
		return cmd, sandbox.Unavailable("the program "+cmd.Path+" has no absolute path", nil)
	}
	profile, err := Profile(Plan{Dirs: slices.Clone(grant.Dirs), Covers: covers, Denied: grant.Denied, Fixed: grant.Fixed, Network: all})
	if err != nil {
		return cmd, sandbox.Unavailable("no profile can be written for what was granted", err)
	}
	if cmd.Dir == "" {
		cmd.Dir = sandbox.WorkDir(cmd, toolcrib.Grant{Dirs: append([]files.Dir{}, grant.Dirs...)})
	}
	cmd.Args = append([]string{"-p", profile, cmd.Path}, cmd.Args...)
	cmd.Path = Program
	return cmd, nil
}
