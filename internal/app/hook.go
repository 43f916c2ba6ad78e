package app

import (
	"context"
	"os"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/hooked"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/hub"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/finder"
)

// openHooked makes this a crib for one message of a client's hook.
func (a *App) openHooked(ctx context.Context, cfg settings.Config, needs Needs) error {
	list, _ := hub.Servers(cfg, hub.PluginDir(cfg.Hub, needs.Config), boxNames())
	a.reach.SetOwn(cfg, list, &reach.Launcher{
		Env: os.LookupEnv, Path: needs.Path, Home: needs.Home, Dir: needs.Dir, Grant: a.Crib.Grant, Log: needs.Log, Rules: a.outOfReach, Outside: reach.Outside{Finder: hostpath.Finder{Writable: a.reach.CommandsWrite}, Home: needs.Home, Dir: needs.Dir},
	})
	return hooked.Shelve(ctx, a.Crib, needs.Hook.Event, a.own, cfg.Tools.Disable, hooked.Checks{Search: func(call toolcrib.Call, granted *files.Handle, look func(*files.Handle) error) error {
		return a.reach.Search(a.policy.live.Policy(), call, granted, look)
	}})
}

// hookApprover asks nobody about what the client may not do whatever they say.
func (a *App) hookApprover(of toolcrib.Approver) toolcrib.Approver {
	return a.keeper.Approver(reach.Reachable{Crib: a.Crib, Approver: of, Elsewhere: true})
}

// Hook judges, or records, what a client does with its own tools.
func (a *App) Hook(ctx context.Context, cfg settings.Config, needs Needs) (hooked.Word, string) {
	needs.Unattended = desk.Leave
	open := sync.OnceValues(func() (toolcrib.Approver, error) {
		err := a.openDesk(ctx, cfg, needs)
		return a.Desk, err
	})
	return (&hooked.Judge{Crib: a.Crib, Approver: a.hookApprover, Desk: open, Hidden: a.Hidden}).Say(ctx, needs.Hook)
}

// Serves reports whether a tool has exactly this name for some client of ours, in one of
// the dialects or as one that stands for others.
func (a *App) Serves(name string) bool {
	shelves := toolcrib.Crib{Catalog: a.Crib.Catalog}
	for _, d := range dialect.Names() {
		for spec := range shelves.Tools(toolcrib.Caller{Dialect: d}) {
			if spec.Name == name {
				return true
			}
		}
	}
	return name == finder.CallTool().Name
}
