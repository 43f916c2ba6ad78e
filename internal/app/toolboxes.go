package app

import (
	"context"
	"os"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/coding"
	"github.com/toolcrib/toolcrib/internal/mcp/shelf"
	"github.com/toolcrib/toolcrib/internal/notebook"
	"github.com/toolcrib/toolcrib/internal/openapis"
	"github.com/toolcrib/toolcrib/internal/ovos/node"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
	"github.com/toolcrib/toolcrib/internal/sandboxes"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/undo"
	"github.com/toolcrib/toolcrib/toolbox/artifact"
	"github.com/toolcrib/toolcrib/toolbox/clock"
	"github.com/toolcrib/toolcrib/toolbox/delegate"
	"github.com/toolcrib/toolcrib/toolbox/files"
	"github.com/toolcrib/toolcrib/toolbox/finder"
	"github.com/toolcrib/toolcrib/toolbox/interact"
	"github.com/toolcrib/toolcrib/toolbox/math"
	"github.com/toolcrib/toolcrib/toolbox/shell"
	"github.com/toolcrib/toolcrib/toolbox/web"
)

// kind is one kind of toolbox: whether the configuration wants it, and how it
// is opened.
type kind struct {
	name    string
	enabled bool
	open    func(context.Context) (toolcrib.Toolbox, error)
}

// kinds is the one list of what Toolcrib can supply. A new toolbox is a
// package, a group in Config and a line here.
func (a *App) kinds(cfg settings.Config) []kind {
	boxes, agents := cfg.Toolboxes, shelf.Agents{}
	for name, agent := range cfg.Agents {
		if agent.Instructions != "" {
			agents[name] = agent.Instructions
		}
	}
	list := []kind{
		{shelf.AgentsBox, len(agents) > 0, func(context.Context) (toolcrib.Toolbox, error) {
			a.agents = agents
			return agents.Box(), nil
		}},
		{"artifact", cfg.Bounds.Artifacts.Enabled, func(ctx context.Context) (toolcrib.Toolbox, error) {
			return artifact.Open(ctx, artifact.Config{Page: min(50_000, int(cfg.Bounds.Text)/2)}, a.bounds.Read)
		}},
		{"clock", boxes.Clock.Enabled, with(clock.Open, clock.Config{Timezone: boxes.Clock.Timezone})},
		{delegate.Name, a.Agents != nil, func(ctx context.Context) (toolcrib.Toolbox, error) {
			return delegate.Open(ctx, delegate.Config{}, delegate.Needs{Team: a.Agents.Team()})
		}},
		{"files", boxes.Files.Enabled, with(files.Open, a.filesConfig(cfg))},
		{"interact", boxes.Interact.Enabled, with(interact.Open, interact.Config{})},
		{"math", boxes.Math.Enabled, with(math.Open, math.Config{})},
		{finder.Name, cfg.Expose != settings.ExposeFull || cfg.ExposeTools > 0 || len(openapis.Aside(cfg)) > 0, func(ctx context.Context) (toolcrib.Toolbox, error) {
			return finder.Open(ctx, finder.Config{}, finder.Needs{Tools: a.Findable, Past: a.past(), Log: a.Crib.Log})
		}},
		{notebook.MemoryBox, notebook.WantsMemory(cfg), func(ctx context.Context) (toolcrib.Toolbox, error) { return a.Notebook.OpenMemory(ctx, boxes.Memory) }},
		{notebook.NotesBox, boxes.Notes.Enabled, func(ctx context.Context) (toolcrib.Toolbox, error) { return a.Notebook.OpenNotes(ctx, boxes.Notes) }},
		{"skill", boxes.Skill.Enabled, func(ctx context.Context) (toolcrib.Toolbox, error) {
			return a.openSkill(ctx, cfg, a.shown(cfg))
		}},
		{ownTools, boxes.Tools.Enabled, func(ctx context.Context) (toolcrib.Toolbox, error) { return a.openTools(ctx, cfg, ownTools) }},
		{projectTools, boxes.Tools.Enabled && boxes.Tools.Project, func(ctx context.Context) (toolcrib.Toolbox, error) { return a.openTools(ctx, cfg, projectTools) }},
		{"web", boxes.Web.Enabled, with(web.Open, web.Config{Engine: boxes.Web.Engine, Endpoint: boxes.Web.Endpoint, Secret: boxes.Web.Secret, Shown: a.shown(cfg), Ready: a.searchReady()})},
		{"ovosbox", boxes.OvosBox.Enabled, func(ctx context.Context) (toolcrib.Toolbox, error) {
			return node.OpenBox(ctx, boxes.OvosBox, cfg.Bus, node.BoxNeeds{Expand: a.keeper.Expand, Own: a.hosted.Has, Log: a.Crib.Log})
		}},
		{"shell", boxes.Shell.AllowShell, func(ctx context.Context) (toolcrib.Toolbox, error) {
			return a.openShell(ctx, cfg)
		}},
	}
	for _, k := range coding.Kinds(cfg, a.coding(cfg)) {
		list = append(list, kind{k.Name, k.Enabled, k.Open})
	}
	return list
}

