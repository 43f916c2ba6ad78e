package app

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/guards"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// openSafety puts the safety layer into the crib. Policy, sandbox and vault are
// there by then.
func (a *App) openSafety(ctx context.Context, cfg settings.Config, needs Needs) error {
	found := safety.Secrets{Scanner: a.early.ScannerOr(sync.OnceValues(secrets.New)), Known: a.keeper.Redaction}
	var arguments, results safety.SecretMode
	if err := arguments.UnmarshalText([]byte(cfg.Safety.Secrets.Arguments)); err != nil {
		return settings.Bad(fmt.Errorf("safety.secrets.arguments: %w", err))
	}
	if err := results.UnmarshalText([]byte(cfg.Safety.Secrets.Results)); err != nil {
		return settings.Bad(fmt.Errorf("safety.secrets.results: %w", err))
	}
	hooks, err := a.withSecrets(ctx, cfg.Safety.Hooks)
	if err != nil {
		return settings.Bad(err)
	}
	needsFlow := guards.FlowNeeds{Own: ownBoxes(), Persons: a.persons, Offline: a.offline(ctx, cfg), Shell: a.shellNow, Log: needs.Log}
	if needs.State != "" {
		needsFlow.Hooks = filepath.Join(needs.State, "hooks")
	}
	flow, err := guards.OpenFlow(cfg.Safety.Labels, cfg.Safety.AddLabels, cfg.Safety.Injection, cfg.Safety.Flow, hooks, needsFlow)
	if err != nil {
		return settings.Bad(err)
	}
	cfg.Bounds.Budgets = needs.Layers.OwnNames(cfg.Bounds.Budgets)
	if needs.For != ToCall {
		cfg.Bounds.Artifacts.Enabled = false // nothing is written
	}
	if a.bounds, err = guards.OpenBounds(cfg.Bounds, guards.BoundsNeeds{Most: a.Crib.Grant, Dir: filepath.Join(needs.State, "artifacts"), Locked: a.keeper.Locked, Log: needs.Log}); err != nil {
		return err
	}
	a.closers = append(a.closers, a.bounds)
	a.secrets, a.Notebook.Flow, a.states = found, flow.Watched, flow.States
	c := a.Crib
	c.Redact, c.RedactText = found.RedactJSON, found.RedactText
	c.Limits.Depth = cfg.Bounds.Depth
	c.Guards = append(c.Guards, safety.SecretGuard{Secrets: found, Mode: arguments}, dialect.NewOWLBound(needs.Home))
	if results != safety.SecretWarn {
		c.Guards = append(c.Guards, safety.Marks{Except: []string{"files"}, Effects: needsFlow.Understood})
	}
	c.Guards = append(append(c.Guards, flow.Guards...), a.bounds.Guards...)
	// Innermost first: what is tried again is counted, and the labels of a result
	// count from the start of the run.
	c.Around = append(append(c.Around, a.bounds.Around...), flow.Around...)
	// Secrets go first, so that nothing after sees them; marks come last, so that
	// nothing cuts them off.
	vetter := safety.SecretVetter{Secrets: found, Mode: results}
	c.Vetters = append(c.Vetters, vetter)
	if len(flow.Hooks) > 0 { // a program of the user's may put anything in
		c.Vetters = append(append(c.Vetters, flow.Hooks...), vetter)
	}
	c.Vetters = append(append(c.Vetters, a.bounds.Vetter), flow.Vetters...)
	return nil
}

// openStates has hooks asked for the state beside each record. It comes after what
// measures the journal, which is not slower for it.
func (a *App) openStates(_ context.Context, _ settings.Config, needs Needs) error {
	a.Crib.Journal = guards.States{Journal: a.Crib.Journal, Hooks: a.states, Entry: a.Crib.Tool, Redact: a.secrets.RedactJSON, Locked: a.keeper.Locked, Log: needs.Log}.Open()
	return nil
}

// withSecrets puts secrets in place of the references in what hooks are sent.
func (a *App) withSecrets(ctx context.Context, hooks map[string]settings.SafetyHook) (map[string]settings.SafetyHook, error) {
	out := maps.Clone(hooks)
	for name, h := range hooks {
		for key, texts := range map[string]*map[string]string{"headers": &h.Headers, "env": &h.Env} {
			*texts = maps.Clone(*texts)
			for k, text := range *texts {
				value, err := a.keeper.Expand(ctx, text)
				if err != nil {
					return nil, fmt.Errorf("safety.hooks.%s.%s.%s: %w", name, key, k, err)
				}
				(*texts)[k] = value
			}
		}
		out[name] = h
	}
	return out, nil
}

// offline: programs that tools start have no way to other machines.
func (a *App) offline(ctx context.Context, cfg settings.Config) bool {
	if len(cfg.Grant.Hosts) > 0 || !cfg.Toolboxes.Shell.AllowShell || a.Sandbox == nil {
		return false
	}
	for _, tool := range []string{"run_command", "start_command"} {
		if a.Sandbox.Bounds(ctx, tool)&toolcrib.BoundNetwork == 0 {
			return false
		}
	}
	return true
}

// shellNow is the shell guard that holds now; nil: commands are not run.
func (a *App) shellNow() *shellguard.Guard {
	if p := a.policy.live.Policy(); p != nil {
		return p.Shell
	}
	return nil
}
