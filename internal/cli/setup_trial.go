package cli

import (
	"context"
	"errors"
	"io"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/setup"
)

// setupAnswered are the servers that have said what they offer, as they are set up now.
func (c *command) setupAnswered(ctx context.Context) (map[string]bool, error) {
	c.loaded = nil // a step before may have changed it
	a, err := c.hub(ctx)
	if err != nil {
		return nil, err
	}
	defer c.closeApp(ctx, a)
	answered := map[string]bool{}
	for _, r := range a.Hub.Rows() {
		answered[r.Name] = r.Listed
	}
	return answered, nil
}

// setupUnpassed are the variables that servers may need and do not get.
func (c *command) setupUnpassed() (list []setup.Variables, err error) {
	c.loaded = nil
	loaded, _, err := c.load()
	if err != nil {
		return nil, err
	}
	for _, u := range app.UnpassedVariables(loaded.Value) {
		list = append(list, setup.Variables(u))
	}
	return list, nil
}

// setupTrial opens these servers, and no others, so that each can be started once. Nobody
// is asked to log in: setup opens no login pages.
func (c *command) setupTrial(ctx context.Context, names []string) (*setup.Trial, error) {
	c.loaded = nil
	silent := *c
	silent.err = io.Discard // why a server fails is told once, by the step
	fetches := map[string]string{}
	a, err := silent.openFor(ctx, app.ToCall, func(cfg *settings.Config, _ *app.Needs) {
		cfg.Hub.Wait = 0
		only := map[string]settings.MCPServer{}
		for _, name := range names {
			server, ok := cfg.MCPServers[name]
			if !ok {
				continue
			}
			if limit, ok := c.startLimit[name]; ok {
				server.StartTimeout = limit
			}
			only[name], fetches[name] = server, app.FetchedByServer(server)
		}
		cfg.MCPServers = only
	})
	if err != nil {
		return nil, err
	}
	return &setup.Trial{
		Start:   func(ctx context.Context, name string) (setup.Tools, error) { return startOnce(ctx, a, name) },
		Fetches: func(name string) string { return fetches[name] },
		Close:   func(ctx context.Context) { silent.closeApp(ctx, a) },
	}, nil
}

// startOnce starts a server, confirms what its tools are proposed to do without doubt, and
// ends it.
func startOnce(ctx context.Context, a *app.App, name string) (got setup.Tools, err error) {
	b, ok := a.Hub.Box(name)
	if !ok {
		for _, f := range a.Faults {
			if f.Box == name {
				return got, f.Err
			}
		}
		return got, errors.New("its settings are invalid; 'toolcrib hub' shows the reason")
	}
	if err := b.Refresh(ctx); err != nil {
		return got, startFailure(err)
	}
	b.Restart() // which ends it: nobody calls it again here
	status := b.Status()
	got.Count, got.Held = status.Tools, status.Held
	list := b.Classify()
	for _, t := range list {
		if t.From == "" && (t.Doubt != "" || t.Proposed == 0) {
			got.Doubted++
		}
	}
	if open := proposals(list); len(open) > 0 {
		done, err := b.ConfirmEffects(open)
		if err != nil {
			return got, err
		}
		got.Confirmed = len(done)
	}
	return got, nil
}

// startFailure says why a server did not start, in parts.
func startFailure(err error) error {
	if f, ok := errors.AsType[*app.StartError](err); ok {
		return &setup.Failure{Why: f.Why, Wrote: f.Wrote, Help: f.Help}
	}
	if e, ok := toolcrib.AsError(err); ok {
		return errors.New(e.Message)
	}
	return err
}