// openSpill makes room where commands are run.
func (a *App) openSpill(_ context.Context, cfg settings.Config, needs Needs) (err error) {
	if !cfg.Toolboxes.Shell.AllowShell {
		return nil
	}
	if a.spill, err = sandboxes.OpenOutput(needs.State); err == nil {
		a.closers = append(a.closers, a.spill)
	}
	return err
}

// openShell keeps the box: its guard has to know what was typed into jobs.
func (a *App) openShell(ctx context.Context, cfg settings.Config) (toolcrib.Toolbox, error) {
	var spill *os.Root
	if a.spill != nil {
		spill = a.spill.Root
	}
	own := shell.Config{Shell: commandShell, Layers: a.layers, MaxTimeout: cfg.Toolboxes.Shell.MaxTimeout, JobTime: cfg.Toolboxes.Shell.JobTime, Env: a.chains.Environment(cfg.Toolboxes.Shell, a.bounded, a.reach.Dirs, a.registries)}
	if cfg.HidesSecrets() {
		own.Mark, own.Hide = secrets.Mark, func(text string) ([]shell.Span, error) { return hiddenIn[shell.Span](a, text) }
	}
	box, err := shell.Open(ctx, own, shell.Needs{Spill: spill})
	if err != nil {
		return nil, err
	}
	a.shell = box
	return box, nil
}

// filesConfig tells the box of files what its callers are not shown. Where
// secrets are shown no text is a mark.
func (a *App) filesConfig(cfg settings.Config) files.Config {
	store := &undo.Store{State: a.state, Bytes: cfg.Journal.Undo}
	keep := func(k files.Kept) { store.Tell(undo.Change(k), a.Crib.Log) }
	if !cfg.HidesSecrets() {
		return files.Config{Keep: keep}
	}
	return files.Config{
		Keep:  keep,
		Mark:  secrets.Mark,
		Hide:  func(text string) ([]files.Span, error) { return hiddenIn[files.Span](a, text) },
		Again: func() files.Again { return &secrets.Memory[files.Span]{} },
	}
}

// hiddenIn finds what is hidden in a text, in the words of a toolbox.
func hiddenIn[S files.Span | shell.Span](a *App, text string) ([]S, error) {
	found, err := a.secrets.Find(text)
	return secrets.Spans[S](found), err
}

// shown gives a part of a text with marks in the place of what is hidden in it or
// reaches into it: a part of a key does not look like one. Nil: nothing is hidden.
func (a *App) shown(cfg settings.Config) func(text string, from, to int) (string, error) {
	if !cfg.HidesSecrets() {
		return nil
	}
	return func(text string, from, to int) (string, error) {
		found, err := a.secrets.Find(text)
		if err != nil {
			return "", err
		}
		var out strings.Builder
		for _, f := range found {
			if f.End <= from || f.Start >= to {
				continue
			}
			out.WriteString(text[from:max(from, f.Start)])
			out.WriteString(secrets.Mark)
			from = min(f.End, to)
		}
		return out.String() + text[from:to], nil
	}
}

// with binds a box's own configuration to its Open.
func with[C any, B toolcrib.Toolbox](open func(context.Context, C) (B, error), cfg C) func(context.Context) (toolcrib.Toolbox, error) {
	return func(ctx context.Context) (toolcrib.Toolbox, error) {
		box, err := open(ctx, cfg)
		if err != nil {
			return nil, err
		}
		return box, nil
	}
}

// commandShell reads the command lines: the guard knows what it does.
const commandShell = "/bin/sh"
