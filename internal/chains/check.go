package chains

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolchains"
)

// Check is what a project needs, and how it does in the sandbox.
type Check struct {
	toolchains.Need
	Checks []ProgramCheck
	// Entry is what sandbox.toolchains lacks; empty: nothing that would help.
	Entry string
	// Online: the packages it needs can be fetched by commands.
	Online bool
}

// ProgramCheck is one program of a tool chain.
type ProgramCheck struct {
	Name    string
	Path    string // where commands find it; empty: nowhere
	Version string // what it says of itself
	Fault   string // why it does not work
}

// checkTime is how long a program may take to tell its version: a JVM, or a shim
// that looks its tool chain up, on a machine that is busy.
const checkTime = time.Minute

// Report is how the tool chains of the project do.
type Report struct {
	Base                     string // the directory that commands run in; empty: none
	Chains                   []Check
	ProjectPrograms, Trusted int // programs in the project, and those that rules hold for
	Cache                    toolchains.Cache
	CommitsAs                bool // git is told who commits
}

// Report looks at all of it. The options are those of the guard.
func (c *Chains) Report(ctx context.Context, cfg settings.Config, opt shellguard.Options, run Run) Report {
	r := Report{Base: c.Base, Cache: c.Cache(), CommitsAs: c.Shown.Git != "" || cfg.Toolboxes.Shell.Env["GIT_AUTHOR_EMAIL"] != ""}
	r.ProjectPrograms, r.Trusted = c.ProjectPrograms(opt)
	r.Chains = c.Try(ctx, cfg, run)
	return r
}

// Run runs a program as those of commands are run.
type Run func(ctx context.Context, cmd toolcrib.Cmd) (toolcrib.Exit, error)

// Try tries the tool chains that the project needs.
func (c *Chains) Try(ctx context.Context, cfg settings.Config, run Run) []Check {
	var out []Check
	look := shellguard.LookIn(c.search()...)
	for _, need := range toolchains.Needs(c.Base) {
		found := Check{Need: need, Online: need.Registry == "" || slices.Contains(cfg.Grant.Hosts, "*") || slices.Contains(cfg.Grant.Hosts, need.Registry)}
		broken := false
		for _, program := range need.Programs {
			p := ProgramCheck{Name: program[0]}
			if path, err := look(p.Name); err != nil {
				p.Fault = "commands do not find it"
			} else if p.Path = path; p.Path != "" {
				p.Version, err = versionOf(ctx, run, toolcrib.Cmd{Path: path, Args: program[1:], Dir: c.Base})
				if err != nil {
					p.Fault = err.Error()
				}
			}
			broken = broken || p.Fault != ""
			found.Checks = append(found.Checks, p)
		}
		if broken && !slices.Contains(cfg.Sandbox.Chains, need.Chain) {
			if chain, err := c.machine.Find(need.Chain); err == nil && len(chain.Bin) > 0 {
				found.Entry = need.Chain
			}
		}
		out = append(out, found)
	}
	return out
}

// versionOf runs a program and gives the first line that it prints.
func versionOf(ctx context.Context, run Run, cmd toolcrib.Cmd) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	exit, err := run(ctx, cmd)
	first := ""
	for line := range strings.Lines(out.String() + "\n" + complaints.String()) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "Picked up ") {
			first = text.ShowLine(line)
			break
		}
	}
	switch {
	case err != nil:
		return "", err
	case exit.TimedOut:
		return "", errors.New("it did not end")
	case exit.Code != 0:
		return "", fmt.Errorf("it ended with status %d: %s", exit.Code, first)
	}
	return first, nil
}

// ProjectPrograms counts the programs in the project that rules could be about, and
// those of them that count by the guard's options.
func (c *Chains) ProjectPrograms(opt shellguard.Options) (all, trusted int) {
	for _, path := range toolchains.ProjectPrograms(c.Base) {
		if all++; opt.Project(path) == nil {
			trusted++
		}
	}
	return all, trusted
}

// Cache is that of the project; its directory is empty where there is none.
func (c *Chains) Cache() toolchains.Cache {
	if c.Shown.Cache == "" {
		return toolchains.Cache{}
	}
	return toolchains.Cache{Project: c.Base, Dir: filepath.Dir(c.Shown.Cache)}
}
