package app

import (
	"context"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/agents"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// openAgents makes what opens agents: presets, models and sessions put together.
func (a *App) openAgents(_ context.Context, cfg settings.Config, needs Needs) error {
	own := agents.Needs{
		Crib: a.Crib, Shown: a.Shown, Told: func(toolcrib.Caller) string { return a.Instructions() }, Project: a.reach.Base, Log: needs.Log,
		Settings: func() settings.Config {
			if now := a.settings.Load(); now != nil {
				return *now
			}
			return cfg
		},
	}
	if cfg.Sessions.Keep && needs.For == ToCall {
		store := sessionsOf(cfg, needs.State)
		store.Redact, store.Locked = a.secrets.RedactJSON, a.keeper.Locked
		own.Sessions = sessions.New(store)
	}
	a.Agents = agents.New(own)
	return nil
}

// sessionsOf says where sessions lie.
func sessionsOf(cfg settings.Config, state string) sessions.Config {
	return sessions.Config{Dir: filepath.Join(state, "sessions"), MaxBytes: cfg.Sessions.MaxSize, MaxAge: cfg.Sessions.MaxAge, Sync: cfg.Journal.Sync}
}

// OpenSessions opens the stored sessions alone, to look at them: nothing is said in them.
func OpenSessions(cfg settings.Config, state string) *sessions.Store {
	return sessions.New(sessionsOf(cfg, state))
}
