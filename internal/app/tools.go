package app

import (
	"context"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/coding"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/registries"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/script"
)

// The boxes of tools that files declare.
const (
	ownTools     = "tools"
	projectTools = "project"
)

// openTools opens the box of the person's own files, or of those of the project.
func (a *App) openTools(ctx context.Context, cfg settings.Config, name string) (toolcrib.Toolbox, error) {
	l, t := a.launcher, a.programs()
	own := script.Config{Name: name, Output: int(cfg.Limits.Output / 4), Foreign: name == projectTools}
	if own.Foreign {
		return t.Open(ctx, own, reach.Also(toolfile.ProjectFolder(l.Dir, l.Home), config.TrustFile(a.state)), script.Needs{Trusted: a.trusts, Secret: reach.GrantedSecret, HasSecret: a.hasSecret(name, false)})
	}
	return t.Open(ctx, own, a.reach.Safe(toolfile.Folder{Dir: a.toolsDir}), script.Needs{HasSecret: a.hasSecret(name, true), Secret: func(ctx context.Context, env *toolcrib.Env, tool, secret string) (string, error) {
		return a.keeper.ForTool(ctx, env.Call, name, tool, secret)
	}})
}

// hasSecret says why the tools of a box would not get a secret, before a person is asked.
func (a *App) hasSecret(box string, own bool) func(ctx context.Context, call toolcrib.Call, tool, name string) error {
	return func(ctx context.Context, call toolcrib.Call, tool, name string) error {
		return a.keeper.Check(ctx, call, box, tool, name, own)
	}
}

func (a *App) searchReady() func(ctx context.Context, call toolcrib.Call, address, secret string) error {
	return reach.SearchReady(a.Crib, func(ctx context.Context, call toolcrib.Call, secret string) error {
		return a.keeper.Check(ctx, call, "web", "web_search", secret, false)
	})
}

// programs runs programs with a grant of their own.
func (a *App) programs() *reach.Tools {
	l := a.launcher
	return &reach.Tools{Launcher: l, Box: a.Crib.Sandbox, Start: reach.Start{Dir: l.Dir, Home: l.Home}, Copies: reach.CopiesIn(l.Home), Search: a.chains.Programs(),
		Plain: func(dirs []files.Dir, hosts []string) []string {
			return a.chains.Environment(settings.ShellBox{}, true, dirs, registries.Found{Hosts: hosts})
		}}
}

// coding is what the toolboxes for people who program are opened with.
func (a *App) coding(cfg settings.Config) func() coding.Needs {
	return func() coding.Needs {
		if a.launcher == nil { // it is only asked for names
			return coding.Needs{}
		}
		t, obeyed := a.programs(), sync.OnceValue(a.obeyedGuard) // there is nothing to guard in a crib that is only listed
		return coding.Needs{
			Dir: a.reach.Base, Home: a.policy.home, State: a.state, Tools: a.toolsDir, Dirs: a.reach.Dirs, Run: t.RunExact, ReadyRun: t.ReadyExact, In: t.RunIn, ReadyIn: t.ReadyIn, Directory: t.Start.Directory, Shown: a.shown(cfg), Obeyed: func(path string) (name, by string, ok bool) {
				place, ok := obeyed().At(path)
				return place.Pattern, place.By, ok
			}, Program: t.Look, Env: t.Plain,
			Model: a.model, Ready: func() bool { return len(cfg.Models) > 0 }, Crib: a.Crib, Log: a.Crib.Log,
		}
	}
}

// Coding says what there is here for people who program.
func (a *App) Coding(ctx context.Context, cfg settings.Config) []coding.Finding {
	return coding.Report(ctx, cfg, a.coding(cfg)(), a.shelving.Boxes)
}

// ProgramRun is how a program of a tool of a file was run.
type ProgramRun = script.Ran

// WatchPrograms has tell called for each such program that a call under this context has
// run.
func WatchPrograms(ctx context.Context, tell func(ProgramRun)) context.Context {
	return script.Watch(ctx, tell)
}

// trusts says whether the person has trusted a file of the project.
func (a *App) trusts(path string, content []byte) bool {
	return a.trusted != nil && a.trusted(path, content)
}

// fileOf is the file that a tool is made of, if it is made of one.
func (a *App) fileOf(spec toolcrib.Entry) []desk.File {
	var path, sum string
	var ok bool
	if a.hosts != nil {
		path, sum, ok = a.hosts.File(spec.Box)
	}
	for _, b := range a.shelving.Boxes {
		if f, is := b.(interface {
			File(tool string) (path, sum string, ok bool)
		}); is && b.Name() == spec.Box {
			path, sum, ok = f.File(spec.Native)
		}
	}
	if !ok {
		return nil
	}
	return []desk.File{{Path: path, Sum: sum}}
}

// boxFaults tells what boxes left out of their tools.
func boxFaults(boxes []toolcrib.Toolbox) (faults []toolcrib.LoadError) {
	for _, b := range boxes {
		if f, ok := b.(interface{ Faults() []toolcrib.LoadError }); ok {
			faults = append(faults, f.Faults()...)
		}
	}
	return faults
}
