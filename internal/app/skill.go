package app

import (
	"context"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/guards"
	"github.com/toolcrib/toolcrib/internal/sandboxes"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/skills"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// openSkill opens the box.
func (a *App) openSkill(ctx context.Context, cfg settings.Config, shown func(text string, from, to int) (string, error)) (toolcrib.Toolbox, error) {
	needs := skills.Needs{
		Dir: a.reach.Base, Home: a.policy.home, Protected: a.reach.Files.Protected, Writes: a.reach.ToolsWrite, More: a.packaged, Shown: shown, Log: a.Crib.Log, Screens: mcphub.ShelfGroup,
		Ready: func() bool { return len(cfg.Models) > 0 },
		Model: func(ctx context.Context, caller toolcrib.Caller, parent string) (model.Model, error) {
			return a.model(ctx, "", caller, parent)
		},
	}
	told, commands := a.Crib.Sandbox.(*sandboxes.Telling)
	if commands = commands && cfg.Toolboxes.Shell.AllowShell; commands {
		told.Scratch = &sandboxes.Scratch{Dir: sandboxes.ScratchDir(a.policy.home)}
		needs.Scratch, needs.Ended, a.closers = told.Scratch.Make, told.Scratch.Drop, append(a.closers, told.Scratch)
	}
	box, err := skills.Open(ctx, cfg, needs)
	if err != nil {
		return nil, err
	}
	if commands {
		told.Beside = func(c toolcrib.Caller) (read, write, env []string) { return skills.Beside(box, c) }
	}
	a.Crib.Guards = append(a.Crib.Guards, &guards.Skills{Active: func(c toolcrib.Caller) (list []guards.ActiveSkill) {
		for _, s := range box.Active(c) {
			list = append(list, guards.ActiveSkill{Name: s.Name, Tools: s.AllowedTools})
		}
		return list
	}, Rules: a.policy.rules.Load, Strict: cfg.Toolboxes.Skill.Allowed == "strict"})
	return box, nil
}

// packaged are the places of skills that bundles and packages of other languages bring.
func (a *App) packaged() []skill.Place {
	var list []skill.Place
	if b := a.brought.Load(); b != nil {
		list = b.Skills
	}
	if a.hosts == nil {
		return list
	}
	return slices.Concat(list, skill.Packaged(a.hosts.Last().Skills))
}

// SkillBox is the box of skills, nil if there is none.
func (a *App) SkillBox() *skill.Box {
	for _, b := range a.shelving.Boxes {
		if s, ok := b.(*skill.Box); ok {
			return s
		}
	}
	return nil
}
