package app

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

// ChainCheck is what a project needs, and how it does in the sandbox.
type ChainCheck struct {
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

// CheckChains tries the tool chains that the project needs, in the sandbox.
func (a *App) CheckChains(ctx context.Context, cfg settings.Config) []ChainCheck {
	var out []ChainCheck
	look := shellguard.LookIn(a.chains.search()...)
	for _, need := range toolchains.Needs(a.reach.Base) {
		c := ChainCheck{Need: need, Online: need.Registry == "" || slices.Contains(cfg.Grant.Hosts, "*") || slices.Contains(cfg.Grant.Hosts, need.Registry)}
		broken := false
		for _, program := range need.Programs {
			p := ProgramCheck{Name: program[0]}
			if path, err := look(p.Name); err != nil {
				p.Fault = "commands do not find it"
			} else if p.Path = path; p.Path != "" {
				p.Version, err = a.versionOf(ctx, cfg, path, program[1:])
				if err != nil {
					p.Fault = err.Error()
				}
			}
			broken = broken || p.Fault != ""
			c.Checks = append(c.Checks, p)
		}
		if broken && !slices.Contains(cfg.Sandbox.Chains, need.Chain) {
			if found, err := a.chains.machine.Find(need.Chain); err == nil && len(found.Bin) > 0 {
				c.Entry = need.Chain
			}
		}
		out = append(out, c)
	}
	return out
}

// versionOf runs a program in the sandbox as a command would.
func (a *App) versionOf(ctx context.Context, cfg settings.Config, path string, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var out, complaints bytes.Buffer
	exit, err := a.Sandbox.Run(ctx, toolcrib.Cmd{
		Tool: "run_command", Path: path, Args: args, Dir: a.reach.Base, Stdout: &out, Stderr: &complaints,
		Env: a.chains.onPath(shellConfig(cfg.Toolboxes.Shell, true, a.reach.Dirs, cfg.Grant.Hosts).Env),
	}, a.ProgramGrant())
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
// those of them that count.
func (a *App) ProjectPrograms() (all, trusted int) {
	opt := shellguard.SystemOptions(a.reach.Base)
	opt.Writable = writable(a.reach.Dirs)
	a.chains.knownTo(&opt, a.bounded)
	for _, path := range toolchains.ProjectPrograms(a.reach.Base) {
		if all++; opt.Project(path) == nil {
			trusted++
		}
	}
	return all, trusted
}

// BuildCache is the cache of the project; its directory is empty where there is none.
func (a *App) BuildCache() toolchains.Cache {
	if a.chains.tools.Cache == "" {
		return toolchains.Cache{}
	}
	return toolchains.Cache{Project: a.reach.Base, Dir: filepath.Dir(a.chains.tools.Cache)}
}

// Base is the directory that commands run in.
func (a *App) Base() string { return a.reach.Base }

// CommitsAs tells whether commands know who commits.
func (a *App) CommitsAs(cfg settings.Config) bool {
	return a.chains.tools.Git != "" || cfg.Toolboxes.Shell.Env["GIT_AUTHOR_EMAIL"] != ""
}
