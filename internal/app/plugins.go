package app

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/hub"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
	"github.com/toolcrib/toolcrib/internal/mcp/kit"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Plugin is a file in the folder of plugins, PluginTrial what of a program is tried,
// and PluginReport what was found.
type (
	Plugin       = hub.Plugin
	PluginTrial  = kit.Config
	PluginReport = kit.Report
)

// Plugins looks at the folder of plugins, and says where it is.
func (a *App) Plugins() (list []Plugin, dir string, err error) {
	list, err = hub.Plugins(a.plugins)
	return list, a.plugins, err
}

// CheckPlugin tries whether a program is a plugin. It is started as one.
func (a *App) CheckPlugin(ctx context.Context, program string, args []string, trial PluginTrial) PluginReport {
	name := strings.TrimSuffix(filepath.Base(program), filepath.Ext(program))
	trial.Start = func(ctx context.Context, env map[string]string, stderr io.Writer) (client.Process, error) {
		return a.launcher.Start(ctx, mcphub.Launch{Server: "check-" + name, Command: program, Args: args, Env: env, Stderr: stderr})
	}
	return kit.Run(ctx, trial)
}
