package app

import (
	"context"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/agents"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// openAgents makes what opens agents: presets, models and sessions put together. Its
// guard refuses what agents at work may not do.
func (a *App) openAgents(_ context.Context, cfg settings.Config, needs Needs) error {
	own := agents.Needs{
		Crib: a.Crib, Shown: a.Shown, Told: func(toolcrib.Caller) string { return a.Instructions() }, Project: a.reach.Base, Load: agents.MachineLoad, Lenient: dialect.Lenient, Log: needs.Log, Read: a.Notebook.Read, Carry: a.Notebook.Carry,
		Settings: func() settings.Config {
			if now := a.policy.settings.Load(); now != nil {
				return *now
			}
			return cfg
		},
	}
	own.Skills = func(ctx context.Context) (list []agents.Skill) {
		if box := a.SkillBox(); box != nil {
			found, _ := box.Skills(ctx) // what cannot be read is told by the tools about skills
			for _, s := range found {
				list = append(list, agents.Skill{Name: s.Name, Description: s.Description, Own: s.Scope != skill.ScopeProject})
			}
		}
		return list
	}
	if needs.For == ToCall {
		own.Questions = agents.Questions(a.Desk)
		own.Model = func(_ context.Context, name string, caller toolcrib.Caller, parent string) (agents.Model, error) {
			m, err := a.Models.Model(name, caller)
			if err != nil {
				return nil, err
			}
			m.Parent = parent
			return m, nil
		}
	}
	if cfg.Sessions.Keep && needs.For == ToCall {
		store := sessionsOf(cfg, needs.State)
		store.Redact, store.Locked = a.secrets.RedactJSON, a.keeper.Locked
		own.Sessions = sessions.New(store)
	}
	a.Agents = agents.New(own)
	a.Crib.Guards, a.Crib.Around = append(a.Crib.Guards, a.Agents.Guard()), append(a.Crib.Around, a.Agents.Around)
	return nil
}

// ModeOf is the mode that holds for a caller, and what holds it down; empty: nothing does.
func (a *App) ModeOf(c toolcrib.Caller) (mode, why string) {
	p := a.policy.live.Policy()
	if p == nil {
		return "", ""
	}
	return p.Mode(toolcrib.Call{Caller: c}).String(), p.ModeBy(toolcrib.Call{Caller: c})
}

// choices are the modes and profiles that people choose for sessions.
type choices struct{ *App }

func (c choices) Chosen(caller toolcrib.Caller) (mode, profile string) {
	return c.Agents.Chosen(caller)
}

// sessionsOf says where sessions lie.
func sessionsOf(cfg settings.Config, state string) sessions.Config {
	return sessions.Config{Dir: filepath.Join(state, "sessions"), MaxBytes: cfg.Sessions.MaxSize, MaxAge: cfg.Sessions.MaxAge, Sync: cfg.Journal.Sync}
}

// OpenSessions opens the stored sessions alone, to look at them: nothing is said in them.
func OpenSessions(cfg settings.Config, state string) *sessions.Store {
	return sessions.New(sessionsOf(cfg, state))
}
