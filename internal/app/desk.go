package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/desk/terms"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

// unattended reads the setting; auto is the frontend's word.
func unattended(c settings.Desk, auto desk.Unattended) desk.Unattended {
	switch c.Unattended {
	case "leave":
		return desk.Leave
	case "await":
		return desk.Await
	case "auto":
		return auto
	}
	return desk.Refuse
}

// deskNeeds is what a desk takes besides its settings.
type deskNeeds struct {
	State      string // directory of the program's state
	Project    string // what "for this project" means; empty: nothing
	Auto       desk.Unattended
	Ask        time.Duration // toolcrib.Limits.Ask
	Terms      func(toolcrib.Question) desk.Terms
	RedactJSON func(json.RawMessage) json.RawMessage
	RedactText func(string) string
	Log        *slog.Logger
}

// openDesk opens the desk, with the vault before it.
func (a *App) openDesk(ctx context.Context, cfg settings.Config, needs Needs) error {
	d, kept, err := newDesk(ctx, cfg.Desk, deskNeeds{
		State: needs.State, Project: a.reach.Base, Auto: needs.Unattended, Ask: cfg.Limits.Ask, Terms: terms.Of(a.shellNow, a.fileOf),
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
	a.Crib.Approver = reachable{reach.Reachable{Crib: a.Crib, Approver: approver}}
	return nil
}

// reachable shows the desk behind it to those who show its questions, as what it wraps does.
type reachable struct{ reach.Reachable }

func (r reachable) Desk() *desk.Desk {
	if at, ok := r.Approver.(interface{ Desk() *desk.Desk }); ok {
		return at.Desk()
	}
	return nil
}

// newDesk opens the desk. Closing the store ends it.
func newDesk(ctx context.Context, cfg settings.Desk, needs deskNeeds) (*desk.Desk, *store.Desk, error) {
	kept, err := sqlite.OpenDesk(ctx, deskStore(needs.State, needs.Log))
	if err != nil {
		return nil, nil, err
	}
	// The crib gives up after Ask; who gives up first can say where the question is.
	wait := cmp.Or(needs.Ask, 5*time.Minute)
	wait -= min(time.Second, wait/10)
	d, err := desk.New(desk.Config{
		Store: kept, RedactJSON: needs.RedactJSON, RedactText: needs.RedactText, Terms: needs.Terms,
		Project: needs.Project, Unattended: unattended(cfg, needs.Auto),
		Wait: wait, Alone: min(cfg.Wait, wait), Expire: cfg.Expire, AnswerFor: cfg.AnswerFor,
		SessionFor: cfg.SessionFor, ProjectFor: cfg.ProjectFor, AlwaysFor: cfg.AlwaysFor,
		How: howToAnswer,
		Log: needs.Log,
	})
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("opening the desk: %w", err), kept.Close())
	}
	return d, kept, nil
}

// howToAnswer is what a model is told to pass on.
func howToAnswer(id string, own bool) string {
	if own {
		return "'toolcrib approvals allow " + id + " -m ANSWER'"
	}
	return "'toolcrib approvals allow " + id + "'"
}

// deskStore says where questions and grants lie: as for the journal, the
// database and the key that proves its rows are kept apart.
func deskStore(state string, log *slog.Logger) store.Config {
	return store.Config{Dir: filepath.Join(state, "desk"), Keys: filepath.Join(state, "desk-key"), Log: log}
}

// OpenDesk opens the desk alone, to look at questions and to answer them:
// nothing is asked there, and no toolbox is opened. done gives it back.
func OpenDesk(ctx context.Context, cfg settings.Config, state string, log *slog.Logger) (d *desk.Desk, done func() error, err error) {
	d, kept, err := newDesk(ctx, cfg.Desk, deskNeeds{
		State: state, Log: log,
		// Nothing is shown for the first time here, so that nothing is left to hide.
		RedactJSON: func(text json.RawMessage) json.RawMessage { return text },
		RedactText: func(text string) string { return text },
	})
	if err != nil {
		return nil, nil, err
	}
	return d, kept.Close, nil
}
