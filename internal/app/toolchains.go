package app

import (
	"context"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/chains"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolchains"
)

// TrustedPrograms is the list of programs in projects that the person has looked at.
func TrustedPrograms(state string) toolchains.Programs {
	return toolchains.TrustedPrograms(state, func(write bool) (*seal.Box, error) { return seal.OfState(state, write) })
}

// ToolchainCheck is how one tool chain of the project does.
type ToolchainCheck = chains.Check

// CheckToolchains tries the tool chains that the project needs, in the sandbox. A
// project can say which program a tool starts (rust-toolchain.toml, yarnPath), and
// nobody is asked here, so that they may only read and have no network.
func (a *App) CheckToolchains(ctx context.Context, cfg settings.Config) (chains.Report, error) {
	guard, err := a.shellGuard(cfg.Toolboxes.Shell)
	if err != nil {
		return chains.Report{}, err
	}
	grant := a.ProgramGrant()
	grant.Hosts, grant.Dirs = nil, slices.Clone(grant.Dirs)
	for i := range grant.Dirs {
		grant.Dirs[i].Write = false
	}
	return a.chains.Report(ctx, cfg, guard.Options, func(ctx context.Context, cmd toolcrib.Cmd) (toolcrib.Exit, error) {
		cmd.Tool, cmd.Env = "run_command", a.chains.Environment(cfg.Toolboxes.Shell, true, a.reach.Dirs, a.registries)
		return a.Sandbox.Run(ctx, cmd, grant)
	}), nil
}
