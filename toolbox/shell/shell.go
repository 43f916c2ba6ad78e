// Package shell runs command lines: one at a time with run_command, and in the
// background with start_command and its companions. Programs and internal/app
// import it.
//
// Its one invariant: a program is started only through the handle the call was
// given (Env.Exec), so where it runs, what it can reach and when it ends is the
// sandbox's word. Whether a line may run at all is the shell guard's.
package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Config sets up the box. The zero value of each field is its default.
type Config struct {
	Shell      string        // the program that reads a command line; default /bin/sh
	MaxTimeout time.Duration // the longest a command may run; default 120 s
	Env        []string      // the whole environment of a command; default PATH, LANG and TERM
	Output     int           // bytes of each stream kept in a result, half from its beginning and half from its end; default 64 KiB
	Spill      int64         // bytes of each stream kept on disk beyond that; default 64 MiB
	Jobs       int           // background commands at once for one caller; default 8
	JobTime    time.Duration // the longest a background command may live; default 1 h

	// Layers tells whether commands run on layers (see Cmd.OnLayer). Nil: they do not.
	Layers func() bool

	// Hide finds the parts of an output that callers are not shown, in order and
	// apart, and Mark is what they see in the place of each. Nil: everything is
	// shown.
	Hide func(text string) ([]Span, error)
	Mark string // empty: [redacted]
}

// Needs is what the box is handed besides.
type Needs struct {
	// Spill is the directory that holds what of an output does not fit into a
	// result. Nil: that part is dropped.
	Spill *os.Root
}

func (c Config) filled() Config {
	c.Shell = cmp.Or(c.Shell, "/bin/sh")
	c.MaxTimeout = cmp.Or(c.MaxTimeout, 120*time.Second)
	c.Output = cmp.Or(c.Output, 64<<10)
	c.Spill = cmp.Or(c.Spill, 64<<20)
	c.Jobs = cmp.Or(c.Jobs, 8)
	c.JobTime = cmp.Or(c.JobTime, time.Hour)
	c.Mark = cmp.Or(c.Mark, "[redacted]")
	if c.Env == nil {
		c.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TERM=dumb"}
	}
	return c
}

// Box is the toolbox.
type Box struct {
	cfg    Config
	spill  *os.Root
	jobs   jobs
	ctx    context.Context // of background commands
	cancel context.CancelFunc
}

// Open makes the box. Closing it ends every background command.
func Open(_ context.Context, cfg Config, needs Needs) (*Box, error) {
	if cfg.MaxTimeout < 0 || cfg.Output < 0 || cfg.Spill < 0 || cfg.Jobs < 0 || cfg.JobTime < 0 {
		return nil, errors.New("shell: a bound is negative")
	}
	b := &Box{cfg: cfg.filled(), spill: needs.Spill}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b, nil
}

// Name is the box's name.
func (b *Box) Name() string { return "shell" }

// Tools lists the box's tools.
func (b *Box) Tools(context.Context) ([]toolcrib.Tool, error) {
	return []toolcrib.Tool{
		b.runCommand(), b.startCommand(), b.commandOutput(), b.commandInput(), b.stopCommand(),
	}, nil
}

// Close ends every background command and removes what was spilled.
func (b *Box) Close() error {
	b.cancel()
	b.jobs.close()
	return nil
}

// command is the call of the shell for one line.
func (b *Box) command(env *toolcrib.Env, line, dir string) (toolcrib.Cmd, error) {
	if env.Exec == nil {
		return toolcrib.Cmd{}, errors.New("this call was not granted any program to run; allow the shell in the configuration (toolboxes.shell.allow_shell)")
	}
	at, err := workingDir(env, dir)
	if err != nil {
		return toolcrib.Cmd{}, err
	}
	return toolcrib.Cmd{Path: b.cfg.Shell, Args: []string{"-c", line}, Dir: at, Env: b.cfg.Env, OnLayer: b.onLayers()}, nil
}

func (b *Box) onLayers() bool { return b.cfg.Layers != nil && b.cfg.Layers() }

// workingDir is the directory a line runs in: a granted one, after links, so
// that the sandbox is handed the place that was looked at.
func workingDir(env *toolcrib.Env, dir string) (string, error) {
	if env.Files == nil {
		return "", errors.New("no directory was granted to run commands in; grant one in the configuration (grant.write or grant.read)")
	}
	dir = cmp.Or(dir, ".")
	info, err := env.Files.Stat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%q is not a directory", dir)
	}
	return env.Files.Real(dir)
}
