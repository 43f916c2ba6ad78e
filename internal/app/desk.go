package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/coding"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/desk/opened"
	"github.com/toolcrib/toolcrib/internal/desk/terms"
	"github.com/toolcrib/toolcrib/internal/ovos/node"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// openDesk opens the desk, with the vault before it.
func (a *App) openDesk(ctx context.Context, cfg settings.Config, needs Needs) error {
	d, kept, err := opened.New(ctx, cfg.Desk, opened.Needs{
		State: needs.State, Project: a.reach.Base, Auto: needs.Unattended, Ask: cfg.Limits.Ask, Terms: terms.Of(a.shellNow, a.fileOf, a.boxOf),
		RedactJSON: a.secrets.RedactJSON, RedactText: a.secrets.RedactText, Log: needs.Log,
	})
	if err != nil {
		return err
	}
	a.Desk, a.closers = d, append(a.closers, kept)
	approver := a.keeper.Approver(d)
	if needs.Approver != nil {
		approver = a.keeper.Approver(needs.Approver)
	}
	a.Crib.Approver = reachable{reach.Reachable{Crib: a.Crib, Approver: approver, ReadGit: func() bool { return cfg.Sandbox.Git != "write" && a.layerGrant() == nil }, Base: a.reach.Base}}
	return nil
}

// boxOf says whose a toolbox is, and what stands behind its name now.
func (a *App) boxOf(name string) terms.Box {
	box := terms.Box{Own: slices.Contains(a.own, name), Many: name == node.BoxName}
	if a.Hub != nil {
		if server, ok := a.Hub.Box(name); ok {
			box.SetUp = server.SetUp()
		}
	}
	if cfg := a.settings.Load(); cfg != nil {
		if api, ok := cfg.OpenAPI[name]; ok {
			box.SetUp = fmt.Sprintf("%q %q %q %q", api.Document, api.BaseURL, api.Variables, api.Hosts)
		}
	}
	return box
}

// reachable shows the desk behind it to those who show its questions, as what it wraps does.
type reachable struct{ reach.Reachable }

// Approve shows the script that a call comes from, if it does.
func (r reachable) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	return r.Reachable.Approve(ctx, coding.Shown(ctx, q))
}

func (r reachable) Desk() *desk.Desk {
	if at, ok := r.Approver.(interface{ Desk() *desk.Desk }); ok {
		return at.Desk()
	}
	return nil
}

// Watching tells the programs that share a state that a person watches all questions.
func Watching(ctx context.Context, state string) (ended <-chan struct{}) {
	return opened.Present(ctx, state)
}

// OpenDesk opens the desk alone, to look at questions and to answer them. done gives
// it back.
func OpenDesk(ctx context.Context, cfg settings.Config, state string, log *slog.Logger) (d *desk.Desk, done func() error, err error) {
	return opened.ToAnswer(ctx, cfg, state, log)
}
