package app

import (
	"context"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/chains"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolchains"
)

// CachesDir is where the build caches of all projects lie.
func CachesDir(state string) string { return filepath.Join(state, "caches") }

// TrustedPrograms is the list of programs in projects that the person has looked at.
func TrustedPrograms(state string) toolchains.Programs {
	return toolchains.Programs{
		Path:  filepath.Join(state, "programs.json"),
		Seals: func(write bool) (*seal.Box, error) { return OpenSeals(state, write) },
	}
}

// openChains looks the tool chains up that the settings name.
func openChains(cfg settings.Config, needs Needs, r reach.Reach) (chains.Chains, []toolcrib.LoadError, error) {
	own := chains.Needs{Start: needs.start(), Base: r.Base, Writable: writable(r.Dirs), Make: needs.For == ToCall}
	if needs.State != "" {
		own.Programs, own.Caches = TrustedPrograms(needs.State), CachesDir(needs.State)
	}
	return chains.Open(cfg, own)
}

// ToolchainCheck is how one tool chain does.
type ToolchainCheck = chains.Check

// ToolchainReport is how the tool chains of the project do.
type ToolchainReport struct {
	Base                     string // the directory that commands run in; empty: none
	Chains                   []ToolchainCheck
	ProjectPrograms, Trusted int // programs in the project, and those that rules hold for
	Cache                    toolchains.Cache
	CommitsAs                bool // git is told who commits
}

// CheckToolchains tries the tool chains that the project needs, in the sandbox.
func (a *App) CheckToolchains(ctx context.Context, cfg settings.Config) (ToolchainReport, error) {
	shell := shellConfig(cfg.Toolboxes.Shell, true, a.reach.Dirs, a.registries)
	guard, err := a.shellGuard(cfg.Toolboxes.Shell)
	if err != nil {
		return ToolchainReport{}, err
	}
	r := ToolchainReport{Base: a.reach.Base, Cache: a.chains.Cache(), CommitsAs: a.chains.Shown.Git != "" || cfg.Toolboxes.Shell.Env["GIT_AUTHOR_EMAIL"] != ""}
	r.ProjectPrograms, r.Trusted = a.chains.ProjectPrograms(guard.Options)
	r.Chains = a.chains.Try(ctx, cfg, func(ctx context.Context, cmd toolcrib.Cmd) (toolcrib.Exit, error) {
		cmd.Tool, cmd.Env = "run_command", a.chains.OnPath(shell.Env)
		return a.Sandbox.Run(ctx, cmd, a.ProgramGrant())
	})
	return r, nil
}
