package app

import (
	"cmp"
	"context"
	"os"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/clienthook"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/desk/terms"
	"github.com/toolcrib/toolcrib/internal/hooked"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/hub"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
)

// openHooked puts the tools of a client on the shelves, and no others: this crib
// is for one message of its hook.
func (a *App) openHooked(ctx context.Context, cfg settings.Config, needs Needs) error {
	e := needs.Hook.Event
	for i := range e.Deeds {
		// Rules about a box of ours would be about a server that has its name.
		if d := &e.Deeds[i]; d.Server && (d.Box == e.Client || slices.Contains(a.own, d.Box)) {
			d.Box = "mcp__" + d.Box
		}
	}
	list, _ := hub.Servers(cfg, hub.PluginDir(cfg.Hub, needs.Config), boxNames())
	a.reach.SetOwn(cfg, list, &reach.Launcher{
		Env: os.LookupEnv, Path: cmp.Or(needs.Path, os.Getenv("PATH")), Home: needs.Home, Dir: needs.Dir, Grant: a.Crib.Grant, Log: needs.Log, Rules: a.outOfReach,
		Outside: reach.Outside{Finder: hostpath.Finder{Writable: a.reach.CommandsWrite}, Home: needs.Home, Dir: needs.Dir},
	})
	var checks clienthook.Checks
	if hosts := a.Crib.Grant.Hosts; len(hosts) > 0 {
		checks.Address = func(url string) error {
			gate := httpclient.NewGate(hosts, a.Crib.HTTP)
			defer gate.Close()
			return gate.Check(url)
		}
	}
	if _, faults := a.Crib.Catalog.Load(ctx, toolcrib.Contents{Boxes: clienthook.Boxes(e, checks), Disable: cfg.Tools.Disable}); len(faults) > 0 {
		return &faults[0]
	}
	a.Crib.Visible = func(caller toolcrib.Caller, spec *toolcrib.Entry) bool {
		// What was done is written down, whatever a profile has.
		return spec.Box == e.Client && spec.Native == clienthook.Outcome || a.seen(caller, spec)
	}
	return nil
}

// Hook judges, or records, what a client does with its own tools.
func (a *App) Hook(ctx context.Context, cfg settings.Config, needs Needs) (hooked.Word, string) {
	j := &hooked.Judge{Crib: a.Crib, Approver: a.keeper.Approver, Hidden: a.Hidden}
	j.Desk = sync.OnceValues(func() (toolcrib.Approver, error) { // most calls need none
		d, kept, err := newDesk(ctx, cfg.Desk, deskNeeds{
			State: needs.State, Project: a.reach.Base, Auto: desk.Leave, Ask: cfg.Limits.Ask, Terms: terms.Of(a.shellNow),
			RedactJSON: a.secrets.RedactJSON, RedactText: a.secrets.RedactText, Log: needs.Log,
		})
		if err != nil {
			return nil, err
		}
		a.Desk, a.closers = d, append(a.closers, kept)
		return d, nil
	})
	return j.Say(ctx, needs.Hook)
}

// early is what takes longest of opening a crib for a hook, which is started anew
// for each tool of a client: it is begun at once, beside the rest.
type early struct {
	journal func() (*store.Journal, error)
	scanner func() (*secrets.Scanner, error)
}

// Scanner begins to read the table of secrets.
func Scanner() func() (*secrets.Scanner, error) {
	scanner := sync.OnceValues(secrets.New)
	go func() { _, _ = scanner() }() // who needs it gets the error
	return scanner
}

func begin(ctx context.Context, cfg settings.Config, needs Needs) *early {
	e := &early{scanner: needs.Scanner, journal: sync.OnceValues(func() (*store.Journal, error) { return journalOf(ctx, cfg, needs) })}
	if e.scanner == nil {
		e.scanner = Scanner()
	}
	go func() { _, _ = e.journal() }()
	return e
}
