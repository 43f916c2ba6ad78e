package app

import (
	"context"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// openSkill opens the box.
func (a *App) openSkill(ctx context.Context, cfg settings.SkillBox, shown func(text string, from, to int) (string, error)) (toolcrib.Toolbox, error) {
	box, err := skill.Open(ctx, skill.Config{Places: skill.Places(skill.Where{Paths: cfg.Paths, Project: cfg.Project, User: cfg.User, Dir: a.reach.Base, Home: a.policy.home}), Hide: cfg.Hide},
		skill.Needs{Open: a.openPlace, More: a.packaged, YAML: config.Decode, Shown: shown, Log: a.Crib.Log,
			Ready: func() bool { return len(a.modelNames()) > 0 },
			Model: func(ctx context.Context, caller toolcrib.Caller, parent string) (model.Model, error) {
				return a.model(ctx, "", caller, parent)
			}})
	if err != nil {
		return nil, err
	}
	return box, nil
}

// packaged are the places of skills that packages of other languages bring.
func (a *App) packaged() []skill.Place {
	if a.hosts == nil {
		return nil
	}
	return skill.Packaged(a.hosts.Last().Skills)
}

// skills is the box of skills, nil if there is none.
func (a *App) skills() *skill.Box {
	for _, b := range a.shelving.Boxes {
		if s, ok := b.(*skill.Box); ok {
			return s
		}
	}
	return nil
}

// openPlace gives a handle to read below a place of skills. What is protected
// stays so, and a project cannot have a link stand for its place.
func (a *App) openPlace(p skill.Place) (*files.Handle, error) {
	dir := p.Path
	if p.File {
		dir = filepath.Dir(dir)
	}
	opt := files.Options{Base: dir, Protected: a.reach.Files.Protected}
	if p.Scope == skill.ScopeProject {
		opt.Within = []string{a.reach.Base}
	}
	return files.New([]files.Dir{{Path: dir}}, opt)
}
