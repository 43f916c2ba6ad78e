// Package opened opens the desk that the settings ask for, on the store of this
// program. It is a joint: the desk knows neither. The wiring in internal/app imports it.
package opened

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

// Needs is what a desk takes besides its settings.
type Needs struct {
	State      string // directory of the program's state
	Project    string // what "for this project" means; empty: nothing
	Auto       desk.Unattended
	Ask        time.Duration // toolcrib.Limits.Ask
	Terms      func(toolcrib.Question) desk.Terms
	RedactJSON func(json.RawMessage) json.RawMessage
	RedactText func(string) string
	Log        *slog.Logger
}

// New opens the desk. Closing the store ends it.
func New(ctx context.Context, cfg settings.Desk, needs Needs) (*desk.Desk, *store.Desk, error) {
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
		How: howToAnswer, Watched: func() bool { return watched(needs.State, time.Now()) },
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

// ToAnswer opens the desk alone, to look at questions and to answer them:
// nothing is asked there, and no toolbox is opened. done gives it back.
func ToAnswer(ctx context.Context, cfg settings.Config, state string, log *slog.Logger) (d *desk.Desk, done func() error, err error) {
	d, kept, err := New(ctx, cfg.Desk, Needs{
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
