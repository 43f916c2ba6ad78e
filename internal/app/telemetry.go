package app

import (
	"cmp"
	"context"
	"log/slog"
	"os"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/watching"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// openTelemetry has the crib watched, if that is switched on. All that it watches
// but the servers is there by then.
func (a *App) openTelemetry(_ context.Context, cfg settings.Config, needs Needs) (err error) {
	getenv := needs.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	a.watching, err = watching.Open(cfg.Telemetry, watching.Needs{
		Crib: a.Crib, Journal: a.Journal, Desk: a.Desk, Budgets: a.bounds.Used, Locked: a.keeper.Locked, Expand: a.keeper.Setting, Redact: a.redactText,
		Tools: func() int { return len(a.Specs()) }, Hub: func() *mcphub.Hub { return a.Hub },
		Getenv: getenv, State: needs.State, Version: needs.Version, Log: cmp.Or(needs.Log, slog.Default()), Calls: needs.For == ToCall,
	})
	if t := a.watching.Observer(); t != nil {
		a.closers = append(a.closers, t)
	}
	return err
}

// CheckTraces asks the collector whether it takes traces, and says where it is;
// empty: none are sent.
func (a *App) CheckTraces(ctx context.Context) (where string, err error) {
	return a.watching.Check(ctx)
}

// health is what is told of this program's health.
func (a *App) health(version string) watching.Health {
	return watching.Health{
		Crib: a.Crib, Journal: a.Journal, Hub: a.Hub, Broken: a.policy.broken.Load, Version: version,
		Tools: func() int { return len(a.Shown(toolcrib.Caller{})) }, Faults: func() int { return len(a.Faults) },
	}
}
